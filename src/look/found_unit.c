// What a closer look has found, as a unit: see found_unit.h.
//
// The units of the programs are laid together: a function of a header is one
// function, and what is found in it is one relation, whichever program it was
// compiled into.
#include "look/found_unit.h"

#include <stdlib.h>
#include <string.h>

#include "model/access.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

// An entity of a program.
typedef struct {
  const Unit *unit;
  uint32_t entity;
} FoundEntity;

typedef struct {
  uint32_t definition, use; // numbers of statements
} FoundPair;

typedef struct {
  char *text; // NULL: none
} FoundName;

struct FoundUnit {
  ARRAY(FoundEntity) entities[ENTITY_KINDS]; // by number
  ARRAY(FoundPair) pairs;                    // by number
  ARRAY(FoundName) names;                    // by number of the pair
  Hashmap pair_index;
  Hashmap lines;  // source and line -> number of the statement
  size_t indexed; // statements that are in there
};

FoundUnit *found_new(void) { return mem_new(FoundUnit); }

void found_free(FoundUnit *f) {
  if (!f)
    return;
  for (int k = 0; k < ENTITY_KINDS; k++)
    array_release(&f->entities[k]);
  for (size_t i = 0; i < f->names.len; i++)
    free(f->names.items[i].text);
  array_release(&f->names);
  array_release(&f->pairs);
  hashmap_release(&f->pair_index);
  hashmap_release(&f->lines);
  free(f);
}

void found_run_release(FoundRun *r) {
  free(r->test);
  free(r->wrong);
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&r->hits[k]);
  *r = (FoundRun){0};
}

int found_assign(void *found, const Unit *unit, uint32_t *ids, Err *err) {
  (void)err;
  FoundUnit *f = found;
  for (size_t i = 0; i < unit->nentities; i++) {
    EntityKind kind = unit->entities[i].kind;
    ids[i] = (uint32_t)f->entities[kind].len;
    array_push(&f->entities[kind], (FoundEntity){unit, (uint32_t)i});
  }
  return 0;
}

uint32_t found_pair(void *found, uint32_t definition, uint32_t use) {
  FoundUnit *f = found;
  FoundPair p = {definition, use};
  uint64_t at = hashmap_intern(&f->pair_index, &p, sizeof p, f->pairs.len);
  if (at == f->pairs.len)
    array_push(&f->pairs, p);
  return (uint32_t)at;
}

static void line_key(Str *key, const char *source, uint32_t line) {
  str_clear(key);
  str_addf(key, "%u:%s", line, source);
}

bool found_statement(FoundUnit *f, const char *source, uint32_t line,
                     uint32_t *number) {
  Str key = {0};
  uint64_t at = 0;
  for (; f->indexed < f->entities[ENTITY_STATEMENT].len; f->indexed++) {
    const FoundEntity *e = &f->entities[ENTITY_STATEMENT].items[f->indexed];
    const Entity *statement = &e->unit->entities[e->entity];
    line_key(&key, e->unit->sources[statement->source].path, statement->line);
    hashmap_intern(&f->lines, key.data, key.len, f->indexed);
  }
  line_key(&key, source, line);
  bool found = hashmap_get(&f->lines, key.data, key.len, &at);
  *number = (uint32_t)at;
  str_release(&key);
  return found;
}

void found_name(FoundUnit *f, uint32_t pair, const char *name) {
  while (f->names.len <= pair)
    array_push(&f->names, (FoundName){NULL});
  char **text = &f->names.items[pair].text;
  if (*text && strcmp(*text, name) <= 0)
    return;
  free(*text);
  *text = mem_strdup(name);
}

// --- sources that have changed ----------------------------------------------

static bool differs(const Source *s, const Suite *suite) {
  for (size_t i = 0; i < suite->nsources; i++)
    if (!strcmp(suite->sources[i].path, s->path))
      return s->hash && suite->sources[i].hash &&
             s->hash != suite->sources[i].hash;
  return false;
}

