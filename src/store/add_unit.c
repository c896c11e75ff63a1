// Adding units to a session, and giving their entities ids.
//
//   unit a.o:  a.c:3 a.c:4 f  f.b0 f.e0      ids 0 1 2 3 4
//   unit b.o:  a.h:9 a.c:3 g  g.b0 g.e0      ids 5 0 6 7 8
//
// Ids are numbers from 0 within a session: spectra stay short, and pruning a
// session frees its ids with it. A statement (source, line) and a function
// (source, line, name) have one id in all units of the session; all else is
// known by its unit and always new. New ids are given kind by kind, so that the
// spectrum of one kind lies close together.
//
// The rows of a unit (unit, unit_source, entity) are written once, whichever
// session sees it first; a session adds only its list of ids. A unit is known
// by a fingerprint of all it says, not by its UnitId alone: another version of
// culprit-cc may see other entities in the same text.
//
// Memory: the Registry in the Store holds all of this for one session. It is
// dropped after any failure and read again from the file when needed.
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "store/internal.h"
#include "util/mem.h"

// --- which unit is it -------------------------------------------------------

static void add_text(Str *out, const char *s) {
  str_addn(out, s ? s : "\xff", s ? strlen(s) + 1 : 1);
}

static UnitId fingerprint(const Unit *unit) {
  Str all = {0};
  str_addn(&all, &unit->id, sizeof unit->id);
  add_text(&all, unit->name);
  str_addn(&all, &unit->nsources, sizeof unit->nsources);
  for (size_t i = 0; i < unit->nsources; i++)
    add_text(&all, unit->sources[i].path);
  for (size_t i = 0; i < unit->nentities; i++) {
    const Entity *e = &unit->entities[i];
    uint32_t numbers[] = {e->kind,     e->source, e->line, e->col_lo, e->col_hi,
                          e->function, e->index,  e->from, e->to};
    str_addn(&all, numbers, sizeof numbers);
    add_text(&all, e->name);
    add_text(&all, e->text);
  }
  str_addn(&all, unit->standings, unit->nstandings * sizeof(Standing));
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(all.data, all.len));
  str_release(&all);
  UnitId id;
  static_assert(sizeof id.bytes == sizeof hash.digest, "both 128 bits");
  memcpy(id.bytes, hash.digest, sizeof id.bytes);
  return id;
}

// --- the registry ----------------------------------------------------------

void registry_release(Registry *r) {
  hashmap_release(&r->sources);
  array_release(&r->hashes);
  hashmap_release(&r->units);
  for (size_t i = 0; i < r->ids.len; i++)
    free(r->ids.items[i].items);
  array_release(&r->ids);
  hashmap_release(&r->shared);
  *r = (Registry){0};
}

static void remember_source(void *ctx, const char *path, uint64_t hash) {
  Registry *r = ctx;
  hashmap_put(&r->sources, path, strlen(path), r->hashes.len);
  array_push(&r->hashes, hash);
}

static uint32_t source_number(const Registry *r, const char *path) {
  uint64_t n;
  return hashmap_get(&r->sources, path, strlen(path), &n) ? (uint32_t)n
                                                          : ENTITY_NONE;
}

static bool is_shared(const Entity *e) {
  return e->kind == ENTITY_STATEMENT || e->kind == ENTITY_FUNCTION;
}

// The id under which the session knows a statement or function; `fresh` if it
// does not know it yet.
static uint32_t shared_id(Registry *r, const Entity *e, uint32_t source,
                          uint32_t fresh, Str *key) {
  str_clear(key);
  str_addn(key, &source, sizeof source);
  str_addn(key, &e->line, sizeof e->line);
  if (e->kind == ENTITY_FUNCTION)
    str_add(key, e->name);
  else
    str_addc(key, '\0'); // no function is called that
  return (uint32_t)hashmap_intern(&r->shared, key->data, key->len, fresh);
}

static void remember_unit(Registry *r, const Unit *unit, uint32_t *ids) {
  hashmap_put(&r->units, unit->id.bytes, sizeof unit->id.bytes, r->ids.len);
  array_push(&r->ids, (IdList){ids, unit->nentities});
}

static int relearn_unit(void *ctx, const Unit *unit, const uint32_t *ids,
                        Err *err) {
  (void)err;
  Registry *r = ctx;
  Str key = {0};
  for (size_t i = 0; i < unit->nentities; i++) {
    const Entity *e = &unit->entities[i];
    if (is_shared(e))
      shared_id(r, e, source_number(r, unit->sources[e->source].path), ids[i],
                &key);
  }
  str_release(&key);
  remember_unit(r, unit, mem_dup(ids, unit->nentities * sizeof *ids));
  return 0;
}

