// What try_search.c (which change is next), try_confirm.c (runs it on tests) and
// try_prepare.c (lines, changes and tests of a search) share.
#ifndef CULPRIT_TRY_TRY_INTERNAL_H
#define CULPRIT_TRY_TRY_INTERNAL_H

#include "try/try_search.h"
#include "util/hashmap.h"

// What is known of a site in its line's screening test.
typedef struct {
  bool watched, watching;
  bool unreached;     // a change was run, and the site was not executed
  uint32_t relations; // TryReport.relations
  int8_t outcomes[8]; // by outcomes among the relations: 0 not tried, 1 does
                      // not repair, 2 repairs
  unsigned clauses;   // times made
  // SITE_BEFORE, from the screening test: the value of each name where it was
  // always the same (a bit each of those where it was not).
  const int64_t *only; // NULL: not known
  uint32_t varying;
} SearchSite;

typedef struct {
  uint32_t statement;
  uint32_t screen; // run
  Changes changes; // in the order they are tried
  size_t next;
  uint32_t tried;
  bool clauses; // were made for all its conditions
} SearchLine;

// A change to be tried on its line's screening test.
typedef struct {
  size_t line;
  Change change;
  bool watches; // the site first
} TryScreening;

// A change in the course of being tried.
typedef struct {
  size_t line;
  Change change;
  Experiment experiment;
  TriedVerdict *verdicts; // by run of the suite
  uint32_t repaired, failing, kept, passing;
  bool all;
} TryAttempt;

typedef struct {
  TrySession *session;
  const TrySearchOptions *options;
  TryFound *found;
  Err *err;
  ARRAY(SearchLine) lines;
  SearchSite *sites;                // by site of the table
  ARRAY(uint32_t) failing, passing; // runs of the suite that can be run
  bool *checked;                    // by run: its verdict holds in this build
  uint64_t *steps;                  // by test: of its unchanged run; 0: unknown
  uint64_t longest;                 // of all of them
  uint64_t first;                   // runs made before
  uint32_t *nearest;                // passing runs, nearest first
  Hashmap constants;                // function -> index in constant_lists
  ARRAY(Changes) constant_lists;
  bool broken; // the environment is
} TrySearch;

typedef ARRAY(uint32_t) TryRunList;

// --- try_confirm.c ----------------------------------------------------------

uint64_t search_runs(const TrySearch *s);
bool search_spent(const TrySearch *s); // no more runs may be made
size_t search_site(const TrySearch *s, const Site *site);
Experiment experiment_of(const Change *c);
// Runs the jobs; false: that is no longer possible, or was cut short.
bool search_run(TrySearch *s, TryJob *jobs, size_t n);
// Runs tests unchanged, once: do they end here as they did? Those that do not
// are left out.
void search_check(TrySearch *s, const uint32_t *runs, size_t n);
bool search_executes(const TrySearch *s, uint32_t run, uint32_t statement);
// Adds the first `n` of a list that execute the statement and are not there.
void search_choose(const TrySearch *s, const uint32_t *list, size_t len,
                   uint32_t statement, size_t n, TryRunList *out);

// Its verdicts are to be freed.
TryAttempt attempt_of(const TrySearch *s, size_t line, const Change *c);
// Takes over what the process of the run said of all runs in it.
void attempt_take(TrySearch *s, TryAttempt *a, const TryJob *job);
// The change has repaired the screening test: on to others.
void attempt_confirm(TrySearch *s, TryAttempt *a);
FoundChange attempt_found(const TrySearch *s, const TryAttempt *a);

// --- try_prepare.c ----------------------------------------------------------

void search_list_runs(TrySearch *s);
void search_order_passing(TrySearch *s);
void search_collect_constants(TrySearch *s);
void search_collect_lines(TrySearch *s);
// The constants of the site's function; returns how many.
size_t search_constants(const TrySearch *s, const Site *site, int64_t *out,
                        size_t most);

#endif
