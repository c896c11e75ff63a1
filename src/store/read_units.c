// Reading units and sources back: used to load a suite, and to find out what a
// session already has before another unit is added to it.
#include <stdlib.h>
#include <string.h>

#include "store/internal.h"
#include "util/mem.h"

// --- soundness -------------------------------------------------------------

static bool ref_sound(uint32_t ref, size_t n) {
  return ref == ENTITY_NONE || ref < n;
}

static bool is_statement(const Unit *u, uint32_t ref) {
  return ref < u->nentities && u->entities[ref].kind == ENTITY_STATEMENT;
}

static bool entity_sound(const Unit *u, const Entity *e) {
  if (e->kind >= ENTITY_KINDS || e->source >= u->nsources ||
      !ref_sound(e->function, u->nentities))
    return false;
  switch (e->kind) {
  case ENTITY_FUNCTION:
    return e->name != NULL;
  case ENTITY_EDGE:
    return ref_sound(e->from, u->nentities) && ref_sound(e->to, u->nentities);
  case ENTITY_STATEMENT:
  case ENTITY_CONDITION: // from: an outcome
  case ENTITY_RETURN:    // from: a class
    return ref_sound(e->to, u->nentities);
  case ENTITY_PAIR:
    return is_statement(u, e->from) && is_statement(u, e->to);
  case ENTITY_SLICE:
    return is_statement(u, e->from);
  case ENTITY_RELATION:
    return e->from < RELATION_OUTCOMES && e->to == ENTITY_NONE;
  default:
    return true;
  }
}

static bool standing_sound(const Unit *u, const Standing *s) {
  return s->statement < u->nentities && s->block < u->nentities &&
         u->entities[s->statement].kind == ENTITY_STATEMENT &&
         u->entities[s->block].kind == ENTITY_BLOCK;
}

bool unit_sound(const Unit *u) {
  for (size_t i = 0; i < u->nentities; i++)
    if (!entity_sound(u, &u->entities[i]))
      return false;
  for (size_t i = 0; i < u->nstandings; i++)
    if (!standing_sound(u, &u->standings[i]))
      return false;
  return u->nentities < ENTITY_NONE;
}

// --- one unit --------------------------------------------------------------

typedef struct {
  Store *store;
  Arena *names;
  ARRAY(Source) sources;
  ARRAY(Entity) entities;
  ARRAY(Standing) standings;
  ARRAY(uint32_t) ids;
  uint32_t seen; // ids given by the units before this one
} Reader;

static void read_source(void *ctx, DbQuery *q) {
  Reader *r = ctx;
  q->bad |= query_u32(q, 0) != r->sources.len;
  const char *path = arena_strdup(r->names, query_text(q, 1));
  array_push(&r->sources, (Source){.path = path});
}

static int read_sources(Reader *r, int64_t unit, Err *err) {
  r->sources.len = 0;
  return query_each(&r->store->db,
                    "SELECT n, path FROM unit_source WHERE unit = ? ORDER BY n",
                    VALUES(v_int(unit)), "unit_source", read_source, r, err);
}

static void read_entity(void *ctx, DbQuery *q) {
  Reader *r = ctx;
  int kind = entity_kind_parse(query_text(q, 1));
  q->bad |= kind < 0 || query_u32(q, 0) != r->entities.len;
  const char *name = query_text_null(q, 10), *text = query_text_null(q, 11);
  Entity e = {
      .kind = kind < 0 ? ENTITY_KINDS : (EntityKind)kind,
      .source = query_u32(q, 2),
      .line = query_u32(q, 3),
      .col_lo = query_u32(q, 4),
      .col_hi = query_u32(q, 5),
      .function = query_u32_or(q, 6, ENTITY_NONE),
      .index = query_u32(q, 7),
      .from = query_u32_or(q, 8, ENTITY_NONE),
      .to = query_u32_or(q, 9, ENTITY_NONE),
      .name = name ? arena_strdup(r->names, name) : NULL,
      .text = text ? arena_strdup(r->names, text) : NULL,
  };
  array_push(&r->entities, e);
}

static int read_entities(Reader *r, int64_t unit, Err *err) {
  r->entities.len = 0;
  return query_each(&r->store->db,
                    "SELECT n, kind, source, line, col_lo, col_hi, function,"
                    " idx, from_, to_, name, text"
                    " FROM entity WHERE unit = ? ORDER BY n",
                    VALUES(v_int(unit)), "entity", read_entity, r, err);
}