static int read_registry(Store *s, int64_t session, Err *err) {
  Arena names = {0};
  Registry *r = &s->registry;
  registry_release(r);
  int rc = session_each_source(s, session, remember_source, r, err);
  if (!rc)
    rc = session_each_unit(s, session, &names, relearn_unit, r, err);
  arena_release(&names);
  return rc;
}

// Makes the registry show the session as it is now, inside a transaction.
static int refresh_registry(Store *s, int64_t session, Err *err) {
  DbQuery q;
  if (query_start(&q, &s->db,
                  "SELECT revision, entities FROM session WHERE id = ?",
                  VALUES(v_int(session)), err))
    return -1;
  int rc = query_next(&q, err);
  int64_t revision = rc > 0 ? query_int(&q, 0) : 0;
  uint32_t nentities = rc > 0 ? query_u32(&q, 1) : 0;
  bool bad = q.bad;
  query_end(&q);
  if (rc < 0)
    return -1;
  if (bad)
    return db_corrupt(&s->db, err, "impossible value in table session");
  if (rc == 0)
    return err_set(err, "%s: session %lld is no longer there; run again",
                   s->db.path, (long long)session);
  Registry *r = &s->registry;
  if (r->session == session && r->revision == revision)
    return 0;
  if (read_registry(s, session, err))
    return -1;
  r->session = session;
  r->revision = revision;
  r->nentities = nentities;
  return 0;
}

// --- sources ---------------------------------------------------------------

static int refuse_mix(const char *path, const Unit *unit, Err *err) {
  return err_set(err,
                 "%s differs between two builds in this session (it was "
                 "changed before %s was compiled); rebuild everything, or "
                 "start afresh with `culprit run`",
                 path, unit->name ? unit->name : "a unit");
}

static int add_source(Store *s, int64_t session, const Unit *unit,
                      const Source *source, Err *err) {
  Registry *r = &s->registry;
  uint32_t n = source_number(r, source->path);
  if (n == ENTITY_NONE) {
    n = (uint32_t)r->hashes.len;
    remember_source(r, source->path, source->hash);
    return db_run(&s->db, "INSERT INTO session_source VALUES (?, ?, ?, ?)",
                  VALUES(v_int(session), v_int(n), v_text(source->path),
                         v_int((int64_t)source->hash)),
                  err);
  }
  if (!source->hash || source->hash == r->hashes.items[n])
    return 0;
  if (r->hashes.items[n])
    return refuse_mix(source->path, unit, err);
  r->hashes.items[n] = source->hash; // it could not be read before
  return db_run(&s->db,
                "UPDATE session_source SET hash = ?"
                " WHERE session = ? AND n = ?",
                VALUES(v_int((int64_t)source->hash), v_int(session), v_int(n)),
                err);
}

// --- the rows of a unit ----------------------------------------------------

static Value v_ref(uint32_t ref) {
  return ref == ENTITY_NONE ? v_text(NULL) : v_int(ref);
}

static int insert_entity(Store *s, int64_t row, size_t n, const Entity *e,
                         Err *err) {
  return db_queue(
      &s->db,
      "INSERT INTO entity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      VALUES(v_int(row), v_int((int64_t)n), v_text(entity_kind_name(e->kind)),
             v_int(e->source), v_int(e->line), v_int(e->col_lo),
             v_int(e->col_hi), v_ref(e->function), v_int(e->index),
             v_ref(e->from), v_ref(e->to), v_text(e->name), v_text(e->text)),
      err);
}

static int insert_unit(Store *s, const Unit *unit, int64_t *row, Err *err) {
  if (db_insert(
          &s->db,
          "INSERT INTO unit (hash, name, entities, standings)"
          " VALUES (?, ?, ?, ?) RETURNING id",
          VALUES(v_blob(unit->id.bytes, sizeof unit->id.bytes),
                 v_text(unit->name ? unit->name : ""),
                 v_int((int64_t)unit->nentities),
                 v_blob(unit->standings, unit->nstandings * sizeof(Standing))),
          row, err))
    return -1;
  for (size_t i = 0; i < unit->nsources; i++)
    if (db_queue(&s->db, "INSERT INTO unit_source VALUES (?, ?, ?)",
                 VALUES(v_int(*row), v_int((int64_t)i),
                        v_text(unit->sources[i].path)),
                 err))
      return -1;
  for (size_t i = 0; i < unit->nentities; i++)
    if (insert_entity(s, *row, i, &unit->entities[i], err))
      return -1;
  return 0;
}

static int find_unit(Store *s, const Unit *unit, int64_t *row, Err *err) {
  DbQuery q;
  if (query_start(&q, &s->db, "SELECT id FROM unit WHERE hash = ?",
                  VALUES(v_blob(unit->id.bytes, sizeof unit->id.bytes)), err))
    return -1;
  int rc = query_next(&q, err);
  if (rc > 0)
    *row = query_int(&q, 0);
  query_end(&q);
  return rc;
}

