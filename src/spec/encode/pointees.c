// Kinds of objects, learned from a run: see pointees.h.
#include "spec/encode/pointees.h"

#include <stdlib.h>

enum { OBJECT_MAX = 4096, ROUNDS_MAX = 8 };

void pointees_release(Pointees *p) {
  array_release(&p->uses);
  array_release(&p->objects);
  array_release(&p->kind);
  hashmap_release(&p->sites);
  hashmap_release(&p->seen);
  array_release(&p->cells);
  hashmap_release(&p->fields);
}

void pointees_note(Pointees *p, uint64_t site, uint64_t cell, uint64_t target) {
  PointerUse u = {site, cell, target};
  if (hashmap_intern(&p->seen, &u, sizeof u, p->uses.len) == p->uses.len)
    array_push(&p->uses, u);
}

void pointees_note_field(Pointees *p, uint64_t address) {
  hashmap_put(&p->fields, &address, sizeof address, 1);
}

// --- objects ----------------------------------------------------------------

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

// Sorts and drops what is there twice; returns how many are left.
static size_t make_set(uint64_t *items, size_t n) {
  size_t kept = 0;
  if (n)
    qsort(items, n, sizeof *items, by_number);
  for (size_t i = 0; i < n; i++)
    if (!kept || items[kept - 1] != items[i])
      items[kept++] = items[i];
  return kept;
}

static void list_objects(Pointees *p) {
  p->objects.len = 0;
  for (size_t i = 0; i < p->uses.len; i++)
    if (p->uses.items[i].target)
      array_push(&p->objects, p->uses.items[i].target);
  p->objects.len = make_set(p->objects.items, p->objects.len);
  p->kind.len = 0;
  for (uint32_t i = 0; i < p->objects.len; i++)
    array_push(&p->kind, i);
}

static void list_cells(Pointees *p) {
  p->cells.len = 0;
  for (size_t i = 0; i < p->uses.len; i++)
    if (p->uses.items[i].cell < 1ull << 63)
      array_push(&p->cells, p->uses.items[i].cell);
  p->cells.len = make_set(p->cells.items, p->cells.len);
}

// The last object at or before the address; SIZE_MAX: none is near.
static size_t holder(const Pointees *p, uint64_t address) {
  size_t lo = 0, hi = p->objects.len;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (p->objects.items[mid] <= address)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo && address - p->objects.items[lo - 1] < OBJECT_MAX ? lo - 1
                                                               : SIZE_MAX;
}

static uint32_t find(const Pointees *p, uint32_t i) {
  while (p->kind.items[i] != i)
    i = p->kind.items[i];
  return i;
}

static bool unite(Pointees *p, uint32_t a, uint32_t b) {
  a = find(p, a);
  b = find(p, b);
  if (a == b)
    return false;
  p->kind.items[a > b ? a : b] = a > b ? b : a;
  return true;
}

// --- sites ------------------------------------------------------------------

typedef struct {
  uint64_t what, a, b;
} SiteKey;

static bool field_key(const Pointees *p, uint64_t cell, SiteKey *out) {
  size_t o = holder(p, cell);
  if (o == SIZE_MAX)
    return false;
  *out = (SiteKey){3, find(p, (uint32_t)o), cell - p->objects.items[o]};
  return true;
}

// What is seen at the same key is of one kind.
static bool unite_at(Pointees *p, SiteKey key, uint32_t object) {
  uint64_t other = hashmap_intern(&p->sites, &key, sizeof key, object);
  return unite(p, (uint32_t)other, object);
}

static bool learn_round(Pointees *p) {
  bool changed = false;
  for (size_t i = 0; i < p->uses.len; i++) {
    const PointerUse *u = &p->uses.items[i];
    if (!u->target)
      continue;
    uint32_t object = (uint32_t)holder(p, u->target);
    SiteKey field;
    changed |= unite_at(p, (SiteKey){1, u->site, 0}, object);
    changed |= unite_at(p, (SiteKey){2, u->cell, 0}, object);
    if (field_key(p, u->cell, &field))
      changed |= unite_at(p, field, object);
  }
  return changed;
}

static void learn(Pointees *p) {
  for (int i = 0; i < ROUNDS_MAX && learn_round(p); i++)
    ;
}

// --- objects that are built alike -------------------------------------------

// A pointer in objects of a kind.
typedef struct {
  uint64_t kind, offset;
  uint64_t target; // kind; UINT64_MAX: only null was seen
} PointerField;
typedef ARRAY(PointerField) PointerFields;

