// How `culprit web` confines the application: see web.h.
#include "cli/web.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "php/application.h"
#include "util/fs.h"
#include "util/str.h"

// Without links, as the root is.
static const char *real_name(Arena *arena, const char *path) {
  char *real = realpath(path, NULL);
  const char *name = arena_strdup(arena, real ? real : path);
  free(real);
  return name;
}

// What we write meanwhile stays real for the application, which may only read
// it.
static int plan_confinement(Visits *v, ConfineOptions *o, Arena *arena,
                            Err *err) {
  const char **seen = arena_array(arena, const char *, 3);
  seen[0] = real_name(arena, store_dir(v->store));
  if (v->pages) {
    if (fs_mkdirs(v->pages, err))
      return -1;
    v->pages = seen[1] = real_name(arena, v->pages);
  }
  for (size_t i = 0; i < o->writable.len; i++)
    o->writable.items[i] = real_name(arena, o->writable.items[i]);
  confine_options_end(o, arena);
  v->confine = o->plan;
  v->confine.seen = seen;
  v->tree_is_state = app_is_small(v->app.root);
  return 0;
}

// What is written outside of DIR is refused where there is no view.
static void warn_of_state(const Visits *v) {
  for (size_t i = 0; i < v->files.len; i++) {
    const char *path = v->files.items[i];
    if (!text_starts(path, "%w") && path_below(path, v->app.root) == path)
      cli_warn("--state %s: this system confines by a copy of %s; let the "
               "application write elsewhere with --allow-write DIR",
               path, v->app.root);
  }
}

static void tell_confined(const Visits *v, Confine *c) {
  confine_explain(&c, 1);
  if (!confine_has_view(c))
    warn_of_state(v);
}

static bool shares_state(const Visits *v) {
  for (size_t i = 0; i < v->files.len; i++)
    if (!text_starts(v->files.items[i], "%w"))
      return true;
  return false;
}

// How many workers there may be depends on whether they have views.
static int find_view(Visits *v, Arena *arena, Err *err) {
  Confine *c;
  if (!shares_state(v))
    return 0;
  ConfinePlan plan = v->confine;
  plan.scratch = arena_printf(arena, "%s/try", v->scratch);
  if (confine_open(&c, &plan, err))
    return -1;
  v->has_view = confine_has_view(c);
  confine_close(c);
  return 0;
}

int web_confine(Visits *v, ConfineOptions *o, Arena *arena) {
  Err err;
  v->confined = tell_confined;
  if (v->in_place)
    cli_warn("--in-place: %s is not copied; the application may change it and "
             "all else that you may change, connect and send mail",
             v->app.root);
  else if (plan_confinement(v, o, arena, &err) || find_view(v, arena, &err))
    return cli_error(&err);
  return EXIT_DONE;
}