// --- ids -------------------------------------------------------------------

static void give_ids(Registry *r, const Unit *unit, uint32_t *ids) {
  Str key = {0};
  for (EntityKind kind = 0; kind < ENTITY_KINDS; kind++) {
    for (size_t i = 0; i < unit->nentities; i++) {
      const Entity *e = &unit->entities[i];
      if (e->kind != kind)
        continue;
      uint32_t id = r->nentities;
      if (is_shared(e))
        id = shared_id(r, e, source_number(r, unit->sources[e->source].path),
                       id, &key);
      if (id == r->nentities)
        r->nentities++;
      ids[i] = id;
    }
  }
  str_release(&key);
}

static int insert_session_unit(Store *s, int64_t session, int64_t row,
                               const Unit *unit, Err *err) {
  Registry *r = &s->registry;
  if (unit->nentities >= ENTITY_NONE - r->nentities)
    return err_set(err, "%s: too many entities in one session", s->db.path);
  uint32_t *ids = mem_array(uint32_t, unit->nentities);
  give_ids(r, unit, ids);
  int rc = db_run(&s->db, "INSERT INTO session_unit VALUES (?, ?, ?, ?)",
                  VALUES(v_int(session), v_int((int64_t)r->ids.len), v_int(row),
                         v_blob(ids, unit->nentities * sizeof *ids)),
                  err);
  remember_unit(r, unit, ids);
  return rc;
}

// --- adding ----------------------------------------------------------------

static const IdList *known_ids(const Registry *r, const Unit *unit) {
  uint64_t n;
  if (!hashmap_get(&r->units, unit->id.bytes, sizeof unit->id.bytes, &n))
    return NULL;
  return &r->ids.items[n];
}

// Nothing new at all: the session has the unit and the same sources.
static bool is_old_news(const Registry *r, int64_t session, const Unit *unit) {
  if (r->session != session || !known_ids(r, unit))
    return false;
  for (size_t i = 0; i < unit->nsources; i++) {
    uint32_t n = source_number(r, unit->sources[i].path);
    uint64_t hash = unit->sources[i].hash;
    if (n == ENTITY_NONE || (hash && hash != r->hashes.items[n]))
      return false;
  }
  return true;
}

static int add_unit(Store *s, int64_t session, const Unit *unit, Err *err) {
  if (refresh_registry(s, session, err))
    return -1;
  for (size_t i = 0; i < unit->nsources; i++)
    if (add_source(s, session, unit, &unit->sources[i], err))
      return -1;
  if (!known_ids(&s->registry, unit)) {
    int64_t row;
    int found = find_unit(s, unit, &row, err);
    if (found < 0 || (!found && insert_unit(s, unit, &row, err)) ||
        insert_session_unit(s, session, row, unit, err))
      return -1;
  }
  return db_run(&s->db,
                "UPDATE session SET entities = ?, revision = ? WHERE id = ?",
                VALUES(v_int(s->registry.nentities),
                       v_int(++s->registry.revision), v_int(session)),
                err);
}

typedef struct {
  Store *store;
  int64_t session;
  const Unit *unit;
  bool again; // the registry knows what was not stored
} UnitWork;

static int write_unit(void *ctx, Err *err) {
  UnitWork *w = ctx;
  if (w->again)
    registry_release(&w->store->registry);
  w->again = true;
  return add_unit(w->store, w->session, w->unit, err);
}

static int write_new_unit(Store *s, int64_t session, const Unit *unit,
                          Err *err) {
  UnitWork w = {s, session, unit, false};
  int rc = db_write(&s->db, DB_ALONE, write_unit, &w, err);
  if (rc)
    registry_release(&s->registry); // it may know what was not written
  return rc;
}

int store_copy_unit(Store *s, int64_t session, const Unit *unit, uint32_t *ids,
                    Err *err) {
  assert(session > 0);
  if (!unit_sound(unit))
    return err_set(err, "%s: its map is damaged; compile it again",
                   unit->name ? unit->name : "a unit");
  if (!is_old_news(&s->registry, session, unit) &&
      write_new_unit(s, session, unit, err))
    return -1;
  const IdList *known = known_ids(&s->registry, unit);
  if (known->len != unit->nentities)
    return db_corrupt(&s->db, err, "%s has another number of entities here",
                      unit->name ? unit->name : "a unit");
  if (known->len)
    memcpy(ids, known->items, known->len * sizeof *ids);
  return 0;
}

int store_add_unit(Store *s, int64_t session, const Unit *given, uint32_t *ids,
                   Err *err) {
  Unit unit = *given;
  unit.id = fingerprint(given);
  return store_copy_unit(s, session, &unit, ids, err);
}