const char *found_changed_source(const Unit *unit, const Suite *suite) {
  for (size_t i = 0; i < unit->nsources; i++)
    if (differs(&unit->sources[i], suite))
      return unit->sources[i].path;
  return NULL;
}

const char *found_changed(const FoundUnit *f, const Suite *suite) {
  const Unit *last = NULL;
  const char *changed = NULL;
  for (size_t i = 0; !changed && i < f->entities[ENTITY_STATEMENT].len; i++) {
    const Unit *unit = f->entities[ENTITY_STATEMENT].items[i].unit;
    changed = unit == last ? NULL : found_changed_source(unit, suite);
    last = unit;
  }
  return changed;
}

// --- the unit ---------------------------------------------------------------

// One unit in the making, and where in it things are.
typedef struct {
  const FoundUnit *found;
  ARRAY(Source) sources;
  ARRAY(Entity) entities;
  Hashmap source_index, entity_index;
  uint32_t *places[ENTITY_KINDS]; // number -> entity; ENTITY_NONE: not found
  Str key;
  Arena arena; // names of pairs
} Merger;

static uint32_t merge_source(Merger *m, const Source *s) {
  uint64_t at = hashmap_intern(&m->source_index, s->path, strlen(s->path),
                               m->sources.len);
  if (at == m->sources.len)
    array_push(&m->sources, *s);
  return (uint32_t)at;
}

static void key_text(Str *key, const char *text) {
  str_addn(key, text ? text : "\xff", text ? strlen(text) + 1 : 1);
}

// The one that says the same, or a new one.
static uint32_t merge_entity(Merger *m, const Entity *e) {
  uint32_t numbers[] = {e->kind,     e->source, e->line, e->col_lo, e->col_hi,
                        e->function, e->index,  e->from, e->to};
  str_clear(&m->key);
  str_addn(&m->key, numbers, sizeof numbers);
  key_text(&m->key, e->name);
  key_text(&m->key, e->text);
  uint64_t at = hashmap_intern(&m->entity_index, m->key.data, m->key.len,
                               m->entities.len);
  if (at == m->entities.len)
    array_push(&m->entities, *e);
  return (uint32_t)at;
}

static uint32_t merge_function(Merger *m, const Unit *unit, uint32_t function) {
  if (function == ENTITY_NONE)
    return ENTITY_NONE;
  Entity e = unit->entities[function];
  e.source = merge_source(m, &unit->sources[e.source]);
  e.index = 0;
  e.from = e.to = ENTITY_NONE;
  // It stands in itself, as the first of its kind there.
  e.function = ENTITY_NONE;
  uint32_t at = merge_entity(m, &e);
  m->entities.items[at].function = at;
  return at;
}

// Without what only its own unit can say: its blocks.
static uint32_t merge(Merger *m, const FoundEntity *f) {
  Entity e = f->unit->entities[f->entity];
  e.function = merge_function(m, f->unit, e.function);
  e.source = merge_source(m, &f->unit->sources[e.source]);
  e.to = ENTITY_NONE;
  if (e.kind == ENTITY_STATEMENT) {
    e.col_lo = e.col_hi = e.index = 0;
    e.from = ENTITY_NONE;
    e.text = NULL; // its accesses
  }
  return merge_entity(m, &e);
}

static uint32_t merge_statement(Merger *m, uint32_t number) {
  return merge(m, &m->found->entities[ENTITY_STATEMENT].items[number]);
}

static const char *accesses_of(const FoundUnit *f, uint32_t statement) {
  const FoundEntity *e = &f->entities[ENTITY_STATEMENT].items[statement];
  return e->unit->entities[e->entity].text;
}

