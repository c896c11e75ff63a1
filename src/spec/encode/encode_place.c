// Accesses: which cells an address may stand for, and what switching off leaves
// in one. See encode.h.
#include <stdlib.h>
#include <string.h>

#include "spec/encode/encode_internal.h"

enum {
  PLACES_MAX = 1024, // cells of one access
  WINDOW = 64,       // elements looked at where an object's size is not known
  TARGETS_MAX = 256, // of a pointer that may point anywhere
  REACH = 256,       // bytes that unknown code may write
};

typedef struct {
  Expr guard;
  uint64_t at;
} AccessPlace;
typedef ARRAY(AccessPlace) AccessPlaces;

// --- objects ----------------------------------------------------------------

static bool read_process(const Encoder *e, uint64_t at, uint64_t *out) {
  return e->target.read(e->target.context, at, out, sizeof *out);
}

static bool in_global(const Encoder *e, uint64_t at, uint64_t *lo,
                      uint64_t *hi) {
  const Program *p = e->target.program;
  for (size_t i = 0; i < p->globals.len; i++) {
    const IrGlobal *g = &p->globals.items[i];
    uint64_t base =
        p->links.items[p->units.items[g->unit].first_link + g->link];
    if (at >= base && at - base < g->size) {
      *lo = base;
      *hi = base + g->size;
      return true;
    }
  }
  return false;
}

// A block of glibc's malloc has its size before it.
static bool in_block(const Encoder *e, uint64_t at, uint64_t *lo,
                     uint64_t *hi) {
  uint64_t head, next;
  if (at % 16 || !read_process(e, at - 8, &head) || !(head & ~15ull) ||
      (head & ~7ull) > 1 << 20)
    return false;
  // The block behind it knows that this one is in use.
  if (!read_process(e, at + (head & ~15ull) - 8, &next) || !(next & 1))
    return false;
  *lo = at;
  *hi = at + (head & ~15ull) - 8;
  return true;
}

static void bounds(const Encoder *e, uint64_t base, uint64_t in_run,
                   uint64_t step, uint64_t *lo, uint64_t *hi) {
  const NewObject *r = memory_region(&e->memory, base);
  if (r) {
    *lo = r->base;
    *hi = r->base + r->size;
  } else if (!in_global(e, base, lo, hi) && !in_block(e, base, lo, hi)) {
    *lo = base < in_run ? base : in_run;
    *hi = (base > in_run ? base : in_run) + WINDOW * step;
  }
}

// --- places -----------------------------------------------------------------

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

// What every value of the expression is a multiple of; 0: it is 0.
static uint64_t multiple(const ExprPool *p, Expr x, int depth) {
  if (!depth)
    return 1;
  Expr a = expr_arg(p, x, 0), b = expr_arg(p, x, 1);
  switch (expr_op(p, x)) {
  case EXPR_CONST:
    return expr_value(p, x);
  case EXPR_ADD:
  case EXPR_SUB:
    return gcd(multiple(p, a, depth - 1), multiple(p, b, depth - 1));
  case EXPR_MUL: {
    uint64_t m = multiple(p, a, depth - 1), n = multiple(p, b, depth - 1);
    return m > UINT32_MAX || n > UINT32_MAX ? 1 : m * n;
  }
  case EXPR_SHL:
    return expr_is_const(p, b) && expr_value(p, b) < 16
               ? 1ull << expr_value(p, b)
               : 1;
  case EXPR_ITE:
    return gcd(multiple(p, b, depth - 1),
               multiple(p, expr_arg(p, x, 2), depth - 1));
  default:
    return 1;
  }
}

static void add_place(Encoder *e, AccessPlaces *out, Expr guard, uint64_t at) {
  guard = encode_simplify(e, guard);
  if (!expr_is_const(e->pool, guard) || expr_value(e->pool, guard))
    array_push(out, (AccessPlace){guard, at});
}

// Most elements of a large array were not used: a few bits of the name tell.
static uint32_t some_bits(uint64_t name) {
  return (uint32_t)((name ^ name >> 16) & 0xffff);
}

static bool was_touched(const Encoder *e, uint64_t at) {
  uint64_t name = encode_cell_name(e, at), ignored;
  return bitset_has(&e->first->touched_some, some_bits(name)) &&
         hashmap_get(&e->first->touched, &name, sizeof name, &ignored);
}

static void touch(Encoder *e, uint64_t at, unsigned width, bool pointer) {
  if (e->mode != ENCODE_RUN)
    return;
  uint64_t name = encode_cell_name(e, at), fresh = e->touched.len;
  bitset_add(&e->touched_some, some_bits(name));
  if (hashmap_intern(&e->touched, &name, sizeof name, fresh) == fresh &&
      name == at && !pointer)
    array_push(&e->used, (UsedCell){at, width});
}

// Elements of an array that the run used, and one more; all, if the state is to
// be looked for.
static bool is_near_run(const Encoder *e, uint64_t at, uint64_t by) {
  return e->mode == ENCODE_RUN || e->mode == ENCODE_CHECK ||
         was_touched(e, at) || was_touched(e, at - by);
}

