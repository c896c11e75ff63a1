// Cells: see memory.h. Most granules of 8 bytes are only ever accessed as the
// same cells; `shapes` knows which ones are not, and only for these the
// neighbours of an access are looked at.
#include "spec/encode/memory.h"

#include <stdlib.h>
#include <string.h>

enum { CELL_MAX = 8, FRAME_BITS = 24 };

void memory_init(Memory *m, ValPool *v, ReadProcess *read, void *context) {
  *m = (Memory){.values = v, .read = read, .context = context};
}

void memory_release(Memory *m) {
  arena_release(&m->arena);
  array_release(&m->regions);
  array_release(&m->heap);
  array_release(&m->read_first);
  hashmap_release(&m->calls);
  hashmap_release(&m->makers);
  hashmap_release(&m->shapes);
  hashmap_release(&m->initial);
}

void memory_begin(Memory *m) {
  m->regions.len = 0;
  hashmap_release(&m->calls);
  hashmap_release(&m->initial);
}

void memory_take_heap(Memory *m, const Memory *other) {
  for (size_t i = 0; i < other->heap.len; i++) {
    array_push(&m->heap, other->heap.items[i]);
    hashmap_put(&m->makers, &other->heap.items[i].maker, sizeof(uint64_t), i);
  }
}

// --- new objects ------------------------------------------------------------

uint32_t memory_frame(uint64_t address) {
  if (address < VARIABLE_BASE || address >= HEAP_BASE)
    return 0;
  return (uint32_t)((address - VARIABLE_BASE) >> FRAME_BITS);
}

static uint64_t round_up(uint64_t n) { return (n + 31) & ~15ull; }

static NewObject *last_variable(const Memory *m, uint32_t frame) {
  uint64_t last;
  return hashmap_get(&m->calls, &frame, sizeof frame, &last)
             ? &m->regions.items[last - 1]
             : NULL;
}

uint64_t memory_new_variable(Memory *m, uint32_t frame, uint64_t size,
                             uint64_t maker) {
  uint64_t base = VARIABLE_BASE + ((uint64_t)frame << FRAME_BITS) + 16;
  const NewObject *last = last_variable(m, frame);
  uint32_t before = last ? (uint32_t)(last - m->regions.items) + 1 : 0;
  if (last)
    base = last->base + round_up(last->size);
  array_push(&m->regions,
             (NewObject){
                 .base = base, .size = size, .maker = maker, .before = before});
  hashmap_put(&m->calls, &frame, sizeof frame, m->regions.len);
  return base;
}

// The same maker gets the same address in every encoding.
uint64_t memory_new_heap(Memory *m, uint64_t size, bool zero, uint64_t maker) {
  uint64_t fresh = m->heap.len;
  uint64_t i = hashmap_intern(&m->makers, &maker, sizeof maker, fresh);
  if (i == fresh)
    array_push(&m->heap,
               (NewObject){.base = HEAP_BASE + ((i + 1) << FRAME_BITS),
                           .size = size,
                           .maker = maker,
                           .zero = zero});
  if (size > m->heap.items[i].size)
    m->heap.items[i].size = size;
  return m->heap.items[i].base;
}

static const NewObject *find_variable(const Memory *m, uint64_t address) {
  const NewObject *r = last_variable(m, memory_frame(address));
  while (r && r->base > address)
    r = r->before ? &m->regions.items[r->before - 1] : NULL;
  return r;
}

const NewObject *memory_region(const Memory *m, uint64_t address) {
  const NewObject *r = NULL;
  if (address >= HEAP_BASE && address < GHOST_BASE) {
    uint64_t i = (address - HEAP_BASE) >> FRAME_BITS;
    r = i && i <= m->heap.len ? &m->heap.items[i - 1] : NULL;
  } else if (address >= VARIABLE_BASE && address < HEAP_BASE) {
    r = find_variable(m, address);
  }
  return r && address - r->base < r->size ? r : NULL;
}

// --- what was there before --------------------------------------------------

static bool is_new(uint64_t address) { return address >= VARIABLE_BASE; }

static bool read_before(Memory *m, uint64_t at, void *out, size_t n) {
  if (!is_new(at))
    return m->read(m->context, at, out, n);
  const NewObject *r = memory_region(m, at);
  if (!r || !r->content || r->size - (at - r->base) < n)
    return false;
  memcpy(out, r->content + (at - r->base), n);
  return true;
}