// The variable, as the run or the accesses of the two statements tell.
static void name_pair(Merger *m, Entity *pair, uint32_t number) {
  const FoundUnit *f = m->found;
  Str name = {0};
  if (number < f->names.len && f->names.items[number].text)
    str_add(&name, f->names.items[number].text);
  else
    access_name(accesses_of(f, f->pairs.items[number].definition),
                accesses_of(f, f->pairs.items[number].use), &name);
  // Units that share the two lines may differ: the first by name.
  if (name.len && (!pair->name || strcmp(str_text(&name), pair->name) < 0))
    pair->name = arena_strdup(&m->arena, str_text(&name));
  str_release(&name);
}

static uint32_t merge_pair(Merger *m, uint32_t number) {
  const FoundPair *p = &m->found->pairs.items[number];
  uint32_t from = merge_statement(m, p->definition);
  uint32_t to = merge_statement(m, p->use);
  Entity e = m->entities.items[from];
  e.kind = ENTITY_PAIR;
  e.from = from;
  e.to = to;
  uint32_t at = merge_entity(m, &e);
  name_pair(m, &m->entities.items[at], number);
  return at;
}

// A statement that the output depends on.
static uint32_t merge_slice(Merger *m, uint32_t number) {
  uint32_t from = merge_statement(m, number);
  Entity e = m->entities.items[from];
  e.kind = ENTITY_SLICE;
  e.from = from;
  return merge_entity(m, &e);
}

static uint32_t merge_number(Merger *m, EntityKind kind, uint32_t number) {
  if (kind == ENTITY_PAIR)
    return merge_pair(m, number);
  if (kind == ENTITY_SLICE)
    return merge_slice(m, number);
  return merge(m, &m->found->entities[kind].items[number]);
}

static size_t count_numbers(const FoundUnit *f, EntityKind kind) {
  return kind == ENTITY_PAIR    ? f->pairs.len
         : kind == ENTITY_SLICE ? f->entities[ENTITY_STATEMENT].len
                                : f->entities[kind].len;
}

static void merge_kind(Merger *m, EntityKind kind, const FoundRun *runs,
                       size_t n) {
  size_t count = count_numbers(m->found, kind);
  Bitset all = {0};
  for (size_t i = 0; i < n; i++)
    bitset_union(&all, &runs[i].hits[kind]);
  m->places[kind] = mem_array(uint32_t, count);
  for (uint32_t i = 0; bitset_next(&all, &i) && i < count; i++)
    m->places[kind][i] = merge_number(m, kind, i);
  bitset_release(&all);
}

static void merger_release(Merger *m) {
  array_release(&m->sources);
  array_release(&m->entities);
  hashmap_release(&m->source_index);
  hashmap_release(&m->entity_index);
  for (int k = 0; k < ENTITY_KINDS; k++)
    free(m->places[k]);
  str_release(&m->key);
  arena_release(&m->arena);
}

// --- its order --------------------------------------------------------------

// In which order things were found depends on which run ended first: the unit is
// to be the same each time.

