// When lines were last changed, and by which commit: git blame, asked for the
// lines that are shown only.
//
//   LastChanges l;
//   last_changes_open(&l, suite.cwd);
//   last_changes_tell(&l, &suite, &ranking, 10);
//   last_changes_close(&l);
//
// Lines of files that git does not know, and of a directory without a
// repository, get nothing. CULPRIT_HISTORY=0 in the environment: none do.
#ifndef CULPRIT_HISTORY_LAST_CHANGES_H
#define CULPRIT_HISTORY_LAST_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "history/git.h"
#include "model/ranking.h"
#include "model/suite.h"

// The kind of such an Evidence: "last changed 2023-01-14 by 4efec35 'Parse
// links'", or "changed and not committed".
#define EVIDENCE_CHANGE "change"

typedef struct {
  Repository repo;
  bool there;
} LastChanges;

void last_changes_open(LastChanges *l, const char *dir);
void last_changes_close(LastChanges *l);

// Adds a sentence to each of the first `n` suspects.
void last_changes_tell(const LastChanges *l, const Suite *suite,
                       Ranking *ranking, size_t n);
// The sentence for one line; NULL: nothing is known. Caller frees.
char *last_change_of(const LastChanges *l, const Suite *suite, uint32_t source,
                     uint32_t line);

// What git blame says of a line.
typedef struct {
  uint32_t line;
  char *text; // the sentence
} LineChange;
typedef ARRAY(LineChange) LineChanges;

// From `git blame --porcelain`, `text` ending with NUL. -1: it is none.
int blame_parse(const char *text, LineChanges *out, Arena *arena);

#endif
