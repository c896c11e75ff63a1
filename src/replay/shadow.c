// The memory of a replayed run: see shadow.h. Pages of 4096 bytes in a hash
// table, the last ones used at hand; cells only for pages that ever held an
// expression.
#include "replay/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { PAGE = 4096, RECENT = 512 };

typedef struct {
  Expr node; // 0: concrete
  uint32_t index;
} ShadowCell;

typedef struct {
  uint64_t number;
  ShadowCell *cells; // NULL: none ever
  uint32_t ncells;   // that hold an expression
  uint8_t bytes[PAGE];
  uint8_t known[PAGE / 8 + 1];
} ShadowPage;

struct Shadow {
  ExprPool *pool;
  ShadowPage **slots;
  size_t len, cap;
  ShadowPage *recent[RECENT];
  uint64_t surprises;
};

Shadow *shadow_new(ExprPool *pool) {
  Shadow *m = mem_new(Shadow);
  m->pool = pool;
  m->cap = 256;
  m->slots = mem_array(ShadowPage *, m->cap);
  return m;
}

void shadow_free(Shadow *m) {
  for (size_t i = 0; m && i < m->cap; i++)
    if (m->slots[i]) {
      free(m->slots[i]->cells);
      free(m->slots[i]);
    }
  if (m)
    free(m->slots);
  free(m);
}

// --- pages ------------------------------------------------------------------

static size_t slot_of(const Shadow *m, uint64_t number) {
  size_t i = (number * 0x9e3779b97f4a7c15ull) >> 20 & (m->cap - 1);
  while (m->slots[i] && m->slots[i]->number != number)
    i = (i + 1) & (m->cap - 1);
  return i;
}

static void grow(Shadow *m) {
  ShadowPage **old = m->slots;
  size_t cap = m->cap;
  m->cap *= 2;
  m->slots = mem_array(ShadowPage *, m->cap);
  for (size_t i = 0; i < cap; i++)
    if (old[i])
      m->slots[slot_of(m, old[i]->number)] = old[i];
  free(old);
}

static ShadowPage *find(const Shadow *m, uint64_t at) {
  uint64_t number = at / PAGE;
  ShadowPage *p = m->recent[number % RECENT];
  if (p && p->number == number)
    return p;
  p = m->slots[slot_of(m, number)];
  if (p)
    ((Shadow *)m)->recent[number % RECENT] = p;
  return p;
}

static ShadowPage *need(Shadow *m, uint64_t at) {
  ShadowPage *p = find(m, at);
  if (p)
    return p;
  if (m->len * 2 >= m->cap)
    grow(m);
  p = mem_new(ShadowPage);
  p->number = at / PAGE;
  m->slots[slot_of(m, p->number)] = p;
  m->recent[p->number % RECENT] = p;
  m->len++;
  return p;
}

static bool is_known(const ShadowPage *p, unsigned i) {
  return p->known[i / 8] >> (i % 8) & 1;
}

static void set_known(ShadowPage *p, unsigned i, bool known) {
  uint8_t bit = (uint8_t)(1u << (i % 8));
  p->known[i / 8] = known ? p->known[i / 8] | bit : p->known[i / 8] & ~bit;
}

static void set_cell(ShadowPage *p, unsigned i, ShadowCell c) {
  if (!p->cells) {
    if (!c.node)
      return;
    p->cells = mem_array(ShadowCell, PAGE);
  }
  p->ncells += (c.node != 0) - (p->cells[i].node != 0);
  p->cells[i] = c;
}

static ShadowCell get_cell(const ShadowPage *p, unsigned i) {
  return p && p->cells ? p->cells[i] : (ShadowCell){0, 0};
}

static void set_byte(Shadow *m, uint64_t at, uint8_t value, ShadowCell c) {
  ShadowPage *p = need(m, at);
  p->bytes[at % PAGE] = value;
  set_known(p, at % PAGE, true);
  set_cell(p, at % PAGE, c);
}

// --- numbers ----------------------------------------------------------------

// At most 8 bytes.
static void mark_known(ShadowPage *p, unsigned first, unsigned n) {
  unsigned bits = ((1u << n) - 1) << (first % 8);
  p->known[first / 8] |= (uint8_t)bits;
  p->known[first / 8 + 1] |= (uint8_t)(bits >> 8);
}

void shadow_store(Shadow *m, uint64_t at, unsigned n, uint64_t value, Expr e) {
  unsigned first = at % PAGE;
  if (first + n > PAGE) {
    for (unsigned i = 0; i < n; i++)
      set_byte(m, at + i, (uint8_t)(value >> 8 * i), (ShadowCell){e, i});
    return;
  }
  ShadowPage *p = need(m, at);
  memcpy(p->bytes + first, &value, n);
  mark_known(p, first, n);
  if (e || p->ncells)
    for (unsigned i = 0; i < n; i++)
      set_cell(p, first + i, (ShadowCell){e, e ? i : 0});
}

static Expr compose(Shadow *m, uint64_t at, unsigned n, uint64_t value) {
  ShadowCell first = get_cell(find(m, at), at % PAGE);
  bool whole = first.node && first.index == 0 &&
               expr_width(m->pool, first.node) == 8 * n;
  for (unsigned i = 1; i < n && whole; i++) {
    ShadowCell c = get_cell(find(m, at + i), (at + i) % PAGE);
    whole = c.node == first.node && c.index == i;
  }
  if (whole)
    return first.node;
  Expr e = 0;
  for (unsigned i = 0; i < n; i++) {
    ShadowCell c = get_cell(find(m, at + i), (at + i) % PAGE);
    Expr byte = c.node ? expr_byte(m->pool, c.node, c.index)
                       : expr_const(m->pool, 8, value >> 8 * i & 0xff);
    e = e ? expr_concat(m->pool, byte, e) : byte;
  }
  return e;
}