static Val from_process(Memory *m, uint64_t at, unsigned width, bool pointer) {
  uint64_t now = 0;
  if (!read_before(m, at, &now, (width + 7) / 8))
    return 0;
  Val v = val_const(m->values, width, now);
  PreCell cell = {at, v, (uint8_t)width, pointer};
  array_push(&m->read_first, cell);
  Val other = m->symbolic ? m->symbolic(m->symbolic_context, &cell, now) : 0;
  return other ? other : v;
}

static Val initial(Memory *m, uint64_t at, unsigned width, bool pointer) {
  const uint64_t key[2] = {at, width};
  uint64_t known;
  if (hashmap_get(&m->initial, key, sizeof key, &known))
    return (Val)known;
  const NewObject *r = is_new(at) ? memory_region(m, at) : NULL;
  Val v = from_process(m, at, width, pointer);
  if (!v && r && r->zero)
    v = val_const(m->values, width, 0);
  hashmap_put(&m->initial, key, sizeof key, v);
  return v;
}

bool memory_has(Memory *m, uint64_t address, unsigned width) {
  uint64_t bytes;
  if (is_new(address))
    return memory_region(m, address) != NULL;
  return m->read(m->context, address, &bytes, (width + 7) / 8);
}

// --- cells ------------------------------------------------------------------

static Val unknown(Memory *m, unsigned width) {
  return m->concrete ? val_const(m->values, width, 0)
                     : val_free(m->values, width, 0);
}

static unsigned bytes_of(unsigned width) { return (width + 7) / 8; }

// Which cells of a granule have been accessed: for each byte at which one
// begins, its size; 4 bits each.
static bool is_mixed(Memory *m, uint64_t granule, unsigned from, unsigned n) {
  uint64_t old = 0, shape, mixed = 1ull << 60;
  hashmap_get(&m->shapes, &granule, sizeof granule, &old);
  shape = old;
  for (unsigned i = 0; i < 8 && !(shape & mixed); i++) {
    unsigned size = shape >> (4 * i) & 15;
    bool apart = i + size <= from || from + n <= i;
    if (size && !apart && !(i == from && size == n))
      shape |= mixed;
  }
  if (from + n > 8)
    shape |= mixed;
  else if (!(shape & mixed))
    shape |= (uint64_t)n << (4 * from);
  if (shape != old)
    hashmap_put(&m->shapes, &granule, sizeof granule, shape);
  return shape & mixed;
}

static bool needs_care(Memory *m, uint64_t at, unsigned n) {
  bool mixed = is_mixed(m, at >> 3, at & 7, n);
  if ((at & 7) + n > 8)
    mixed |= is_mixed(m, (at >> 3) + 1, 0, (unsigned)(at & 7) + n - 8);
  return mixed;
}

static Val byte_of(Memory *m, Val v, unsigned i) {
  ValPool *vs = m->values;
  uint64_t number;
  if (val_is_const(vs, v, &number))
    return val_const(vs, 8, number >> (8 * i));
  Expr e = val_expr(vs, v);
  unsigned width = expr_width(vs->pool, e);
  if (width < 8 * (i + 1))
    e = expr_zext(vs->pool, e, 8 * (i + 1));
  return val_of(vs, expr_byte(vs->pool, e, i));
}

static Pmap take_apart(Memory *m, Pmap state, uint64_t at, Val v) {
  unsigned n = bytes_of(val_width(m->values, v));
  for (unsigned i = 0; i < n; i++)
    state = pmap_put(&m->arena, state, at + i, byte_of(m, v, i));
  return state;
}

// Leaves only single bytes written where the access will be.
static Pmap clear_place(Memory *m, Pmap state, uint64_t at, unsigned n) {
  for (uint64_t a = at - (CELL_MAX - 1); a < at + n; a++) {
    uint32_t v;
    if (!pmap_get(state, a, &v) || !v)
      continue;
    unsigned size = bytes_of(val_width(m->values, v));
    if (size > 1 && a + size > at && !(a == at && size == n))
      state = take_apart(m, state, a, v);
  }
  return state;
}

static Val single_byte(Memory *m, Pmap state, uint64_t at) {
  uint32_t v;
  if (pmap_get(state, at, &v) && v)
    return v;
  return initial(m, at, 8, false);
}

static Val concat(Memory *m, const Val *bytes, unsigned n, unsigned width) {
  ValPool *vs = m->values;
  uint64_t number, all = 0;
  bool constant = true;
  for (unsigned i = 0; i < n; i++) {
    constant &= val_is_const(vs, bytes[i], &number);
    all |= constant ? number << (8 * i) : 0;
  }
  if (constant)
    return val_const(vs, width, all);
  Expr e = val_expr(vs, bytes[n - 1]);
  for (unsigned i = n - 1; i-- > 0;)
    e = expr_concat(vs->pool, e, val_expr(vs, bytes[i]));
  if (expr_width(vs->pool, e) > width)
    e = expr_trunc(vs->pool, e, width);
  return val_of(vs, e);
}

