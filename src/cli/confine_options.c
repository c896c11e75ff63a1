// --allow-write and --allow-connect: see confine_options.h.
#include "cli/confine_options.h"

#include <sys/stat.h>

#include "cli/cli.h"
#include "util/str.h"

int confine_take_write(ConfineOptions *o, Arena *arena, const char *dir) {
  struct stat st;
  if (stat(dir, &st) || !S_ISDIR(st.st_mode))
    return -1;
  array_push(&o->writable, cli_absolute(arena, dir));
  return 0;
}

int confine_take_connect(ConfineOptions *o, const char *port) {
  int64_t number;
  if (cli_number(port, &number) || number > UINT16_MAX)
    return -1;
  array_push(&o->ports, (uint16_t)number);
  return 0;
}

void confine_options_end(ConfineOptions *o) {
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
    cli_warn("the run is confined, and this was refused: %s; if that decides "
             "how it ends, allow it with --allow-connect PORT or --allow-write "
             "DIR",
             str_text(&refused));
  str_release(&refused);
}
