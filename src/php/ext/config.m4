dnl phpize && ./configure && make: the same culprit.so that Meson builds.
PHP_ARG_ENABLE([culprit], [whether to enable culprit],
  [AS_HELP_STRING([--enable-culprit], [Record what PHP requests do])], [yes])

if test "$PHP_CULPRIT" != "no"; then
  PHP_NEW_EXTENSION([culprit],
    [change.c close.c close_calls.c close_cells.c close_compare.c close_ops.c close_places.c close_tell.c compare.c count.c culprit.c faults.c flow.c kept.c map.c output.c plan.c record.c returns.c sent.c shadow.c shadow_call.c shadow_input.c shadow_ops.c survey.c tuples.c],
    [$ext_shared],, [-std=gnu17 -D_GNU_SOURCE -DZEND_COMPILE_DL_EXT -O2])
fi