static int by_number(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int by_text(const char *a, const char *b) {
  return strcmp(a ? a : "", b ? b : "");
}

static int by_place(const Merger *m, uint32_t a, uint32_t b) {
  if (a == ENTITY_NONE || b == ENTITY_NONE)
    return by_number(a, b);
  const Entity *x = &m->entities.items[a], *y = &m->entities.items[b];
  int order = by_text(m->sources.items[x->source].path,
                      m->sources.items[y->source].path);
  order = order ? order : by_number(x->line, y->line);
  return order ? order : by_text(x->name, y->name);
}

static bool refers(EntityKind kind) {
  return kind == ENTITY_PAIR || kind == ENTITY_SLICE;
}

static int by_content(const void *a, const void *b, void *merger) {
  const Merger *m = merger;
  uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  const Entity *x = &m->entities.items[i], *y = &m->entities.items[k];
  int order = by_number(x->kind, y->kind);
  order = order ? order : by_place(m, i, k);
  order = order ? order : by_place(m, x->function, y->function);
  order = order ? order : by_number(x->index, y->index);
  order = order ? order : by_number(x->col_lo, y->col_lo);
  if (!order && refers(x->kind))
    order = by_place(m, x->from, y->from);
  if (!order && refers(x->kind))
    order = by_place(m, x->to, y->to);
  if (!order && !refers(x->kind))
    order = by_number(x->from, y->from);
  return order ? order : by_text(x->text, y->text);
}

static void renumber(uint32_t *ref, const uint32_t *where) {
  if (*ref != ENTITY_NONE)
    *ref = where[*ref];
}

// where[i]: the new place of entity i.
static void reorder(Merger *m, const uint32_t *order, const uint32_t *where) {
  size_t n = m->entities.len;
  Entity *sorted = mem_array(Entity, n + 1);
  for (size_t i = 0; i < n; i++) {
    Entity e = m->entities.items[order[i]];
    renumber(&e.function, where);
    if (refers(e.kind)) {
      renumber(&e.from, where);
      renumber(&e.to, where);
    }
    sorted[i] = e;
  }
  memcpy(m->entities.items, sorted, n * sizeof *sorted);
  free(sorted);
}

static void sort_entities(Merger *m) {
  size_t n = m->entities.len;
  if (!n)
    return;
  uint32_t *order = mem_array(uint32_t, n), *where = mem_array(uint32_t, n);
  for (uint32_t i = 0; i < n; i++)
    order[i] = i;
  qsort_r(order, n, sizeof *order, by_content, m);
  for (uint32_t i = 0; i < n; i++)
    where[order[i]] = i;
  reorder(m, order, where);
  for (EntityKind k = 0; k < ENTITY_KINDS; k++)
    for (size_t i = 0; m->places[k] && i < count_numbers(m->found, k); i++)
      m->places[k][i] = where[m->places[k][i]];
  free(order);
  free(where);
}

// --- storing ----------------------------------------------------------------

static int store_run(const Merger *m, Store *store, int64_t session,
                     const FoundRun *run, const uint32_t *ids, Err *err) {
  Bitset hits[ENTITY_KINDS] = {0};
  for (EntityKind k = 0; k < ENTITY_KINDS; k++)
    for (uint32_t i = 0; m->places[k] && bitset_next(&run->hits[k], &i); i++)
      bitset_add(&hits[k], ids[m->places[k][i]]);
  int rc = store_add_close(store, session, run->test, run->stratum, hits,
                           run->wrong ? run->wrong : "", err);
  for (EntityKind k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&hits[k]);
  return rc;
}

static int store_all(const Merger *m, Store *store, int64_t session,
                     const FoundRun *runs, size_t n, const char *ended,
                     Err *err) {
  Unit unit = {.name = "(closer look)",
               .sources = m->sources.items,
               .nsources = m->sources.len,
               .entities = m->entities.items,
               .nentities = m->entities.len};
  uint32_t *ids = mem_array(uint32_t, m->entities.len + 1);
  int rc = store_forget_close(store, session, err);
  if (!rc && n)
    rc = store_add_unit(store, session, &unit, ids, err);
  for (size_t i = 0; !rc && i < n; i++)
    rc = store_run(m, store, session, &runs[i], ids, err);
  if (!rc)
    rc = session_set_close(store, session, ended, err);
  free(ids);
  return rc;
}

int found_store(FoundUnit *f, Store *store, int64_t session,
                const FoundRun *runs, size_t n, const char *ended, Err *err) {
  Merger m = {.found = f};
  for (EntityKind k = 0; k < ENTITY_KINDS; k++)
    if (CLOSE_KINDS & 1u << k)
      merge_kind(&m, k, runs, n);
  sort_entities(&m);
  int rc = store_bulk_begin(store, err);
  if (!rc) {
    Err ignored;
    rc = store_all(&m, store, session, runs, n, ended, err);
    rc = store_bulk_end(store, !rc, rc ? &ignored : err) ? -1 : rc;
  }
  merger_release(&m);
  return rc;
}
