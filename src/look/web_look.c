// A closer look at the requests of a session: see web_look.h.
#include "look/web_look.h"

#include <stdlib.h>
#include <string.h>

#include "look/close_sample.h"
#include "look/found_unit.h"
#include "look/script_slice.h"
#include "php/record/record_format.h"
#include "php/source/template_map.h"
#include "util/clock.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/stop.h"

// A script and version of its text.
typedef struct {
  Unit *unit; // NULL: its map cannot be read
  ScriptControl *control;
  uint32_t *numbers; // of the entities, each kind's own (found_unit.h)
} LookScript;

// A relation; identifies it by script, function, site, outcome.
typedef struct {
  uint32_t script, function, site, outcome;
} RelationKey;

typedef struct {
  RelationKey key;
  uint32_t line;
  uint32_t source; // in the unit of its script
  unsigned kind;
  const char *text;
} LookRelation;

struct WebLook {
  Store *store;
  const char *maps;
  Suite suite;
  CloseSample sample;
  Hashmap places;          // names of tests -> place in the sample
  const char **signatures; // by run: of one of its failures; NULL: none
  bool *taken;             // by place
  double start, end;
  bool late;
  ARRAY(LookScript) scripts;
  Hashmap script_index; // UnitId -> script
  ARRAY(LookRelation) relations;
  Hashmap relation_index;
  FoundUnit *found;
  ARRAY(FoundRun) kept;
  CloseLookResult result;
  Arena arena; // units, texts
};

// --- the sample -------------------------------------------------------------

static void index_session(WebLook *w) {
  const Suite *s = &w->suite;
  w->signatures = arena_array(&w->arena, const char *, s->nruns + 1);
  w->taken = arena_array(&w->arena, bool, w->sample.len + 1);
  for (size_t i = 0; i < s->nfailures; i++)
    for (size_t k = 0; k < s->failures[i].nruns; k++)
      w->signatures[s->failures[i].runs[k]] = s->failures[i].signature;
  for (size_t i = 0; i < s->nruns; i++) {
    w->result.of_failing += s->runs[i].verdict == VERDICT_FAIL;
    w->result.of_passing += s->runs[i].verdict == VERDICT_PASS;
  }
  for (size_t i = 0; i < w->sample.len; i++) {
    const char *test = web_look_test(w, i);
    hashmap_put(&w->places, test, strlen(test), i);
  }
}

WebLook *web_look_new(Store *store, int64_t session, double seconds,
                      const char *maps, Err *err) {
  WebLook *w = mem_new(WebLook);
  w->store = store;
  w->start = clock_now();
  w->end = w->start + seconds;
  w->maps = arena_strdup(&w->arena, maps);
  w->found = found_new();
  w->result.ended = "";
  if (store_load(store, session, &w->suite, err) ||
      close_sample_draw(store, &w->suite, &w->sample, err)) {
    web_look_free(w);
    return NULL;
  }
  index_session(w);
  return w;
}

static void release_script(LookScript *s) {
  script_control_free(s->control);
  free(s->numbers);
}

void web_look_free(WebLook *w) {
  if (!w)
    return;
  for (size_t i = 0; i < w->scripts.len; i++)
    release_script(&w->scripts.items[i]);
  for (size_t i = 0; i < w->kept.len; i++)
    found_run_release(&w->kept.items[i]);
  array_release(&w->scripts);
  array_release(&w->kept);
  array_release(&w->relations);
  array_release(&w->sample);
  hashmap_release(&w->places);
  hashmap_release(&w->script_index);
  hashmap_release(&w->relation_index);
  found_free(w->found);
  suite_release(&w->suite);
  arena_release(&w->arena);
  free(w);
}

bool web_look_is_due(const WebLook *w) {
  return w->result.of_failing > 0 && w->result.of_passing > 0;
}

void web_look_note(WebLook *w, const char *problem) {
  char *note = mem_printf("the closer look ended early: %s", problem);
  array_push(&w->result.notes, note);
}

size_t web_look_length(const WebLook *w) { return w->sample.len; }

const char *web_look_test(const WebLook *w, size_t i) {
  return w->suite.runs[w->sample.items[i].run].test;
}

bool web_look_wants(const WebLook *w, const char *test) {
  uint64_t place;
  return hashmap_get(&w->places, test, strlen(test), &place) &&
         !w->taken[place];
}

bool web_look_goes_on(WebLook *w) {
  w->late |= clock_now() >= w->end;
  w->result.interrupted |= stop_requested();
  return !w->late && !w->result.interrupted;
}

// --- scripts ----------------------------------------------------------------

