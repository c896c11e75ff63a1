// How good a ranking is when the fault is known (--fault): how far down the
// list one must go to meet it.
//
// A line that carries no statement (something is missing there, or it is a
// declaration) is stood for by the nearest statement of its file, of two
// equally near ones the one below.
#ifndef CULPRIT_LOCATE_FAULT_H
#define CULPRIT_LOCATE_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ranking.h"
#include "model/suite.h"
#include "util/array.h"
#include "util/err.h"

// One faulty line.
typedef struct {
  uint32_t source, line; // as given
  uint32_t statement;    // the entity that carries the line or stands for it
  uint32_t listed;       // what is listed for it: that, or its function
} FaultPlace;

typedef struct {
  ARRAY(FaultPlace) places; // each line once
} Fault;

// Adds the lines of "FILE:LINE[,LINE]...". Fails if that is not what `spec`
// looks like, or if FILE names no file or several files with statements.
// `by`: statement or function, nothing else can be looked up.
int fault_add(Fault *f, const Suite *suite, const char *spec, EntityKind by,
              Err *err);
void fault_release(Fault *f);

enum { FAULT_TOPS = 4 };
extern const unsigned fault_tops[FAULT_TOPS]; // 1, 3, 5, 10

typedef struct {
  size_t executed, executable; // what percentages refer to
  size_t listed; // how many faulty entities there are; lines may share one
  size_t ranked; // how many of them are in the ranking
  // The first faulty entity of the list; all 0 if none is in the ranking.
  uint32_t rank, rank_best;   // worst and best case
  double rank_average;        // expected, if ties are looked at in any order
  uint32_t ties;              // entities with its score, itself included
  double examined_executed;   // percent of the list one looks at, worst case;
  double examined_executable; // 100 if none is in the ranking
  // Less than 1 % of the executed entities: the first, and the last faulty.
  bool well_first, well_all;
  // Probability that the first fault_tops[i] of the list hold a faulty one.
  double top[FAULT_TOPS];
} FaultScore;

void fault_score(const Fault *f, const Ranking *r, size_t executed,
                 size_t executable, FaultScore *out);

// The suspect that is listed for this place, or NULL.
const Suspect *fault_suspect(const FaultPlace *p, const Ranking *r);

#endif
