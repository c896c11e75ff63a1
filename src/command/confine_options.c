// --allow-write and --allow-connect: see confine_options.h.
#include "command/confine_options.h"

#include <sys/stat.h>

#include "command/cli.h"
#include "util/str.h"

static int take_directory(const Option *o, void *field, const char *arg) {
  (void)o;
  struct stat st;
  if (stat(arg, &st) || !S_ISDIR(st.st_mode))
    return -1;
  array_push((Texts *)field, arg);
  return 0;
}

static int take_port(const Option *o, void *field, const char *arg) {
  ConfineOptions *confine = field;
  int port;
  if (option_int.take(o, &port, arg))
    return -1;
  array_push(&confine->ports, (uint16_t)port);
  return 0;
}

static const OptionType option_directory = {take_directory,
                                            "an existing directory"};
static const OptionType option_port = {take_port, "a TCP port"};

const Option confine_options[] = {{"allow-write", "DIR", &option_directory,
                                   offsetof(ConfineOptions, writable),
                                   "let confined runs change files in DIR",
                                   .repeats = true},
                                  {"allow-connect", "PORT", &option_port, 0,
                                   "let confined runs connect to this TCP port",
                                   .repeats = true, .max = UINT16_MAX},
                                  {0}};

void confine_options_end(ConfineOptions *o, Arena *arena) {
  for (size_t i = 0; i < o->writable.len; i++)
    o->writable.items[i] = cli_absolute(arena, o->writable.items[i]);
  array_reserve(&o->writable, 1);
  o->writable.items[o->writable.len] = NULL;
  o->plan = (ConfinePlan){.writable = o->writable.items,
                          .ports = o->ports.items,
                          .nports = o->ports.len};
}

void confine_options_release(ConfineOptions *o) {
  array_release(&o->writable);
  array_release(&o->ports);
}

static void add_refused(void *out, const Refused *r) {
  Str *text = out;
  str_addf(text, "%s%s %s", text->len ? "; " : "", confine_verb(r->kind),
           r->what);
}

void confine_explain(Confine *const *list, size_t n) {
  Str refused = {0};
  if (n && confine_gaps(list[0]))
    cli_warn("%s", confine_gaps(list[0]));
  for (size_t i = 0; i < n; i++)
    confine_take_refused(list[i], add_refused, &refused);
  if (refused.len)
    cli_warn("confinement refused this: %s; if the result depends on it, allow "
             "it with --allow-connect PORT or --allow-write DIR",
             str_text(&refused));
  str_release(&refused);
}
