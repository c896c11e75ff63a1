// The table of localizers: every way to turn a session into a ranking, under
// one name each (`culprit rank --method NAME`).
//
//   Workbench bench;                 // a session, its spectra loaded once
//   workbench_init(&bench, store, &suite);
//   Localizer method;
//   if (!localizer_find("ochiai", &method)) ...
//   Locator locator;                 // this method on this session
//   locator_open(&locator, &bench, &method, &options, &err);
//   locator_load(&locator, &err);
//   for every failure: locator_rank(&locator, failure, &ranking, &err);
//
// Every formula of formula.h is a localizer. A new one of another kind is one
// file in locate/ and one row of the table in localizer.c.
#ifndef CULPRIT_LOCATE_LOCALIZER_H
#define CULPRIT_LOCATE_LOCALIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "locate/near.h"
#include "locate/neighbour.h"
#include "locate/outmap.h"
#include "locate/predicate.h"
#include "locate/propagate.h"
#include "locate/spec_note.h"
#include "locate/spectrum.h"
#include "model/ranking.h"
#include "model/suite.h"
#include "store/store.h"
#include "tally/deaths.h"
#include "tally/filter.h"
#include "tally/formula.h"
#include "tally/tally.h"
#include "util/err.h"

// What the user may choose for any method.
typedef struct {
  EntityKind by;     // what is listed
  unsigned entities; // what scores it: a set of 1u << EntityKind; 0: as the
                     // method likes it
  bool others_pass;  // runs that only show other failures count as passing
  bool confidence;   // order equal scores by confidence
  PathFilter filter;
  Formula *exit_score; // cp: of exit blocks; NULL: as the paper
  size_t explain;      // so many of the best get their evidence
} LocateOptions;

// The method used where none is named.
#define METHOD_DEFAULT "cascade"
// That of sessions which `culprit spec` made.
#define METHOD_SPEC "spec"

// --- a session, ready to be worked on ---------------------------------------

// Spectra, deaths and what there is, loaded once and shared by all methods.
typedef struct {
  Store *store;
  const Suite *suite;
  unsigned present; // kinds of entities the session has
  unsigned loaded;  // kinds whose spectra are in the tally
  Tally tally;
  Deaths deaths;
  bool has_deaths;     // deaths are loaded,
  EntityKind death_by; // for this kind
  // Loaded by the first method that asks for them; else NULL.
  Propagation *propagation;
  Predicates *predicates;
  Neighbours *neighbours, *permutations;
  OutputPlaces *places;
  NearNotes *notes;
  SpecNotes *cores;
} Workbench;

void workbench_init(Workbench *w, Store *store, const Suite *suite);
void workbench_release(Workbench *w);

// Loads the spectra of these kinds and the deaths, unless that has been done.
int workbench_load(Workbench *w, unsigned kinds, EntityKind by, Err *err);

// Loads where failures show in the output, unless that has been done.
int workbench_places(Workbench *w, Err *err);

// Loads what `culprit near` found out, unless that has been done.
int workbench_notes(Workbench *w, Err *err);

// Loads what `culprit spec` found out, unless that has been done.
int workbench_cores(Workbench *w, Err *err);

// --- methods ----------------------------------------------------------------

typedef struct Localizer Localizer;

// Loads what is needed for all failures; then ranks for one of them.
typedef int LocalizerLoad(Workbench *w, Err *err);
typedef int LocalizerRank(const Workbench *w, const LocateOptions *o,
                          size_t failure, Ranking *out, Err *err);

// Whose evidence it needs: `culprit near` and `spec` explain C programs,
// failures in pages come from `culprit web`.
typedef enum { FOR_ALL, FOR_C, FOR_PHP } LocalizerScope;

struct Localizer {
  const char *name; // on the command line and in JSON
  const char *doc;  // one line
  LocalizerScope scope;
  // What it needs: entities of all of these kinds, of at least one of those.
  unsigned all_kinds, any_kind;
  bool counts; // of conditions and returns, by at least one run
  bool output; // places in the output, of at least one failure
  bool notes;  // what `culprit near` found out about at least one failure
  bool cores;  // what `culprit spec` found out about at least one failure
  // How it works: a formula over spectra, or a way of its own.
  Formula *formula;
  bool cascade; // of a formula: returns only break ties, and ties are always
                // broken
  bool raise;   // of a formula: lines that wrote what the oracle blames in the
                // output come first
  LocalizerLoad *load; // NULL: the formula
  LocalizerRank *rank;
  unsigned lists; // kinds it can list (1u << EntityKind); 0: any
};

size_t localizer_count(void);
Localizer localizer_at(size_t i); // in the order they are listed to the user
bool localizer_find(const char *name, Localizer *out);

// Can the method have anything to say about a session like this one? Not if it
// is for the other language. Sessions of `culprit import` only have methods for
// all.
bool localizer_fits(const Localizer *m, const Suite *suite);

// --- a method at work -------------------------------------------------------

typedef struct {
  Workbench *bench;
  Localizer method;
  LocateOptions options; // entities: as resolved
  Spectrum spectrum;     // what is listed
} Locator;

// Fails if the options do not fit the method, or if the session lacks what the
// method needs: the message says which command provides it.
int locator_open(Locator *l, Workbench *w, const Localizer *method,
                 const LocateOptions *o, Err *err);
void locator_close(Locator *l);

// Loads what the method needs from the store. Fails for a bad store, or if
// counts, places, notes or cores are needed and there are none (*lacking =
// true).
int locator_load(Locator *l, bool *lacking, Err *err);

// How many entities are listed, and how many of them some run executed.
size_t locator_executable(const Locator *l);
size_t locator_executed(const Locator *l);

int locator_rank(Locator *l, size_t failure, Ranking *out, Err *err);

#endif