static int by_place(const void *a, const void *b) {
  const PointerField *x = a, *y = b;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

// By kind and offset, each once.
static void list_fields(const Pointees *p, PointerFields *out) {
  for (size_t i = 0; i < p->cells.len; i++) {
    SiteKey key;
    uint64_t object;
    if (!field_key(p, p->cells.items[i], &key))
      continue;
    PointerField f = {key.a, key.b, UINT64_MAX};
    if (hashmap_get(&p->sites, &key, sizeof key, &object))
      f.target = find(p, (uint32_t)object);
    array_push(out, f);
  }
  if (out->len)
    qsort(out->items, out->len, sizeof *out->items, by_place);
  size_t kept = 0;
  for (size_t i = 0; i < out->len; i++)
    if (!kept || by_place(&out->items[kept - 1], &out->items[i]))
      out->items[kept++] = out->items[i];
  out->len = kept;
}

static size_t fields_of_one(const PointerFields *f, size_t from) {
  size_t n = 1;
  while (from + n < f->len && f->items[from + n].kind == f->items[from].kind)
    n++;
  return n;
}

static bool are_alike(const PointerField *a, size_t n, const PointerField *b,
                      size_t m) {
  size_t same = 0;
  if (n != m || n < 2)
    return false;
  for (size_t i = 0; i < n; i++) {
    bool known = a[i].target != UINT64_MAX && b[i].target != UINT64_MAX;
    if (a[i].offset != b[i].offset || (known && a[i].target != b[i].target))
      return false;
    same += known;
  }
  return same > 0;
}

static bool unite_alike(Pointees *p) {
  PointerFields f = {0};
  bool changed = false;
  list_fields(p, &f);
  for (size_t i = 0, n; i < f.len; i += n) {
    n = fields_of_one(&f, i);
    for (size_t k = i + n, m; k < f.len; k += m) {
      m = fields_of_one(&f, k);
      if (are_alike(&f.items[i], n, &f.items[k], m))
        changed |=
            unite(p, (uint32_t)f.items[i].kind, (uint32_t)f.items[k].kind);
    }
  }
  array_release(&f);
  return changed;
}

void pointees_learn(Pointees *p) {
  hashmap_release(&p->sites);
  list_objects(p);
  list_cells(p);
  learn(p);
  if (unite_alike(p))
    learn(p);
  for (uint32_t i = 0; i < p->kind.len; i++) // asked for very often
    p->kind.items[i] = find(p, i);
}

// --- asking -----------------------------------------------------------------

// A kind's number at one of the keys; UINT32_MAX: not known.
static uint32_t kind_at(const Pointees *p, uint64_t site, uint64_t cell) {
  SiteKey keys[3] = {{1, site, 0}, {2, cell, 0}, {0, 0, 0}};
  field_key(p, cell, &keys[2]);
  for (int i = 0; i < 3; i++) {
    uint64_t object;
    if (hashmap_get(&p->sites, &keys[i], sizeof keys[i], &object))
      return find(p, (uint32_t)object);
  }
  return UINT32_MAX;
}

static bool is_cell(const Pointees *p, uint64_t address) {
  return p->cells.len && bsearch(&address, p->cells.items, p->cells.len,
                                 sizeof address, by_number);
}

// Is a pointer field among the targets? Then these are cells, not objects that
// begin with a pointer.
static bool are_cells(const Pointees *p, const Targets *t) {
  for (size_t i = 0; i < t->len; i++) {
    uint64_t field;
    if (is_cell(p, t->items[i]) &&
        hashmap_get(&p->fields, &t->items[i], sizeof t->items[i], &field))
      return true;
  }
  return false;
}

static bool is_among(const Targets *t, uint64_t target) {
  for (size_t i = 0; i < t->len; i++)
    if (t->items[i] == target)
      return true;
  return false;
}

void pointees_cells(const Pointees *p, uint64_t now, Targets *out) {
  uint32_t kind = kind_at(p, 0, now);
  for (size_t i = 0; i < p->cells.len; i++) {
    uint32_t other = kind_at(p, 0, p->cells.items[i]);
    bool alike = other == kind || other == UINT32_MAX || kind == UINT32_MAX;
    if (alike && !is_among(out, p->cells.items[i]))
      array_push(out, p->cells.items[i]);
  }
}

void pointees_of(const Pointees *p, uint64_t site, uint64_t cell, uint64_t now,
                 Targets *out) {
  uint32_t kind = kind_at(p, site, cell);
  bool found = now == 0;
  array_push(out, 0);
  for (uint32_t i = 0; i < p->objects.len; i++)
    if (kind == UINT32_MAX || find(p, i) == kind) {
      array_push(out, p->objects.items[i]);
      found |= p->objects.items[i] == now;
    }
  if (!found)
    array_push(out, now);
  if (kind != UINT32_MAX && is_cell(p, now) && are_cells(p, out))
    pointees_cells(p, now, out);
}