// The first element from `lo` on, of those every `by` bytes that one at `some`
// belongs to.
static uint64_t first_element(uint64_t lo, uint64_t some, uint64_t by) {
  return some < lo ? lo + (by - (lo - some) % by) % by : lo + (some - lo) % by;
}

static void add_element(Encoder *e, Expr guard, uint64_t base, Expr offset,
                        uint64_t at, AccessPlaces *out) {
  Expr is = expr_eq(e->pool, offset, expr_const(e->pool, 64, at - base));
  add_place(e, out, expr_and(e->pool, guard, is), at);
}

// The elements of the object that `base` points into, and where the run itself
// went, be it outside of the object (`text[start + length - 1]` of a token that
// was left empty): what it did is not assumed away.
static void add_elements(Encoder *e, Expr guard, uint64_t base, Expr offset,
                         uint64_t step, AccessPlaces *out) {
  uint64_t lo, hi, by = multiple(e->pool, offset, 8);
  uint64_t in_run = base + expr_value(e->pool, offset);
  by = by > step ? by : step;
  bounds(e, base, in_run, by, &lo, &hi);
  bool here = expr_value(e->pool, guard);
  if (here)
    add_element(e, guard, base, offset, in_run, out);
  if (!base) // null is not an object, however far it is to the next one
    return;
  for (uint64_t at = first_element(lo, in_run, by);
       at + step <= hi && out->len < PLACES_MAX; at += by)
    if (!(here && at == in_run) && is_near_run(e, at, by))
      add_element(e, guard, base, offset, at, out);
}

// A place that has no list and no base: only where it was in the run.
static void add_in_run(Encoder *e, Val at, AccessPlaces *out) {
  Expr x = val_expr(&e->values, at);
  uint64_t here = expr_value(e->pool, x);
  add_place(e, out, expr_eq(e->pool, x, expr_const(e->pool, 64, here)), here);
}

static void list_places(Encoder *e, Val at, uint64_t step, AccessPlaces *out) {
  ValNode n = *val_node(&e->values, at);
  ValNode base = n.base ? *val_node(&e->values, n.base) : n;
  if (!base.n) {
    add_in_run(e, at, out);
    return;
  }
  for (uint32_t i = 0; i < base.n; i++) {
    Choice c = e->values.choices.items[base.first + i];
    if (n.base)
      add_elements(e, c.guard, c.value, n.offset, step, out);
    else
      add_place(e, out, c.guard, c.value);
  }
}

// Leaves the places where something is. That it is one of them is assumed.
static void keep_valid(Encoder *e, Pmap *state, Val at, unsigned width,
                       AccessPlaces *places) {
  Expr bad = expr_bool(e->pool, false), good = bad;
  bool listed = val_node(&e->values, at)->n;
  size_t kept = 0;
  for (size_t i = 0; i < places->len; i++) {
    AccessPlace p = places->items[i];
    if (p.at >= 4096 && memory_has(&e->memory, p.at, width)) {
      good = listed ? good : expr_or(e->pool, good, p.guard);
      places->items[kept++] = p;
    } else {
      bad = expr_or(e->pool, bad, p.guard);
    }
  }
  places->len = kept;
  *state = encode_assume_not(e, *state, listed ? bad : expr_not(e->pool, good));
}

// --- what is in a cell ------------------------------------------------------

uint64_t encode_cell_name(const Encoder *e, uint64_t address) {
  if (address < VARIABLE_BASE || address >= HEAP_BASE)
    return address;
  const NewObject *r = memory_region(&e->memory, address);
  return r ? 1ull << 63 | r->maker << 20 | (address - r->base) : address;
}

static void note_pointer(Encoder *e, uint64_t site, uint64_t at, Val v) {
  if (e->mode == ENCODE_RUN)
    pointees_note(&e->first->pointees, site, encode_cell_name(e, at),
                  val_in_run(&e->values, v));
}

static Val anything(Encoder *e, unsigned width, uint64_t run) {
  return e->memory.concrete ? val_const(&e->values, width, 0)
                            : val_free(&e->values, width, run);
}

static Val any_pointer(Encoder *e, uint64_t site, uint64_t cell, uint64_t now) {
  Targets t = {0};
  pointees_of(&e->first->pointees, site, cell, now, &t);
  Val v = 0;
  if (t.len > 1 && t.len <= TARGETS_MAX) {
    size_t run = 0;
    for (size_t i = 0; i < t.len; i++)
      run = t.items[i] == now ? i : run;
    v = val_any_of(&e->values, t.items, t.len, run);
  }
  array_release(&t);
  return v;
}

Val encode_try_other(Encoder *e, Val v, bool pointer, uint64_t site,
                     uint64_t cell) {
  unsigned width = val_width(&e->values, v);
  uint64_t now = val_in_run(&e->values, v);
  if (width != 64 || !(pointer || val_node(&e->values, v)->pointer))
    return val_const(&e->values, width, encode_other(e, now));
  Targets t = {0};
  pointees_of(&e->first->pointees, site, cell, now, &t);
  uint64_t other = t.items[encode_random(e, t.len)];
  array_release(&t);
  return val_const(&e->values, 64, other);
}

