// Localizers: every way to turn a session into a ranking, under one name each
// (`culprit rank --method NAME`).
//
//   SessionEvidence evidence;
//   session_evidence_init(&evidence, store, &suite);
//   Localizer method;
//   if (!localizer_find("ochiai", &method)) ...
//   OpenLocalizer l;                 // the method at work on the session
//   localizer_open(&l, &evidence, &method, &options, &err);
//   localizer_load(&l, &lacking, &err);
//   for every failure: localizer_rank(&l, failure, &ranking, &err);
//   localizer_close(&l);
//
// Every formula of formula.h is a localizer. Another one is a file in locate/
// and a row of localizers.def: docs/add-a-localizer.md.
#ifndef CULPRIT_LOCATE_LOCALIZER_H
#define CULPRIT_LOCATE_LOCALIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "locate/listing.h"
#include "locate/session_evidence.h"
#include "model/ranking.h"
#include "model/suite.h"
#include "tally/formula.h"
#include "util/err.h"

// The method used where none is named.
#define METHOD_DEFAULT "cascade"
// The same for sessions of `culprit web`.
#define METHOD_WEB "cascade+o"
// The method for sessions that `culprit spec` made.
#define METHOD_SPEC "spec"
// The method for sessions on which `culprit try` made experiments.
#define METHOD_TRY "try"
// The method for those that `culprit input` made, where fused_applies.
#define METHOD_FUSED "fused"

typedef struct Localizer Localizer;
typedef struct OpenLocalizer OpenLocalizer;

// Whose sessions it is for: `culprit near` and `spec` explain C programs,
// `culprit web` finds failures in the pages of PHP applications.
typedef enum { FOR_ALL, FOR_C, FOR_PHP } LocalizerScope;

struct Localizer {
  const char *name; // on the command line and in JSON
  const char *doc;  // one line
  LocalizerScope scope;
  // What it needs: entities of all of these kinds, of at least one of those
  // (sets of 1u << EntityKind).
  unsigned all_kinds, any_kind;
  bool counts;    // needs counts of conditions and returns in at least one run
  unsigned loads; // kinds it looks up in the session's tally, where present
  unsigned lists; // the kinds it can list; 0: any
  int variant;    // which of several methods of its file
  bool experiments; // its evidence comes from runs made for the purpose

  // Its state, which is the same for all failures. open() fills `state_size`
  // zeroed bytes, close() releases what is in them, even after open() failed.
  // Localizers with the same open() share one state.
  size_t state_size; // 0: it has none
  int (*open)(void *state, SessionEvidence *s, Err *err);
  void (*close)(void *state);
  // Is there what it needs in its state? If not, the user reads "NAME needs
  // NEEDS, which session N does not have: REMEDY". NULL: always.
  bool (*has)(const void *state);
  const char *needs, *remedy;

  // Either it scores the entities for one failure (listing.h) and then says why
  // the first `options->explain` suspects are suspected (NULL: it does not).
  void (*rank)(Scoring *s);
  void (*explain)(const Scoring *s, Ranking *r);
  // Or it is a formula over spectra (spectrum.h).
  Formula *formula;
  bool cascade; // returns and slices only break ties, which are always broken
  bool others_pass; // OTHERS_DEFAULT means OTHERS_PASS
  void (*adjust)(const OpenLocalizer *l, Ranking *r); // the finished ranking
};

// What the files of localizers.def define: each a list that ends with {0}.
#define LOCALIZERS(file) extern const Localizer file##_localizers[];
#include "locate/localizers.def"
#undef LOCALIZERS

// For `lists`.
#define LIST_LINES (1u << ENTITY_STATEMENT | 1u << ENTITY_FUNCTION)

size_t localizer_count(void);
Localizer localizer_at(size_t i); // in the order they are listed to the user
bool localizer_find(const char *name, Localizer *out);

// METHOD_DEFAULT or METHOD_WEB.
const char *method_standard(const Suite *suite);
// Do runs that only show other failures count as passing?
bool method_others_pass(const Localizer *m, const Suite *suite,
                        OtherFailures asked);

// Can the method say anything about a session like this one? It cannot if it is
// for the other language. Imported sessions only have methods for all.
bool localizer_fits(const Localizer *m, const Suite *suite);

// Is this a session of `culprit input`, and has the store one of `culprit run`
// with the same program, in which something failed? (fused.c)
bool fused_applies(Store *store, const Suite *suite);

// The state of a localizer, opened by the first call. NULL: it failed.
void *localizer_state(const Localizer *m, SessionEvidence *s, Err *err);

// --- a localizer at work on a session ---------------------------------------

struct OpenLocalizer {
  SessionEvidence *session;
  Localizer method;
  LocateOptions options;     // entities: as resolved
  struct Spectrum *spectrum; // what is listed
  void *state;
};

// Fails if the options do not fit the method, or if the session lacks what the
// method needs; the message says which command provides it.
int localizer_open(OpenLocalizer *l, SessionEvidence *s,
                   const Localizer *method, const LocateOptions *o, Err *err);
void localizer_close(OpenLocalizer *l);

// Loads what the method needs from the store. Fails for a bad store, or if the
// session lacks what the method needs (*lacking = true).
int localizer_load(OpenLocalizer *l, bool *lacking, Err *err);

// How many entities are listed, and how many of them some run executed.
size_t localizer_executable(const OpenLocalizer *l);
size_t localizer_executed(const OpenLocalizer *l);

int localizer_rank(const OpenLocalizer *l, size_t failure, Ranking *out,
                   Err *err);

// --- the ranking of a session as it stands -----------------------------------

// The ranking of a session as it stands now, while the session still grows:
// statements, by one method, for the most frequent failure.
//
//   CurrentRanking s;
//   if (current_ranking_make(&s, store, session, "ochiai", &err)) ...
//   if (s.ranked) use(&s.ranking);
//   current_ranking_release(&s);
typedef struct {
  Suite suite;
  SessionEvidence evidence;
  OpenLocalizer localizer;
  Ranking ranking;
  bool ranked; // false: nothing failed yet, or the method cannot be applied
} CurrentRanking;

// `method`: NULL: method_standard. -1: the store cannot be read. To be released even then.
int current_ranking_make(CurrentRanking *s, Store *store, int64_t session,
                         const char *method, Err *err);
void current_ranking_release(CurrentRanking *s);

#endif
