// How the application of a list of requests is confined: see visits_confine.h.
#include "run/visits_confine.h"

#include <stdlib.h>

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

static const char *const *real_names(Arena *arena, const char *const *paths) {
  size_t n = 0;
  while (paths && paths[n])
    n++;
  const char **out = arena_array(arena, const char *, n + 1);
  for (size_t i = 0; i < n; i++)
    out[i] = real_name(arena, paths[i]);
  return out;
}

// What we write meanwhile stays real for the application, which may only read
// it.
static int plan_confinement(Visits *v, const ConfinePlan *allowed, Arena *arena,
                            Err *err) {
  const char **seen = arena_array(arena, const char *, 3);
  seen[0] = real_name(arena, store_dir(v->store));
  if (v->pages) {
    if (fs_mkdirs(v->pages, err))
      return -1;
    v->pages = seen[1] = real_name(arena, v->pages);
  }
  v->confine = *allowed;
  v->confine.seen = seen;
  v->confine.writable = real_names(arena, allowed->writable);
  v->tree_is_state = app_is_small(v->app.root);
  return 0;
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

int visits_confine(Visits *v, const ConfinePlan *allowed, Arena *arena,
                   Err *err) {
  return plan_confinement(v, allowed, arena, err) || find_view(v, arena, err)
             ? -1
             : 0;
}

bool visits_have_effects(const Visits *v) {
  return v->in_place || v->confine.nports ||
         (v->confine.writable && *v->confine.writable);
}
