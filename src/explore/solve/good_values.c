// Values that were worth while: see good_values.h.
#include "explore/solve/good_values.h"

#include <string.h>

static bool is_same(const Param *a, const Param *b) {
  return a->place == b->place && !strcmp(a->name, b->name);
}

static const Param *find(const Ask *a, const Param *like) {
  for (size_t i = 0; i < a->nparams; i++)
    if (is_same(&a->params[i], like))
      return &a->params[i];
  return NULL;
}

// Has it another value in `base`, or none?
static bool is_changed(const Param *p, const Ask *base) {
  const Param *was = find(base, p);
  return !was || strcmp(was->value, p->value) != 0;
}

static GoodValue *slot(GoodValues *g, uint64_t page, const Param *p) {
  for (size_t i = 0; i < g->items.len; i++)
    if (g->items.items[i].page == page && is_same(&g->items.items[i].param, p))
      return &g->items.items[i];
  if (g->items.len >= GOOD_VALUES_MOST)
    return NULL;
  Param own = *p;
  own.name = arena_strdup(&g->arena, p->name);
  array_push(&g->items, (GoodValue){page, own});
  return &array_last(&g->items);
}

void good_values_add(GoodValues *g, uint64_t page, const Param *p) {
  GoodValue *v = slot(g, page, p);
  if (v)
    v->param.value = arena_strdup(&g->arena, p->value);
}

void good_values_learn(GoodValues *g, uint64_t page, const Ask *ask,
                       const Ask *base) {
  for (size_t i = 0; i < ask->nparams; i++) {
    const Param *p = &ask->params[i];
    if (!p->page && is_changed(p, base))
      good_values_add(g, page, p);
  }
}

bool good_values_apply(const GoodValues *g, uint64_t page, const Ask *ask,
                       const Ask *base, Ask *out, Arena *arena) {
  bool applied = false;
  *out = *ask;
  for (size_t i = 0; i < g->items.len; i++) {
    const Param *p = &g->items.items[i].param, *now = find(ask, p);
    if (g->items.items[i].page != page || (now && is_changed(now, base)) ||
        (now && !strcmp(now->value, p->value)))
      continue;
    *out = ask_with(out, p->place, p->name, p->value, arena);
    applied = true;
  }
  return applied;
}

void good_values_release(GoodValues *g) {
  array_release(&g->items);
  arena_release(&g->arena);
}