static bool has_cells(const Shadow *m, uint64_t at, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    const ShadowPage *p = find(m, at + i);
    if (p && p->ncells && p->cells[(at + i) % PAGE].node)
      return true;
  }
  return false;
}

Expr shadow_load(Shadow *m, uint64_t at, unsigned n, uint64_t value) {
  unsigned first = at % PAGE;
  ShadowPage *p = need(m, at);
  if (first + n <= PAGE && !p->ncells) {
    memcpy(p->bytes + first, &value, n);
    mark_known(p, first, n);
    return 0;
  }
  Expr e = has_cells(m, at, n) ? compose(m, at, n, value) : 0;
  if (e && expr_value(m->pool, e) != value) {
    m->surprises++;
    e = 0;
  }
  if (!e)
    shadow_store(m, at, n, value, 0);
  return e;
}

// --- bytes ------------------------------------------------------------------

bool shadow_byte(const Shadow *m, uint64_t at, uint8_t *value) {
  const ShadowPage *p = find(m, at);
  if (!p || !is_known(p, at % PAGE))
    return false;
  *value = p->bytes[at % PAGE];
  return true;
}

Expr shadow_byte_expr(const Shadow *m, uint64_t at) {
  ShadowCell c = get_cell(find(m, at), at % PAGE);
  return c.node ? expr_byte(m->pool, c.node, c.index) : 0;
}

bool shadow_word(const Shadow *m, uint64_t at, uint64_t *value) {
  *value = 0;
  for (unsigned i = 0; i < 8; i++) {
    uint8_t b;
    if (!shadow_byte(m, at + i, &b))
      return false;
    *value |= (uint64_t)b << 8 * i;
  }
  return true;
}

bool shadow_read(const Shadow *m, uint64_t at, uint8_t *bytes, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    unsigned k = (at + i) % PAGE;
    const ShadowPage *p = find(m, at + i);
    if (!p || !is_known(p, k) || (p->ncells && p->cells[k].node))
      return false;
    bytes[i] = p->bytes[k];
  }
  return true;
}

void shadow_write(Shadow *m, uint64_t at, const void *bytes, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    uint8_t b = ((const uint8_t *)bytes)[i];
    ShadowPage *p = need(m, at + i);
    unsigned k = (at + i) % PAGE;
    // What did not change may still be what an expression made it.
    if (is_known(p, k) && p->bytes[k] == b)
      continue;
    set_byte(m, at + i, b, (ShadowCell){0, 0});
  }
}

static void copy_byte(Shadow *m, uint64_t to, uint64_t from) {
  const ShadowPage *p = find(m, from);
  ShadowCell c = get_cell(p, from % PAGE);
  if (p && is_known(p, from % PAGE))
    set_byte(m, to, p->bytes[from % PAGE], c);
  else
    shadow_forget(m, to, 1);
}

// How many of the n bytes from there on lie on one page.
static uint64_t on_page(uint64_t at, uint64_t n) {
  uint64_t left = PAGE - at % PAGE;
  return n < left ? n : left;
}

void shadow_copy(Shadow *m, uint64_t to, uint64_t from, uint64_t n) {
  if (to == from)
    return;
  if (to - from < n) { // overlaps: from the end
    for (uint64_t i = n; i-- > 0;)
      copy_byte(m, to + i, from + i);
    return;
  }
  for (uint64_t i = 0; i < n;) {
    uint64_t now = on_page(from + i, n - i);
    if (find(m, from + i))
      for (uint64_t k = 0; k < now; k++)
        copy_byte(m, to + i + k, from + i + k);
    else
      shadow_forget(m, to + i, now);
    i += now;
  }
}

void shadow_fill(Shadow *m, uint64_t at, uint64_t n, uint8_t value, Expr e) {
  for (uint64_t i = 0; i < n;) {
    uint64_t now = on_page(at + i, n - i);
    ShadowPage *p = need(m, at + i);
    unsigned first = (at + i) % PAGE;
    memset(p->bytes + first, value, now);
    for (unsigned k = 0; k < now; k++)
      set_known(p, first + k, true);
    for (unsigned k = 0; k < now && (e || p->ncells); k++)
      set_cell(p, first + k, (ShadowCell){e, 0});
    i += now;
  }
}

void shadow_forget(Shadow *m, uint64_t at, uint64_t n) {
  for (uint64_t i = 0; i < n;) {
    uint64_t now = on_page(at + i, n - i);
    ShadowPage *p = find(m, at + i);
    unsigned first = (at + i) % PAGE;
    for (unsigned k = 0; p && k < now; k++) {
      set_known(p, first + k, false);
      if (p->ncells)
        set_cell(p, first + k, (ShadowCell){0, 0});
    }
    i += now;
  }
}

bool shadow_is_symbolic(const Shadow *m, uint64_t at, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    const ShadowPage *p = find(m, at + i);
    if (!p || !p->ncells) {
      i += PAGE - (at + i) % PAGE - 1;
      continue;
    }
    if (p->cells[(at + i) % PAGE].node)
      return true;
  }
  return false;
}

uint64_t shadow_surprises(const Shadow *m) { return m->surprises; }

size_t shadow_pages(const Shadow *m) { return m->len; }
