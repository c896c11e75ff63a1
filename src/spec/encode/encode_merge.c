// Merging: see encode.h. Where ways meet again, a cell that they left different
// becomes a choice by the branches in between:
//
//   D: if (c)   ->  a: x = 1      J: x = c ? 1 : 2; anything, if D is off
//               ->  b: x = 2
//
// found by going back from J to D, the last block that all ways to J pass.
// A way that leads elsewhere says nothing. So nothing needs the whole path's
// condition, and the branches that decide a cell are exactly those that it
// depends on.
#include <stdlib.h>
#include <string.h>

#include "spec/encode/encode_internal.h"

Val encode_look_up(Encoder *e, Pmap state, uint64_t key, unsigned width) {
  uint32_t v;
  if (pmap_get(state, key, &v) && v)
    return v;
  if (key == ghost_dead())
    return val_const(&e->values, 1, 0);
  if (key >= GHOST_BASE)
    return key < GHOST_BASE * 2 ? val_const(&e->values, 1, 1) : 0;
  Val x = memory_load(&e->memory, &state, key, width, false);
  return x;
}

// Variables of calls that are over, and registers of others, matter no more.
static bool is_over(const EncodeFrame *f, uint64_t key) {
  if (key < VARIABLE_BASE || (key >= HEAP_BASE && key < GHOST_BASE * 2))
    return false;
  if (key < HEAP_BASE)
    return memory_frame(key) > f->id;
  uint64_t base = key >= GHOST_BASE * 4 ? GHOST_BASE * 4 : GHOST_BASE * 2;
  return (key - base) >> 24 != f->id;
}

// A region: the unrolled blocks between D and J, latest first.
typedef struct {
  Encoder *e;
  EncodeFrame *f;
  uint32_t to;            // J
  ARRAY(uint32_t) blocks; // D is the last
  uint32_t *mark;         // of each unrolled block: in it?
  Val *at;
  unsigned width;
} Meeting;

static void collect_region(Meeting *m, uint32_t block, uint32_t top) {
  if (m->mark[block])
    return;
  m->mark[block] = 1;
  array_push(&m->blocks, block);
  if (block == top)
    return;
  const Unrolled *u = &m->f->blocks.items[block];
  for (size_t i = 0; i < u->in.len; i++)
    collect_region(m, u->in.items[i].from, top);
}

static int latest_first(const void *a, const void *b, void *frame) {
  const EncodeFrame *f = frame;
  uint32_t x = f->blocks.items[*(const uint32_t *)a].order,
           y = f->blocks.items[*(const uint32_t *)b].order;
  return x > y ? -1 : x < y;
}

// What arrives at J with that way out; 0: nothing does.
static Val arriving(Meeting *m, const Leaving *l, uint64_t key) {
  if (l->to == UNROLLED_NONE)
    return 0;
  if (l->to != m->to)
    return m->mark[l->to] ? m->at[l->to] : 0;
  const Incoming *in = &m->f->blocks.items[l->to].in.items[l->in];
  if (in->cut) // before a clause was evaluated: then it never is
    return ghost_is_dead(key) ? val_const(&m->e->values, 1, 1) : 0;
  return encode_look_up(m->e, in->state, key, m->width);
}

Expr encode_edge_guard(Encoder *e, const Unrolled *u, uint32_t k) {
  const Program *p = e->target.program;
  const IrBranch *b = &p->branches.items[u->last->b];
  Expr x = val_expr(&e->values, u->subject);
  if (u->last->op == IR_CONDBR)
    return k == 0 ? x : cond_not(&e->values, x);
  Expr none = expr_bool(e->pool, true);
  for (uint32_t i = 0; i < b->ncases; i++) {
    uint64_t value =
        p->values.items[p->cases.items[b->first_case + i] & ~IR_CONST];
    Expr is =
        expr_eq(e->pool, x, expr_const(e->pool, expr_width(e->pool, x), value));
    uint32_t edge = u->last->op == IR_SWITCH ? i + 1 : i;
    if (edge == k)
      return is;
    none = expr_and(e->pool, none, cond_not(&e->values, is));
  }
  return none;
}

// Numbers that a phi moves do not know their width.
static void same_width(Encoder *e, Val *values, size_t n) {
  unsigned width = 64;
  for (size_t i = 0; i < n; i++)
    if (val_width(&e->values, values[i]) < width)
      width = val_width(&e->values, values[i]);
  for (size_t i = 0; i < n; i++)
    values[i] = val_resize(&e->values, values[i], width);
}