// An application may write its own scripts (a configuration): of another text
// than the session's, nothing is told.
static LookScript load_script(WebLook *w, const UnitId *id) {
  Err ignored;
  LookScript s = {.unit = arena_new(&w->arena, Unit)};
  if (template_unit_read(w->maps, id, s.unit, &w->arena, &ignored) ||
      memcmp(&s.unit->id, id, sizeof *id) != 0 ||
      found_changed_source(s.unit, &w->suite))
    return (LookScript){0};
  s.numbers = mem_array(uint32_t, s.unit->nentities + 1);
  found_assign(w->found, s.unit, s.numbers, &ignored);
  s.control = script_control_new(s.unit);
  return s;
}

static uint32_t find_script(WebLook *w, const UnitId *id) {
  uint64_t at =
      hashmap_intern(&w->script_index, id, sizeof *id, w->scripts.len);
  if (at == w->scripts.len) {
    LookScript s = load_script(w, id);
    array_push(&w->scripts, s);
  }
  return (uint32_t)at;
}

// --- one run ----------------------------------------------------------------

// The scripts of a record, by their number in it.
typedef struct {
  WebLook *look;
  const PhpRecord *record;
  uint32_t *scripts;
  FoundRun *run;
} LookRun;

// The entity that a place of the record is; NULL: it is none of that kind.
static const Entity *entity_of(const LookRun *r, PhpSpot spot,
                               EntityKind kind) {
  const Unit *u = r->look->scripts.items[r->scripts[spot.script]].unit;
  return u && spot.entity < u->nentities &&
                 u->entities[spot.entity].kind == kind
             ? &u->entities[spot.entity]
             : NULL;
}

static uint32_t number_of(const LookRun *r, PhpSpot spot) {
  return r->look->scripts.items[r->scripts[spot.script]].numbers[spot.entity];
}

static void take_relation(LookRun *r, const PhpRelation *x) {
  WebLook *w = r->look;
  const Entity *statement = entity_of(r, x->statement, ENTITY_STATEMENT);
  if (!statement || !entity_of(r, x->function, ENTITY_FUNCTION) ||
      x->statement.script != x->function.script)
    return;
  RelationKey key = {r->scripts[x->function.script], x->function.entity,
                     x->site, x->outcome};
  uint64_t at =
      hashmap_intern(&w->relation_index, &key, sizeof key, w->relations.len);
  if (at == w->relations.len)
    array_push(&w->relations,
               (LookRelation){.key = key,
                              .line = statement->line,
                              .source = statement->source,
                              .kind = x->kind,
                              .text = arena_strdup(&w->arena, x->text)});
  bitset_add(&r->run->hits[ENTITY_RELATION], (uint32_t)at);
}

static void take_pair(LookRun *r, const PhpPair *x) {
  if (x->kind == PAIR_CALL || !entity_of(r, x->def, ENTITY_STATEMENT) ||
      !entity_of(r, x->use, ENTITY_STATEMENT))
    return;
  uint32_t pair =
      found_pair(r->look->found, number_of(r, x->def), number_of(r, x->use));
  if (x->name)
    found_name(r->look->found, pair, x->name);
  bitset_add(&r->run->hits[ENTITY_PAIR], pair);
}

// The statement on that line of a script of the record.
static void add_place(const LookRun *r, const FailurePlace *p, Spots *spots) {
  for (uint32_t i = 0; i < r->record->nscripts; i++) {
    const Unit *u = r->look->scripts.items[r->scripts[i]].unit;
    uint32_t line = p->statement ? p->statement : p->line;
    for (uint32_t k = 0; u && k < u->nentities; k++)
      if (u->entities[k].kind == ENTITY_STATEMENT &&
          u->entities[k].line == line &&
          !strcmp(u->sources[u->entities[k].source].path, p->file))
        array_push(spots, (PhpSpot){i, k});
  }
}

static void take_slice(LookRun *r, const Run *run) {
  Spots spots = {0};
  for (size_t i = 0; i < run->failures.len; i++)
    for (size_t k = 0; k < run->failures.items[i].places.len; k++)
      if (run->failures.items[i].places.items[k].role != PLACE_BETWEEN)
        add_place(r, &run->failures.items[i].places.items[k], &spots);
  SliceScript *scripts = mem_array(SliceScript, r->record->nscripts + 1);
  for (size_t i = 0; i < r->record->nscripts; i++) {
    const LookScript *s = &r->look->scripts.items[r->scripts[i]];
    scripts[i] = (SliceScript){s->unit, s->control};
  }
  if (spots.len)
    script_slice(scripts, r->record, &spots);
  for (size_t i = 0; i < spots.len; i++)
    bitset_add(&r->run->hits[ENTITY_SLICE], number_of(r, spots.items[i]));
  free(scripts);
  array_release(&spots);
}

