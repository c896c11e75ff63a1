// Which hunks of a change break the tests: a small set of them whose reversal
// on the tree as it is makes the failing tests pass (delta debugging; what does
// not build counts as not passing).
//
//   TakenBack b = {.search = &s, .trials = &t, .suspicion = how, ...};
//   taken_back_list(&b, parent, commit, &err);   // b.hunks
//   taken_back_minimize(&b, &end, &err);         // b.kept, b.tree
//   taken_back_release(&b);
//
// Hunks under one declaration are first taken back together, then apart. Files
// of tests are left as they are. A file that was added, deleted or replaced as a
// whole, or whose mode changed, is one hunk.
//
// A hunk whose lines were changed again later cannot be taken back on the tree
// as it is, and later code may need others. If what can be taken back does not
// suffice, the search goes on at the guilty commit itself (`on_commit`).
#ifndef CULPRIT_SINCE_TAKEN_BACK_H
#define CULPRIT_SINCE_TAKEN_BACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/version_changes.h"
#include "since/commits.h"
#include "since/trial.h"

typedef struct {
  const char *path;      // in the tree as it is
  const char *old_path;  // before the change
  const char *made_path; // behind it
  uint32_t line, lines;  // in the tree as it is; of deleted lines, what follows
  VersionFile old, made, now; // before the change, behind it, now
  Hunk hunk;                  // old -> made
  bool whole;                 // the file as a whole
  bool movable;               // its lines are still as the change made them
  double suspicion;
  size_t group; // hunks under the same declaration have the same
  bool kept;    // belongs to the answer
} ChangeHunk;
typedef ARRAY(ChangeHunk) ChangeHunks;

// How suspicious lines are (in the tree as it is); higher is more.
typedef double HunkSuspicion(void *context, const char *path, uint32_t line,
                             uint32_t lines);

typedef enum {
  BACK_FOUND,
  BACK_NONE,  // there is no hunk outside of tests
  BACK_FAILS, // the tests fail without all of them, too
  BACK_SPENT, // no time is left
} BackEnd;

typedef struct {
  CommitSearch *search;
  Trials *trials;
  HunkSuspicion *suspicion; // NULL: none is known
  void *context;
  size_t budget; // trials at most

  ChangeHunks hunks;   // the most suspicious first
  size_t in_tests;     // hunks in files of tests, left out
  size_t later;        // hunks that later commits changed
  bool submodules;     // the change moves a submodule, which is left
  bool on_commit;      // the tree it was found on is the commit's
  char base[OID_SIZE]; // that tree
  char tree[OID_SIZE]; // the same without the hunks kept
  size_t nkept;
  Arena arena;
} TakenBack;

// The hunks from one tree or commit to another.
int taken_back_list(TakenBack *b, const char *from, const char *to, Err *err);
int taken_back_minimize(TakenBack *b, BackEnd *end, Err *err);
// The tree that the search was made on, without this hunk only.
int taken_back_one(TakenBack *b, size_t hunk, char tree[OID_SIZE], Err *err);
void taken_back_release(TakenBack *b);

#endif
