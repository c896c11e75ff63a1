// The evidence for and against one statement, for one failure: what `culprit
// why` prints.
//
//   Account *accounts;        // one per failure
//   accounts_make(&evidence, statement, &options, &accounts, &err);
//   ...
//   accounts_free(accounts, suite.nfailures);
#ifndef CULPRIT_LOCATE_ACCOUNT_H
#define CULPRIT_LOCATE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "depend/control_guards.h"
#include "locate/localizer.h"
#include "model/ranking.h"
#include "util/array.h"
#include "util/err.h"

// What one method says of it.
typedef struct {
  Localizer method;
  char *reason; // why it says nothing: the session lacks what it needs; or NULL
  bool ranked;  // false: not in its ranking
  uint32_t rank, rank_best;
  double score;
} MethodScore;

// One entity that speaks for the statement, itself included.
typedef struct {
  uint32_t entity;
  uint32_t ef, ep; // runs that cover it
  double tells;    // ef/F - ep/P: 1 if all failing and no passing runs cover
                   // it, -1 the other way round, 0 if it tells nothing; where
                   // only some runs were looked at, as estimated from them
} TupleScore;

typedef struct {
  size_t failure;
  size_t executed;            // how many statements were
  Ranking ranking;            // by the default method
  const Suspect *suspect;     // the statement in it; NULL: it is not listed
  ARRAY(MethodScore) methods; // those that fit, in the order of the table
  ARRAY(TupleScore) tuples;   // those some run covers, best telling first
  ARRAY(TupleScore) uses;     // pairs that set elsewhere what it uses, likewise
  TupleScore self, function;  // the statement, and the function it stands in
  bool flow, always;          // Guards.known, .always
  ARRAY(TupleScore) guards;   // outcomes that decide whether it is executed
} Account;

// Accounts for every failure of the suite; the caller frees them. `o->by` must
// be statement. Fails for a store that cannot be read, or if the options leave
// no statement.
int accounts_make(SessionEvidence *w, uint32_t statement,
                  const LocateOptions *o, Account **out, Err *err);
void accounts_free(Account *accounts, size_t n);

#endif