static Val load_bytes(Memory *m, Pmap *state, uint64_t at, unsigned width,
                      bool pointer) {
  unsigned n = bytes_of(width);
  uint32_t whole;
  *state = clear_place(m, *state, at, n);
  if (pmap_get(*state, at, &whole) && whole &&
      bytes_of(val_width(m->values, whole)) == n)
    return whole;
  Val bytes[CELL_MAX];
  bool written = false;
  for (unsigned i = 0; i < n; i++) {
    uint32_t v;
    written |= pmap_get(*state, at + i, &v) && v;
  }
  if (!written)
    return initial(m, at, width, pointer);
  for (unsigned i = 0; i < n; i++) {
    bytes[i] = single_byte(m, *state, at + i);
    if (!bytes[i])
      bytes[i] = unknown(m, 8);
  }
  return concat(m, bytes, n, width);
}

Val memory_load(Memory *m, Pmap *state, uint64_t address, unsigned width,
                bool pointer) {
  uint32_t v;
  if (needs_care(m, address, bytes_of(width)))
    return load_bytes(m, state, address, width, pointer);
  if (pmap_get(*state, address, &v) && v)
    return v;
  return initial(m, address, width, pointer);
}

Pmap memory_store(Memory *m, Pmap state, uint64_t address, Val value) {
  unsigned n = bytes_of(val_width(m->values, value));
  if (address < GHOST_BASE && needs_care(m, address, n)) {
    state = clear_place(m, state, address, n);
    for (unsigned i = 1; i < n; i++) // bytes that the cell now covers
      if (pmap_get(state, address + i, &(uint32_t){0}))
        state = pmap_put(&m->arena, state, address + i, 0);
  }
  return pmap_put(&m->arena, state, address, value);
}

Pmap memory_fill(Memory *m, Pmap state, uint64_t base,
                 const unsigned char *content, uint64_t n) {
  NewObject *r = (NewObject *)memory_region(m, base);
  if (!r)
    return state;
  r->content = content;
  r->size = n < r->size ? n : r->size;
  for (uint64_t i = 0; i < r->size; i++)
    if (pmap_get(state, base + i, &(uint32_t){0}))
      state = pmap_put(&m->arena, state, base + i, 0);
  return state;
}

void memory_cells(const Memory *m, uint64_t from, uint64_t n, PreCells *out) {
  for (uint64_t a = from; a < from + n; a++) {
    uint64_t shape = 0, granule = a >> 3;
    hashmap_get(&m->shapes, &granule, sizeof granule, &shape);
    unsigned size = shape >> (4 * (a & 7)) & 15;
    if (size)
      array_push(out, (PreCell){.address = a, .width = (uint8_t)(8 * size)});
  }
}

// --- copying ----------------------------------------------------------------

// The cell that begins there, as far as it is known; one that fits in `left`.
static unsigned cell_size(Memory *m, Pmap state, uint64_t at, uint64_t left) {
  uint32_t v;
  uint64_t shape = 0, granule = at >> 3;
  unsigned n = 0;
  if (pmap_get(state, at, &v) && v)
    n = bytes_of(val_width(m->values, v));
  else if (hashmap_get(&m->shapes, &granule, sizeof granule, &shape))
    n = shape >> (4 * (at & 7)) & 15;
  if (!n)
    n = at % 8 == 0 && left >= 8 && !shape ? 8 : 1;
  return n <= left && n <= CELL_MAX && !(n & (n - 1)) ? n : 1;
}

Pmap memory_copy(Memory *m, Pmap state, uint64_t to, uint64_t from,
                 uint64_t n) {
  struct {
    unsigned size;
    Val value;
  } *cells = mem_alloc_array(n + 1, sizeof *cells);
  size_t count = 0;
  for (uint64_t i = 0; i < n; count++) {
    cells[count].size = cell_size(m, state, from + i, n - i);
    cells[count].value =
        memory_load(m, &state, from + i, 8 * cells[count].size, false);
    i += cells[count].size;
  }
  uint64_t at = to;
  for (size_t i = 0; i < count; at += cells[i++].size)
    state = memory_store(m, state, at,
                         cells[i].value ? cells[i].value
                                        : unknown(m, 8 * cells[i].size));
  free(cells);
  return state;
}
