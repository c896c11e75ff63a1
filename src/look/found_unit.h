// What a closer look has found: the relations and pairs that some run showed, as
// one unit of the session. The other ones that a program has are as many as its
// code is long, and say nothing.
//
//   FoundUnit *found = found_new();
//   Collector *c = collector_new(found_assign, found);
//   ... bits of runs, in numbers of ours ...
//   found_store(found, store, session, runs, n, &err);
//   found_free(found);
//
// The units that found_assign got must stay until then.
#ifndef CULPRIT_LOOK_FOUND_UNIT_H
#define CULPRIT_LOOK_FOUND_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/suite.h"
#include "store/store.h"
#include "util/bitset.h"
#include "util/err.h"

typedef struct FoundUnit FoundUnit;

FoundUnit *found_new(void);
void found_free(FoundUnit *f);

// An AssignIds: numbers entities, those of each kind from 0.
int found_assign(void *found, const Unit *unit, uint32_t *ids, Err *err);
// The number of a pair of statements.
uint32_t found_pair(void *found, uint32_t definition, uint32_t use);
// The variable of a pair, as the source names it; of several the first by name.
void found_name(FoundUnit *f, uint32_t pair, const char *name);

// The number of the statement on a line; false: there is none. A slice has the
// number of its statement.
bool found_statement(FoundUnit *f, const char *source, uint32_t line,
                     uint32_t *number);

// A source file whose text was another when the session's programs were built:
// what is told of its lines would be wrong. NULL: there is none.
const char *found_changed(const FoundUnit *f, const Suite *suite);
// The same of one unit.
const char *found_changed_source(const Unit *unit, const Suite *suite);

// A run that was looked at; its bits are in our numbers.
typedef struct {
  char *test;
  size_t place; // in the sample
  CloseStratum stratum;
  Bitset hits[ENTITY_KINDS]; // of CLOSE_KINDS
  char
      *wrong; // where its output is first wrong (model/wrong_byte.h); NULL: not
              // known
} FoundRun;

void found_run_release(FoundRun *r);

// Replaces what an earlier look stored in the session, all at once or not at
// all. `ended`: Suite.close.
int found_store(FoundUnit *f, Store *store, int64_t session,
                const FoundRun *runs, size_t n, const char *ended, Err *err);

#endif
