// What an event of a watched run depends on: see watch.h.
//
// Events depend on earlier ones only: one walk from the last to the first finds
// all, and the first event that asks for another is its last user.
#include "near/watch.h"
#include "util/mem.h"

static void use(Watch *w, uint32_t event, uint32_t by) {
  if (!event)
    return;
  if (event < w->base)
    hashmap_intern(&w->before, &event, sizeof event, by);
  else if (!w->used[event - w->base])
    w->used[event - w->base] = by;
}

// 0: it is not in the slice, as far as is known.
static uint32_t last_use(const Watch *w, uint32_t event) {
  uint64_t by;
  if (!event || !w->used)
    return 0;
  if (event >= w->base)
    return w->used[event - w->base];
  return hashmap_get(&w->before, &event, sizeof event, &by) ? (uint32_t)by : 0;
}

static void use_deps(Watch *w, size_t i) {
  const WatchEvent *e = &w->items.items[i];
  size_t end =
      i + 1 < w->items.len ? e[1].first_dep - w->dep_base : w->deps.len;
  uint32_t number = w->base + (uint32_t)i;
  use(w, e->control, number);
  for (size_t k = e->first_dep - w->dep_base; k < end; k++)
    use(w, w->deps.items[k], number);
}

void watch_slice(Watch *w, uint32_t event) {
  free(w->used);
  hashmap_release(&w->before);
  w->before = (Hashmap){0};
  w->used = mem_array(uint32_t, w->items.len + 1);
  use(w, event, event);
  for (size_t i = w->items.len; i-- > 0;)
    if (w->used[i])
      use_deps(w, i);
}

bool watch_reaches(const Watch *w, const WatchMoment *m,
                   const WatchVariable *v) {
  uint32_t by = last_use(w, v->set);
  return by && by >= m->block;
}

const IrInst *watch_inst(const Watch *w, uint32_t event) {
  if (!event || event < w->base || event - w->base >= w->items.len)
    return NULL;
  return &w->program->insts.items[w->items.items[event - w->base].inst];
}