Val encode_any(Encoder *e, Val v, bool pointer, uint64_t site, uint64_t cell) {
  if (e->mode == ENCODE_TRY)
    return encode_deviates(e) ? encode_try_other(e, v, pointer, site, cell) : v;
  unsigned width = val_width(&e->values, v);
  uint64_t now = val_in_run(&e->values, v);
  Val any = 0;
  if (width == 64 && (pointer || val_node(&e->values, v)->pointer))
    any = any_pointer(e, site, cell, now);
  return any ? any : anything(e, width, now);
}

static Val load_at(Encoder *e, Pmap *state, uint64_t at, unsigned width,
                   bool pointer) {
  Val v = memory_load(&e->memory, state, at, width, pointer);
  if (!v) { // not set yet: something, and the same from now on
    v = anything(e, width, 0);
    *state = memory_store(&e->memory, *state, at, v);
  }
  return val_resize(&e->values, v, width);
}

Val encode_load(Encoder *e, Pmap *state, Val at, unsigned width, bool pointer,
                uint64_t site) {
  AccessPlaces places = {0};
  list_places(e, at, (width + 7) / 8, &places);
  keep_valid(e, state, at, width, &places);
  Expr *guards = mem_array(Expr, places.len + 1);
  Val *values = mem_array(Val, places.len + 1);
  for (size_t i = 0; i < places.len; i++) {
    guards[i] = places.items[i].guard;
    values[i] = load_at(e, state, places.items[i].at, width, pointer);
    touch(e, places.items[i].at, width, pointer);
    encode_note_named(e, places.items[i].at);
    if (pointer)
      note_pointer(e, site, places.items[i].at, values[i]);
  }
  Val v = places.len ? val_select(&e->values, guards, values, places.len)
                     : anything(e, width, 0);
  free(guards);
  free(values);
  array_release(&places);
  return pointer ? val_pointer(&e->values, v) : v;
}

void encode_store(Encoder *e, Pmap *state, Val at, Val v, bool pointer,
                  uint64_t site) {
  AccessPlaces places = {0};
  unsigned width = val_width(&e->values, v);
  list_places(e, at, (width + 7) / 8, &places);
  keep_valid(e, state, at, width, &places);
  bool only = places.len == 1 && val_node(&e->values, at)->n;
  for (size_t i = 0; i < places.len; i++) {
    AccessPlace p = places.items[i];
    Val new = only ? v
                   : val_ite(&e->values, p.guard, v,
                             load_at(e, state, p.at, width, pointer));
    *state = memory_store(&e->memory, *state, p.at, new);
    touch(e, p.at, width, pointer);
    if (pointer)
      note_pointer(e, site, p.at, v);
  }
  array_release(&places);
}

// The numbers of the object that `at` lies in, of the same width, that the run
// used, and one more each.
static void list_numbers(const Encoder *e, uint64_t at, unsigned width,
                         Targets *out) {
  uint64_t lo, hi, step = (width + 7) / 8;
  const Encoder *first = e->first;
  bounds(e, at, at, step, &lo, &hi);
  for (size_t i = 0; i < first->used.len; i++) {
    const UsedCell *c = &first->used.items[i];
    uint64_t next = c->address + step;
    if (c->width != width || c->address < lo || next > hi)
      continue;
    if (c->address != at)
      array_push(out, c->address);
    if (next + step <= hi && !was_touched(e, next))
      array_push(out, next);
  }
}

Val encode_elsewhere(Encoder *e, Val at, unsigned width, bool pointer) {
  uint64_t now = val_in_run(&e->values, at);
  Targets t = {0};
  if (encode_cell_name(e, now) != now) // a variable
    return at;
  array_push(&t, now);
  if (pointer)
    pointees_cells(&e->first->pointees, now, &t);
  else
    list_numbers(e, now, width, &t);
  if (t.len > 1 && t.len <= TARGETS_MAX)
    at = val_any_of(&e->values, t.items, t.len, 0);
  array_release(&t);
  return at;
}

void encode_forget(Encoder *e, Pmap *state, Val at) {
  if (e->memory.concrete)
    return;
  AccessPlaces places = {0};
  PreCells cells = {0};
  list_places(e, at, 1, &places);
  for (size_t i = 0; i < places.len; i++) {
    uint64_t base = places.items[i].at, n = REACH;
    const NewObject *r = memory_region(&e->memory, base);
    if (r)
      n = r->base + r->size - base;
    memory_cells(&e->memory, base, n < REACH ? n : REACH, &cells);
  }
  for (size_t i = 0; i < cells.len; i++)
    *state = memory_store(&e->memory, *state, cells.items[i].address,
                          anything(e, cells.items[i].width, 0));
  array_release(&cells);
  array_release(&places);
}
