// Translates the record of a request into a Run: see php_scripts.h.
#include "php/source/php_scripts.h"

#include <stdlib.h>
#include <string.h>

#include "php/source/template_map.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/hashmap.h"
#include "util/mem.h"

typedef struct {
  const Unit *unit;
  uint32_t *ids; // NULL: it cannot be used, because of
  char *problem;
} Script;

struct Scripts {
  const char *maps;
  AssignIds *assign;
  void *ctx;
  ARRAY(Script) scripts;
  Hashmap index; // UnitId -> index
  Arena arena;   // units
};

Scripts *scripts_new(const char *maps, AssignIds *assign, void *ctx) {
  Scripts *s = mem_new(Scripts);
  s->maps = mem_strdup(maps);
  s->assign = assign;
  s->ctx = ctx;
  return s;
}

void scripts_free(Scripts *s) {
  if (!s)
    return;
  for (size_t i = 0; i < s->scripts.len; i++) {
    free(s->scripts.items[i].ids);
    free(s->scripts.items[i].problem);
  }
  array_release(&s->scripts);
  hashmap_release(&s->index);
  arena_release(&s->arena);
  free((char *)s->maps);
  free(s);
}

static Script load(Scripts *s, const UnitId *id) {
  Err err = {0};
  Unit *unit = arena_new(&s->arena, Unit);
  Script script = {.unit = unit};
  bool good = !template_unit_read(s->maps, id, unit, &s->arena, &err);
  if (good) {
    script.ids = mem_array(uint32_t, unit->nentities);
    good = !s->assign(s->ctx, unit, script.ids, &err);
  }
  if (!good) {
    free(script.ids);
    script.ids = NULL;
    script.problem = mem_strdup(err.text);
  }
  return script;
}

static const Script *find(Scripts *s, const UnitId *id) {
  uint64_t fresh = s->scripts.len;
  uint64_t i = hashmap_intern(&s->index, id, sizeof *id, fresh);
  if (i == fresh) {
    Script script = load(s, id);
    array_push(&s->scripts, script);
  }
  return &s->scripts.items[i];
}

// --- one request ------------------------------------------------------------

// Each reason once: several scripts may lack the same.
static void add_note(Run *run, const char *text) {
  if (!run->note || !strstr(run->note, text))
    run_add_note(run, "%s", text);
}

static void add_count(Run *run, const Script *script, const EntityCount *c) {
  EntityKind kind = script->unit->entities[c->entity].kind;
  uint32_t id = script->ids[c->entity];
  bitset_add(&run->hits[kind], id);
  if (kind == ENTITY_CONDITION || kind == ENTITY_RETURN)
    array_push(&run->counts, (EntityCount){id, c->count});
}

static void add_script(Scripts *s, const ScriptHits *hits, Run *run) {
  const Script *script = find(s, &hits->unit);
  if (!script->ids) {
    add_note(run, script->problem);
    return;
  }
  run->processes = 1;
  for (size_t i = 0; i < hits->ncounts; i++) {
    if (hits->counts[i].entity < script->unit->nentities)
      add_count(run, script, &hits->counts[i]);
    else
      add_note(run, "a record names entities that its script does not have");
  }
}

static int by_entity(const void *a, const void *b) {
  const EntityCount *x = a, *y = b;
  return x->entity < y->entity ? -1 : x->entity > y->entity;
}

// One script may be compiled twice in a request.
static void sort_counts(Run *run) {
  size_t n = 0;
  EntityCount *c = run->counts.items;
  if (!run->counts.len)
    return;
  qsort(c, run->counts.len, sizeof *c, by_entity);
  for (size_t i = 1; i < run->counts.len; i++) {
    if (c[i].entity == c[n].entity)
      c[n].count += c[i].count;
    else
      c[++n] = c[i];
  }
  run->counts.len = n + 1;
}

// Where the request was when it ended without coming to its end.
static void add_death(Scripts *s, const PhpRecord *record, Run *run) {
  if (record->finished || record->last_script >= record->nscripts)
    return;
  const Script *script = find(s, &record->scripts[record->last_script].unit);
  if (!script->ids || record->last_entity >= script->unit->nentities)
    return;
  const Entity *e = &script->unit->entities[record->last_entity];
  Death death = {.file = mem_strdup(script->unit->sources[e->source].path),
                 .line = e->line,
                 .function = mem_strdup(""),
                 .how = mem_strdup("ended in the middle"),
                 .exact = true};
  array_push(&run->deaths, death);
}

void scripts_collect(Scripts *s, const PhpRecord *record, Run *run) {
  for (size_t i = 0; i < record->nscripts; i++)
    add_script(s, &record->scripts[i], run);
  add_death(s, record, run);
  sort_counts(run);
  if (record->note)
    add_note(run, record->note);
  if (!record->finished)
    run->imprecise = true;
}