// A cell that the sides of a branch that is off leave different.
static Val free_cell(Meeting *m, const Unrolled *u, uint64_t key,
                     const Val *values, size_t n) {
  Encoder *e = m->e;
  if (ghost_is_dead(key))
    return val_const(&e->values, 1, 0);
  Val now = values[0];
  bool pointer = false;
  for (uint32_t k = 0; k < u->nout; k++) {
    Val v = arriving(m, &u->out[k], key);
    if (v && expr_value(e->pool, encode_edge_guard(e, u, k)))
      now = val_resize(&e->values, v, val_width(&e->values, now));
  }
  for (size_t i = 0; i < n; i++)
    pointer |= val_node(&e->values, values[i])->pointer;
  if (e->mode != ENCODE_TRY)
    return encode_any(e, now, pointer, 0, encode_cell_name(e, key));
  return encode_random(e, 2)
             ? encode_try_other(e, now, pointer, 0, encode_cell_name(e, key))
             : now;
}

static Val choose(Meeting *m, const Unrolled *u, uint64_t key) {
  enum { MOST = 512 };
  Encoder *e = m->e;
  Expr guards[MOST];
  Val values[MOST];
  size_t n = 0;
  bool same = true;
  for (uint32_t k = 0; k < u->nout && n < MOST; k++) {
    Val v = arriving(m, &u->out[k], key);
    if (!v)
      continue;
    guards[n] = k;
    values[n++] = v;
    same &= v == values[0];
  }
  if (!n || same)
    return n ? values[0] : 0;
  same_width(e, values, n);
  if (u->off)
    return free_cell(m, u, key, values, n);
  for (size_t i = 0; i < n; i++)
    guards[i] = encode_edge_guard(e, u, guards[i]);
  return val_select(&e->values, guards, values, n);
}

static Val merge_cell(Meeting *m, uint64_t key) {
  for (size_t i = 0; i < m->blocks.len; i++) {
    uint32_t b = m->blocks.items[i];
    m->at[b] = choose(m, &m->f->blocks.items[b], key);
  }
  return m->at[array_last(&m->blocks)];
}

// The keys that differ among the incoming states, each once.
static void changed_keys(const Unrolled *j, Pmap before, PmapKeys *out) {
  PmapKeys all = {0};
  for (size_t i = 0; i < j->in.len; i++)
    pmap_diff(before, j->in.items[i].state, &all);
  Hashmap seen = {0};
  for (size_t i = 0; i < all.len; i++)
    if (hashmap_intern(&seen, &all.items[i], sizeof(uint64_t), i) == i)
      array_push(out, all.items[i]);
  hashmap_release(&seen);
  array_release(&all);
}

// The width of a cell in all the states; 0: they do not agree.
static unsigned common_width(const Encoder *e, const Unrolled *j,
                             uint64_t key) {
  unsigned width = 0;
  for (size_t i = 0; i < j->in.len; i++) {
    uint32_t v;
    if (!pmap_get(j->in.items[i].state, key, &v) || !v)
      continue;
    unsigned w = val_width(&e->values, v);
    if (width && w != width)
      return 0;
    width = w;
  }
  return width ? width : 8;
}

// Cells of different sizes at one place are taken apart everywhere.
static bool take_apart(Encoder *e, Unrolled *j, const PmapKeys *keys) {
  bool any = false;
  for (size_t k = 0; k < keys->len; k++) {
    if (keys->items[k] >= GHOST_BASE || common_width(e, j, keys->items[k]))
      continue;
    any = true;
    for (size_t i = 0; i < j->in.len; i++)
      memory_load(&e->memory, &j->in.items[i].state, keys->items[k] + 1, 8,
                  false);
  }
  return any;
}

// Room for a mark and a value of each unrolled block; all are 0 between uses.
static void make_room(Meeting *m) {
  EncodeFrame *f = m->f;
  if (f->room < f->blocks.len) {
    free(f->mark);
    free(f->at);
    f->room = 2 * f->blocks.len;
    f->mark = mem_array(uint32_t, f->room);
    f->at = mem_array(Val, f->room);
  }
  m->mark = f->mark;
  m->at = f->at;
}

static void clear_room(Meeting *m) {
  for (size_t i = 0; i < m->blocks.len; i++)
    m->mark[m->blocks.items[i]] = m->at[m->blocks.items[i]] = 0;
}

Pmap encode_merge(Encoder *e, EncodeFrame *f, uint32_t to, uint32_t top) {
  Meeting m = {.e = e, .f = f, .to = to};
  Unrolled *j = &f->blocks.items[to];
  make_room(&m);
  for (size_t i = 0; i < j->in.len; i++)
    collect_region(&m, j->in.items[i].from, top);
  qsort_r(m.blocks.items, m.blocks.len, sizeof(uint32_t), latest_first, f);
  Pmap before = f->blocks.items[top].end, state = before;
  PmapKeys keys = {0};
  changed_keys(j, before, &keys);
  if (take_apart(e, j, &keys)) {
    keys.len = 0;
    changed_keys(j, before, &keys);
  }
  for (size_t i = 0; i < keys.len; i++) {
    if (is_over(f, keys.items[i]))
      continue;
    m.width = common_width(e, j, keys.items[i]);
    Val v = merge_cell(&m, keys.items[i]);
    state = pmap_put(&e->memory.arena, state, keys.items[i], v);
  }
  array_release(&keys);
  clear_room(&m);
  array_release(&m.blocks);
  return state;
}
