// Which constraints share inputs with a question: see slice.h.
#include "solve/slice.h"

#include <assert.h>

void slice_init(Slice *s, ExprPool *p) {
  *s = (Slice){.pool = p};
  array_push(&s->classes, (SliceClass){0}); // 0: none
  array_push(&s->roots, 0);
}

void slice_release(Slice *s) {
  array_release(&s->classes);
  array_release(&s->roots);
  array_release(&s->next);
  array_release(&s->times);
  expr_map_release(&s->of_var);
  expr_map_release(&s->of_support);
  expr_map_release(&s->visited);
}

// --- classes ----------------------------------------------------------------

static uint32_t new_class(Slice *s, SliceClass c) {
  uint32_t id = (uint32_t)s->classes.len;
  array_push(&s->classes, c);
  array_push(&s->roots, id);
  return id;
}

// The class that has swallowed `c` by now.
static uint32_t root_of(Slice *s, uint32_t c) {
  uint32_t *roots = s->roots.items;
  while (roots[c] != c)
    c = roots[c] = roots[roots[c]];
  return c;
}

// The class that had swallowed `c` before that time.
static uint32_t class_before(const Slice *s, uint32_t c, uint32_t before) {
  for (;;) {
    uint32_t up = s->classes.items[c].parent;
    if (!up || s->classes.items[up].since >= before)
      return c;
    c = up;
  }
}

static uint32_t merge(Slice *s, uint32_t a, uint32_t b, uint32_t time) {
  a = root_of(s, a);
  b = root_of(s, b);
  if (a == b)
    return a;
  uint32_t c = new_class(s, (SliceClass){.left = a, .right = b, .since = time});
  s->classes.items[a].parent = s->classes.items[b].parent = c;
  s->roots.items[a] = s->roots.items[b] = c;
  return c;
}

static uint32_t class_of_var(Slice *s, VarId v, uint32_t time) {
  const uint64_t *c = expr_map_get(&s->of_var, v + 1);
  if (c)
    return (uint32_t)*c;
  uint32_t made = new_class(s, (SliceClass){.since = time});
  expr_map_put(&s->of_var, v + 1, made);
  return made;
}

// --- adding -----------------------------------------------------------------

static uint32_t merge_members(Slice *s, Support support, uint32_t time) {
  VarList vars = {0};
  support_members(s->pool, support, &vars);
  uint32_t c = class_of_var(s, vars.items[0], time);
  for (size_t i = 1; i < vars.len; i++)
    merge(s, c, class_of_var(s, vars.items[i], time), time);
  array_release(&vars);
  return c;
}

// Merges all members; the answer is the class of one of them, before merging.
static uint32_t merge_support(Slice *s, Support support, uint32_t time) {
  const uint64_t *seen = expr_map_get(&s->of_support, support);
  if (seen)
    return (uint32_t)*seen;
  Support left, right;
  uint32_t c;
  if (support_halves(s->pool, support, &left, &right)) {
    c = merge_support(s, left, time);
    merge(s, c, merge_support(s, right, time), time);
  } else
    c = merge_members(s, support, time);
  expr_map_put(&s->of_support, support, c | (uint64_t)time << 32);
  return c;
}

void slice_add(Slice *s, Support support, uint32_t time) {
  assert(support != SUPPORT_EMPTY);
  uint32_t item = (uint32_t)s->next.len + 1;
  uint32_t root = root_of(s, merge_support(s, support, time));
  SliceClass *c = &s->classes.items[root];
  if (c->last)
    s->next.items[c->last - 1] = item;
  else
    c->first = item;
  c->last = item;
  array_push(&s->next, 0);
  array_push(&s->times, time);
}

// --- asking -----------------------------------------------------------------

static void collect_class(Slice *s, uint32_t c, uint32_t before,
                          ItemList *out) {
  ItemList todo = {0};
  array_push(&todo, c);
  while (todo.len) {
    const SliceClass *k = &s->classes.items[todo.items[--todo.len]];
    for (uint32_t i = k->first; i; i = s->next.items[i - 1]) {
      if (s->times.items[i - 1] >= before)
        break;
      array_push(out, i - 1);
    }
    if (k->left) {
      array_push(&todo, k->left);
      array_push(&todo, k->right);
    }
  }
  array_release(&todo);
}

static void visit_class(Slice *s, uint32_t c, uint32_t before, ItemList *out) {
  c = class_before(s, c, before);
  if (expr_map_get(&s->visited, c))
    return;
  expr_map_put(&s->visited, c, 0);
  collect_class(s, c, before, out);
}

static void visit_members(Slice *s, Support support, uint32_t before,
                          ItemList *out) {
  VarList vars = {0};
  support_members(s->pool, support, &vars);
  for (size_t i = 0; i < vars.len; i++) {
    const uint64_t *c = expr_map_get(&s->of_var, vars.items[i] + 1);
    if (c)
      visit_class(s, (uint32_t)*c, before, out);
  }
  array_release(&vars);
}

static void visit_support(Slice *s, Support support, uint32_t before,
                          ItemList *out) {
  const uint64_t *seen = expr_map_get(&s->of_support, support);
  Support left, right;
  if (seen && *seen >> 32 < before) // one member stands for all
    visit_class(s, (uint32_t)*seen, before, out);
  else if (support_halves(s->pool, support, &left, &right)) {
    visit_support(s, left, before, out);
    visit_support(s, right, before, out);
  } else
    visit_members(s, support, before, out);
}

void slice_collect(Slice *s, const Support *supports, size_t n, uint32_t before,
                   ItemList *out) {
  expr_map_clear(&s->visited);
  for (size_t i = 0; i < n; i++)
    visit_support(s, supports[i], before, out);
}