static void keep(WebLook *w, size_t place, const Run *run,
                 const PhpRecord *record) {
  FoundRun found = {.test = mem_strdup(run->test),
                    .place = place,
                    .stratum = w->sample.items[place].stratum};
  LookRun r = {.look = w, .record = record, .run = &found};
  r.scripts = mem_array(uint32_t, record->nscripts + 1);
  for (size_t i = 0; i < record->nscripts; i++)
    r.scripts[i] = find_script(w, &record->scripts[i].unit);
  for (size_t i = 0; i < record->nrelations; i++)
    take_relation(&r, &record->relations[i]);
  for (size_t i = 0; i < record->npairs; i++)
    take_pair(&r, &record->pairs[i]);
  if (run->verdict == VERDICT_FAIL)
    take_slice(&r, run);
  free(r.scripts);
  array_push(&w->kept, found);
  w->result.failing += run->verdict == VERDICT_FAIL;
  w->result.passing += run->verdict == VERDICT_PASS;
}

void web_look_take(WebLook *w, const Run *run, const PhpRecord *record) {
  uint64_t place;
  if (!hashmap_get(&w->places, run->test, strlen(run->test), &place) ||
      w->taken[place])
    return;
  w->taken[place] = true;
  uint32_t stored = w->sample.items[place].run;
  if (record && close_ended_alike(w->suite.runs[stored].verdict,
                                  w->signatures[stored], run))
    keep(w, place, run, record);
  else
    w->result.dropped++;
}

// --- storing ----------------------------------------------------------------

static const char *related_name(unsigned kind) {
  static const char *const names[RELATED_KINDS] = {"compare", "store",
                                                   "return"};
  return names[kind];
}

// A script stands in one file, or in its template too.
enum { SOURCES = 2 };

static Source *list_sources(WebLook *w) {
  Source *list = arena_array(&w->arena, Source, SOURCES * w->scripts.len + 1);
  for (size_t i = 0; i < w->scripts.len; i++) {
    const Unit *u = w->scripts.items[i].unit;
    for (size_t k = 0; u && k < SOURCES; k++)
      list[SOURCES * i + k] = u->sources[k < u->nsources ? k : 0];
  }
  return list;
}

// All relations as entities of one unit, in the order of their numbers.
static int assign_relations(WebLook *w, Err *err) {
  size_t n = w->relations.len;
  Unit *u = arena_new(&w->arena, Unit);
  u->name = "(relations)";
  u->sources = list_sources(w);
  u->entities = arena_array(&w->arena, Entity, 2 * n + 1);
  u->nsources = SOURCES * w->scripts.len;
  u->nentities = 2 * n;
  for (uint32_t i = 0; i < n; i++) {
    const LookRelation *r = &w->relations.items[i];
    const Unit *script = w->scripts.items[r->key.script].unit;
    Entity *f = &u->entities[i], *e = &u->entities[n + i];
    *f = script->entities[r->key.function];
    f->source = SOURCES * r->key.script;
    f->function = i;
    *e = (Entity){.kind = ENTITY_RELATION,
                  .source = SOURCES * r->key.script + r->source,
                  .line = r->line,
                  .function = i,
                  .index = r->key.site,
                  .from = r->key.outcome,
                  .to = ENTITY_NONE,
                  .name = related_name(r->kind),
                  .text = r->text};
  }
  uint32_t *ids = mem_array(uint32_t, 2 * n + 1);
  int rc = found_assign(w->found, u, ids, err);
  free(ids);
  return rc;
}

// If most runs end otherwise, what they show is not what happened.
static bool is_hopeless(const WebLook *w) {
  return w->result.dropped > 4 && w->result.dropped > w->kept.len;
}

static int store_kept(WebLook *w, Err *err) {
  CloseLookResult *r = &w->result;
  if (is_hopeless(w)) {
    char *note = mem_printf("no closer look: %zu of %zu requests ended "
                            "otherwise when they were made again",
                            r->dropped, r->dropped + w->kept.len);
    array_push(&r->notes, note);
    return 0;
  }
  if (!r->failing)
    return 0;
  r->ended = r->interrupted ? "interrupted" : w->late ? "budget" : "all";
  if (assign_relations(w, err))
    return -1;
  return found_store(w->found, w->store, w->suite.session, w->kept.items,
                     w->kept.len, r->ended, err);
}

int web_look_store(WebLook *w, CloseLookResult *out, Err *err) {
  int rc = store_kept(w, err);
  w->result.seconds = clock_now() - w->start;
  *out = w->result;
  w->result = (CloseLookResult){.ended = ""};
  return rc;
}
