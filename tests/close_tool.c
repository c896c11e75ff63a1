// close_tool PROGRAM RUN-DIR: what a close build recorded of a run, for
// tests/check-close to compare with other sources. A line each, tabs before the
// name of the variable (of pairs), before columns and clause (of relations):
//
//   pair FILE:LINE FILE:LINE                         NAME
//   relation FILE:LINE FUNCTION NUMBER KIND OUTCOME  FIRST-LAST  CLAUSE
//
// NUMBER counts the sites of the function on the line, from 1.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/access.h"
#include "program/runfile.h"
#include "util/array.h"
#include "util/mem.h"
#include "util/str.h"

// Entities of all units, by their ids; pairs are added as they come.
typedef struct {
  const Source *sources; // of its unit
  Entity entity;         // indexes as in its unit
  uint32_t base;         // id of the unit's first entity
} Known;

typedef struct {
  ARRAY(Known) known;
} Table;

static int assign_ids(void *ctx, const Unit *unit, uint32_t *ids, Err *err) {
  (void)err;
  Table *t = ctx;
  uint32_t base = (uint32_t)t->known.len;
  for (uint32_t i = 0; i < unit->nentities; i++) {
    ids[i] = base + i;
    array_push(&t->known, (Known){unit->sources, unit->entities[i], base});
  }
  return 0;
}

static uint32_t take_pair(void *ctx, uint32_t def, uint32_t use) {
  Table *t = ctx;
  Entity e = {.kind = ENTITY_PAIR, .from = def, .to = use};
  array_push(&t->known, (Known){.entity = e});
  return (uint32_t)t->known.len - 1;
}

static void print_place(const Table *t, uint32_t id) {
  const Known *k = &t->known.items[id];
  printf(" %s:%u", k->sources[k->entity.source].path, k->entity.line);
}

static void print_name(const Table *t, const Entity *pair) {
  Str name = {0};
  access_name(t->known.items[pair->from].entity.text,
              t->known.items[pair->to].entity.text, &name);
  printf("\t%s\n", str_text(&name));
  str_release(&name);
}

static const char *outcome_name(uint32_t outcome) {
  static const char *const names[RELATION_OUTCOMES] = {
      "less",     "equal", "greater",  "unordered", "null",    "non-null",
      "negative", "zero",  "positive", "same",      "changed", "different"};
  return names[outcome];
}

// Entities of a function's sites follow each other in the order of sites.
static unsigned number_on_line(const Table *t, uint32_t id) {
  const Known *k = &t->known.items[id];
  uint32_t last = UINT32_MAX;
  unsigned n = 0;
  for (uint32_t i = k->base; i <= id; i++) {
    const Entity *e = &t->known.items[i].entity;
    if (e->kind == ENTITY_RELATION && e->function == k->entity.function &&
        e->source == k->entity.source && e->line == k->entity.line &&
        e->index != last) {
      last = e->index;
      n++;
    }
  }
  return n;
}

static void print_relation(const Table *t, uint32_t id) {
  const Known *k = &t->known.items[id];
  const Entity *e = &k->entity;
  printf("relation");
  print_place(t, id);
  printf(" %s %u %s %s\t%u-%u\t%s\n",
         t->known.items[k->base + e->function].entity.name,
         number_on_line(t, id), e->name, outcome_name(e->from), e->col_lo,
         e->col_hi, e->text ? e->text : "");
}

static void print_all(const Table *t, const Run *run) {
  const Bitset *pairs = &run->hits[ENTITY_PAIR];
  const Bitset *relations = &run->hits[ENTITY_RELATION];
  for (uint32_t i = 0; bitset_next(pairs, &i); i++) {
    printf("pair");
    print_place(t, t->known.items[i].entity.from);
    print_place(t, t->known.items[i].entity.to);
    print_name(t, &t->known.items[i].entity);
  }
  for (uint32_t i = 0; bitset_next(relations, &i); i++)
    print_relation(t, i);
}

int main(int argc, char **argv) {
  Table table = {0};
  Run run = {0};
  Err err;
  if (argc != 3)
    return 2;
  Collector *c = collector_new(assign_ids, &table);
  collector_take_pairs(c, take_pair, &table);
  int rc = collector_add_program(c, argv[1], &err);
  if (!rc)
    rc = collector_collect(c, argv[2], &run, &err);
  if (rc)
    fprintf(stderr, "%s\n", err.text);
  else
    print_all(&table, &run);
  if (run.note)
    fprintf(stderr, "%s\n", run.note);
  collector_free(c);
  run_release(&run);
  array_release(&table.known);
  return rc ? 3 : 0;
}
