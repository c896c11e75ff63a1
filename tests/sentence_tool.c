// sentence_tool STORE: what the newest session of a store says about every
// outcome of every condition, for tests/check-sentences to compare with other
// tools. A line each, tabs between:
//
//   file  line  column  sentence  names of the tests that it is true of
#include <stdio.h>

#include "report/evidence.h"
#include "store/store.h"
#include "util/bitset.h"
#include "util/mem.h"

typedef struct {
  const Suite *suite;
  Str *tests; // per entity
} Saying;

static void add_run(void *ctx, size_t run, const Spectra *spectra) {
  Saying *s = ctx;
  const Bitset *hits = &spectra->hits[ENTITY_CONDITION];
  for (uint32_t i = 0; bitset_next(hits, &i); i++)
    str_addf(&s->tests[i], s->tests[i].len ? " %s" : "%s",
             s->suite->runs[run].test);
}

static void print_all(const Saying *s) {
  for (uint32_t i = 0; i < s->suite->nentities; i++) {
    const Entity *e = &s->suite->entities[i];
    Str text = {0};
    if (e->kind != ENTITY_CONDITION)
      continue;
    evidence_tuple(s->suite, i, &text);
    printf("%s\t%u\t%u\t%s\t%s\n", s->suite->sources[e->source].path, e->line,
           e->col_lo, str_text(&text), str_text(&s->tests[i]));
    str_release(&text);
  }
}

static int say(Store *store, Err *err) {
  Suite suite = {0};
  if (store_load(store, 0, &suite, err))
    return -1;
  Saying s = {&suite, mem_array(Str, suite.nentities + 1)};
  int rc = store_each_spectra(store, &suite, 1u << ENTITY_CONDITION, add_run,
                              &s, err);
  if (!rc)
    print_all(&s);
  for (size_t i = 0; i < suite.nentities; i++)
    str_release(&s.tests[i]);
  free(s.tests);
  suite_release(&suite);
  return rc;
}

int main(int argc, char **argv) {
  Store *store;
  Err err;
  if (argc != 2)
    return 2;
  if (store_open(&store, argv[1], STORE_EXISTING, &err)) {
    fprintf(stderr, "%s\n", err.text);
    return 3;
  }
  int rc = say(store, &err);
  if (rc)
    fprintf(stderr, "%s\n", err.text);
  store_close(store);
  return rc ? 3 : 0;
}
