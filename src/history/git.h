// Runs git's plumbing on the user's repository, which is only read.
//
//   Repository repo;
//   if (repository_find(&repo, ".", &err)) ...          // not a repository
//   Str out = {0};
//   git_run(&repo, (const char *[]){"rev-parse", "HEAD", NULL}, NULL, &out, &err);
//   repository_release(&repo);
//
// git itself and not libgit2: what a path contains depends on attributes,
// filters, sparse and partial clones, alternates and safe.directory, and git is
// the only complete reader of these. A process costs 2 ms; a search needs a few
// hundred.
//
// Hooks do not run, no lock is taken in the user's repository, and no network is
// reached (GIT_ALLOW_PROTOCOL). Variables GIT_* of the caller are left out, except
// those that say where git's configuration lies.
#ifndef CULPRIT_HISTORY_GIT_H
#define CULPRIT_HISTORY_GIT_H

#include <stdbool.h>
#include <stddef.h>

#include "util/err.h"
#include "util/str.h"

enum { OID_SIZE = 65 }; // an object's name, SHA-1 or SHA-256, with its NUL

typedef struct {
  char *top;     // of the work tree, absolute
  char *git_dir; // absolute
  char *common;  // the same, or of a linked work tree the main one's
  char *prefix;  // the directory that was asked about, below `top`: "src/", ""
  bool shallow;
  // Where git writes; NULL: nowhere. Objects that are not found there are taken
  // from the user's repository.
  const char *objects;   // new objects
  const char *index;     // instead of the user's index
  const char *work_tree; // instead of `top`
} Repository;

// The message for a directory outside of any work tree is git's own.
int repository_find(Repository *r, const char *dir, Err *err);
void repository_release(Repository *r);

typedef struct {
  const void *data;
  size_t size;
} GitInput;

// Runs git with these words (NULL at the end) in the top directory, gives it
// `input` (NULL: nothing) and appends what it prints to `out` (NULL: unread). If
// its status is not 0, the message is the last that git printed on standard
// error.
int git_run(const Repository *r, const char *const *words,
            const GitInput *input, Str *out, Err *err);
// The same without a message: is the status 0?
bool git_asks(const Repository *r, const char *const *words);

// One line, without its end.
int git_line(const Repository *r, const char *const *words, Str *out, Err *err);
// The object that a revision names ("v1.2", "HEAD^{tree}").
int git_object(const Repository *r, const char *revision, char out[OID_SIZE],
               Err *err);

#endif
