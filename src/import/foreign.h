// The result of an import, whatever its format: units, runs and verdicts.
// All of it is in memory before anything is stored, and it is stored in one
// transaction: an import that fails leaves the store as it was.
#ifndef CULPRIT_IMPORT_FOREIGN_H
#define CULPRIT_IMPORT_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "model/run.h"
#include "store/store.h"
#include "util/arena.h"
#include "util/array.h"
#include "verdict/verdict.h"

typedef struct {
  Unit unit;
  uint32_t *ids;      // of its entities: what the hits of the runs speak of
  const char *origin; // the store it was read from; NULL: a coverage file
} ForeignUnit;

typedef struct {
  ARRAY(ForeignUnit) units;
  ARRAY(Run) runs; // hits: ids of `units`
  uint32_t nids;   // all ids are below
  bool judged;     // the runs have their verdicts and failures already
  Verdicts verdicts;
  Arena arena; // owns the units
} Foreign;

void foreign_release(Foreign *f);

// What foreign_judge found out, for the summary: names of tests, in f's memory.
typedef struct {
  ARRAY(const char *) unjudged;  // no verdict names them
  ARRAY(const char *) ambiguous; // several do
  ARRAY(const char *) uncovered; // verdicts without coverage
} Judgement;

void judgement_release(Judgement *j);

// Gives the runs their verdicts. A run without one is in error; a verdict
// without a run becomes a run without spectrum.
void foreign_judge(Foreign *f, Judgement *out);

// Stores everything: a new session, or added to the newest, where a run with a
// spectrum replaces an earlier one of the same test. Then the store holds all
// of it, or nothing of it.
typedef struct {
  const char *command, *cwd; // of the session
  bool add;
  int64_t session; // out
  size_t replaced; // out: runs of tests the session had already
} ForeignTarget;
int foreign_store(const Foreign *f, Store *s, ForeignTarget *t, Err *err);

#endif