// Ids are given in order of first sight: a unit of n entities uses ids that
// earlier units have, and at most n new ones right after them.
static int read_ids(Reader *r, const void *blob, size_t size, Err *err) {
  size_t n = size / sizeof(uint32_t);
  r->ids.len = 0;
  array_reserve(&r->ids, n);
  if (n)
    memcpy(r->ids.items, blob, n * sizeof(uint32_t));
  r->ids.len = n;
  uint64_t limit = (uint64_t)r->seen + n;
  for (size_t i = 0; i < n; i++) {
    uint32_t id = r->ids.items[i];
    if (id >= limit || id == ENTITY_NONE)
      return db_corrupt(&r->store->db, err, "entity id %u out of range", id);
    if (id >= r->seen)
      r->seen = id + 1;
  }
  return 0;
}

static void read_standings(Reader *r, const void *blob, size_t size,
                           Unit *out) {
  size_t n = size / sizeof(Standing);
  r->standings.len = 0;
  array_reserve(&r->standings, n);
  if (n)
    memcpy(r->standings.items, blob, n * sizeof(Standing));
  out->standings = r->standings.items;
  out->nstandings = n;
}

// The row: n, unit id, hash, name, number of entities, ids, standings.
static int read_unit(Reader *r, DbQuery *q, uint32_t n, Unit *out, Err *err) {
  size_t hash_size, ids_size, standings_size;
  int64_t row = query_int(q, 1);
  const void *hash = query_blob(q, 2, &hash_size);
  *out = (Unit){.name = arena_strdup(r->names, query_text(q, 3))};
  uint32_t nentities = query_u32(q, 4);
  const void *ids = query_blob(q, 5, &ids_size);
  const void *standings = query_blob(q, 6, &standings_size);
  if (query_u32(q, 0) != n || q->bad || hash_size != sizeof out->id.bytes ||
      ids_size != nentities * sizeof(uint32_t) ||
      standings_size % sizeof(Standing))
    return query_corrupt(q, "session_unit", err);
  read_standings(r, standings, standings_size, out);
  memcpy(out->id.bytes, hash, hash_size);
  if (read_ids(r, ids, ids_size, err) || read_sources(r, row, err) ||
      read_entities(r, row, err))
    return -1;
  out->sources = r->sources.items;
  out->nsources = r->sources.len;
  out->entities = r->entities.items;
  out->nentities = r->entities.len;
  if (out->nentities != nentities || !unit_sound(out))
    return query_corrupt(q, "entity", err);
  return 0;
}

static int read_units(Reader *r, int64_t session, EachUnit *each, void *ctx,
                      Err *err) {
  DbQuery q;
  if (query_start(&q, &r->store->db,
                  "SELECT session_unit.n, unit.id, hash, name, entities, ids,"
                  " standings FROM session_unit JOIN unit ON unit.id = "
                  "session_unit.unit"
                  " WHERE session = ? ORDER BY session_unit.n",
                  VALUES(v_int(session)), err))
    return -1;
  int rc;
  for (uint32_t n = 0; (rc = query_next(&q, err)) > 0; n++) {
    Unit unit;
    if (read_unit(r, &q, n, &unit, err) ||
        each(ctx, &unit, r->ids.items, err)) {
      rc = -1;
      break;
    }
  }
  query_end(&q);
  return rc;
}

int session_each_unit(Store *s, int64_t session, Arena *names, EachUnit *each,
                      void *ctx, Err *err) {
  Reader r = {.store = s, .names = names};
  int rc = read_units(&r, session, each, ctx, err);
  array_release(&r.sources);
  array_release(&r.entities);
  array_release(&r.standings);
  array_release(&r.ids);
  return rc;
}

// --- sources of a session --------------------------------------------------

typedef struct {
  EachSource *each;
  void *ctx;
  uint32_t n;
} SourceReader;

static void read_session_source(void *ctx, DbQuery *q) {
  SourceReader *r = ctx;
  q->bad |= query_u32(q, 0) != r->n++;
  const char *path = query_text(q, 1);
  uint64_t hash = (uint64_t)query_int(q, 2);
  if (!q->bad)
    r->each(r->ctx, path, hash);
}

int session_each_source(Store *s, int64_t session, EachSource *each, void *ctx,
                        Err *err) {
  SourceReader r = {each, ctx, 0};
  return query_each(&s->db,
                    "SELECT n, path, hash FROM session_source"
                    " WHERE session = ? ORDER BY n",
                    VALUES(v_int(session)), "session_source",
                    read_session_source, &r, err);
}
