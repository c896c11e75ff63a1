// A place of our own for versions of the user's repository: objects, indexes and
// one work tree below DIR. The user's repository is only read; nothing is
// registered there, so nothing is left there either if we are killed.
//
//   Checkout c;
//   if (checkout_open(&c, &repo, ".culprit/since", &err)) ...
//   checkout_snapshot(&c, carried, &err);      // c.now: the user's tree as it is
//   checkout_edit(&c, tree, edits, n, made, &err);  // another tree
//   checkout_move(&c, made, &err);             // its files are in c.tree
//   checkout_close(&c);
//
//   DIR/tree      the files; DIR/tree.index what git knows of them
//   DIR/objects   what the user's repository does not have
//   DIR/store     of `culprit run`, with its build
//   DIR/lock      held while the search runs
//   DIR/busy      there while files are written or built: what an interrupted
//                 step left is thrown away
//
// A move writes only files that differ, all with one time, later than whatever
// was built: make then builds what depends on them, and nothing else.
#ifndef CULPRIT_SINCE_CHECKOUT_H
#define CULPRIT_SINCE_CHECKOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "history/git.h"
#include "history/version_changes.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  Repository repo; // writes to `objects`; index and work tree as needed
  char *dir, *tree, *store;
  char *objects, *index; // texts of `repo`
  char now[OID_SIZE];    // tree: the user's files as they are
  char head[OID_SIZE];   // commit; of `now` too if nothing is uncommitted
  char at[OID_SIZE];     // tree of the files in `tree`; "": none
  bool dirty;            // `now` is not the tree of HEAD
  bool submodules;       // there are some
  int lock;
  Arena arena;
} Checkout;

// `dir` is absolute. Fails if another search is at work there.
int checkout_open(Checkout *c, const Repository *user, const char *dir,
                  Err *err);
void checkout_close(Checkout *c);

// Takes the user's tree as it is: tracked files, and untracked ones that are not
// ignored and no programs. Files of `carried` (below the top directory) are
// taken even if they are ignored.
int checkout_snapshot(Checkout *c, const Texts *carried, Err *err);

// One file of a tree to be made. `entry.mode` "000000": it is not there.
typedef struct {
  const char *path;
  VersionFile entry;
} TreeEdit;
typedef ARRAY(TreeEdit) TreeEdits;

// The tree with these files instead of its own.
int checkout_edit(Checkout *c, const char *tree, const TreeEdits *edits,
                  char out[OID_SIZE], Err *err);
// Keeps a content; its name.
int checkout_keep(Checkout *c, const void *data, size_t size,
                  char oid[OID_SIZE], Err *err);

// Begins a step: the files of `tree` are in c->tree afterwards, and what an
// earlier step left that it does not have is gone. `checkout_settle` says that
// what was built there is complete.
int checkout_move(Checkout *c, const char *tree, Err *err);
void checkout_settle(Checkout *c);
// Throws away what was built, to build it afresh.
int checkout_forget(Checkout *c, Err *err);

#endif
