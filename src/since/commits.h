// Finds the commit after which tests fail: a version where they pass, by steps
// back of 1, 2, 4, ... commits, then the first after it where they do not, by
// bisection.
//
//   CommitSearch s = {.checkout = &c, .trials = &t, .tests = &names};
//   commits_begin(&s, &err);
//   commits_good(&s, "v1.2", &err);      // NULL: look for one
//   commits_bisect(&s, &err);            // s.guilty
//   commits_release(&s);
//
// A version gets the tests as they are now: files that hold tests
// (model/testcode.h) and those that the user names, where they differ. If it
// cannot be built with them, it is tried with its own.
//
// A version that does not build, or where no verdict comes of the tests, is
// passed over as `git bisect skip` does. If only such are left, the guilty one
// is among them (`candidates`).
#ifndef CULPRIT_SINCE_COMMITS_H
#define CULPRIT_SINCE_COMMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "since/checkout.h"
#include "since/trial.h"
#include "util/hashmap.h"

typedef struct {
  char oid[OID_SIZE];
} CommitName;
typedef ARRAY(CommitName) CommitNames;

typedef enum {
  COMMITS_FOUND,
  COMMITS_AMONG,      // it is one of `candidates`
  COMMITS_NEVER,      // the tests pass in no version that can be tried
  COMMITS_PASS_NOW,   // they pass in a copy of the tree as it is
  COMMITS_BROKEN_NOW, // it cannot be built there, or tests have no verdict
  COMMITS_GOOD_FAILS, // the version that was named does not pass
  COMMITS_GOOD_BROKEN,
  COMMITS_UNKNOWN_TESTS, // none of them is known there
  COMMITS_FLAKY,         // all of them are flaky in the good version
  COMMITS_SPENT,         // no time is left
} CommitsEnd;

typedef struct {
  Checkout *checkout;
  Trials *trials;
  const Texts *tests;
  const Texts *named; // files of tests, as the user says
  bool own_tests;     // versions are tried with their own tests only

  bool *used; // tests that take part; the others are flaky, unknown or pass
  char latest[OID_SIZE]; // commit of the tree as it is
  char good[OID_SIZE], bad[OID_SIZE];
  char guilty[OID_SIZE];
  CommitNames goods, skipped, candidates;
  CommitNames failed;    // versions that fail, of the search for a good one
  size_t good_builds;    // until a good version was found
  size_t flaky, unknown; // tests that were left out for that reason
  Arena arena;
} CommitSearch;

// Names the tree as it is, and checks that the tests fail there. *end:
// COMMITS_FOUND: they do.
int commits_begin(CommitSearch *s, CommitsEnd *end, Err *err);
int commits_good(CommitSearch *s, const char *good, CommitsEnd *end, Err *err);
int commits_bisect(CommitSearch *s, CommitsEnd *end, Err *err);
void commits_release(CommitSearch *s);

// The tree of a commit with the tests of now.
int commits_tree(CommitSearch *s, const char *commit, char out[OID_SIZE],
                 Err *err);
// Is the file, in the tree as it is, one of tests?
bool commits_is_test(const CommitSearch *s, const char *path);

// For people: "4efec35 (2023-01-14, 'Parse links')"; "uncommitted changes".
typedef struct {
  char *name; // short, or "" of uncommitted changes
  char *date, *subject, *text;
} CommitText;
int commit_text(const CommitSearch *s, const char *oid, CommitText *out,
                Err *err);
void commit_text_release(CommitText *t);

#endif
