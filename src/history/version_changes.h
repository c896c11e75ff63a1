// What changed between two versions: files, hunks, and where a line went.
//
//   FileChanges files = {0};
//   changes_list(&repo, "v1.2", "HEAD", &files, &arena, &err);
//   Hunks hunks = {0};
//   hunks_between(&repo, files.items[0].old_oid, files.items[0].oid, &hunks,
//                 &arena, &err);
//
// A hunk is a maximal run of changed lines, without context. Names of files are
// bytes: they may hold blanks, line ends and anything but NUL.
#ifndef CULPRIT_HISTORY_VERSION_CHANGES_H
#define CULPRIT_HISTORY_VERSION_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/git.h"
#include "util/arena.h"
#include "util/array.h"

// One file of a version: its object and its mode ("100644", "120000": a symbolic
// link, "160000": a submodule; "000000": not there).
typedef struct {
  char oid[OID_SIZE], mode[8];
} VersionFile;

typedef struct {
  char status;                 // A, C, D, M, R or T, as git diff says
  const char *old_path, *path; // the same unless it was renamed or copied
  VersionFile old, now;
} FileChange;
typedef ARRAY(FileChange) FileChanges;

// `renames`: find files that were renamed. Revisions name commits or trees.
int changes_list(const Repository *r, const char *from, const char *to,
                 bool renames, FileChanges *out, Arena *arena, Err *err);
// The same from git's output (diff-tree -r -z --raw). -1: it is none.
int changes_parse(const char *text, size_t size, FileChanges *out,
                  Arena *arena);

bool entry_is_text(const VersionFile *e);      // a regular file
bool entry_is_submodule(const VersionFile *e); // another repository

// Lines old_start .. old_start + old_count - 1 became start .. start + count
// - 1. If one of the counts is 0, its start is the line in front of which they
// were or are.
typedef struct {
  uint32_t old_start, old_count, start, count;
  const char *declaration; // the line that heads it, as git shows it, or ""
} Hunk;
typedef ARRAY(Hunk) Hunks;

// Of two files with these contents. *binary: git takes one of them for binary;
// there are no hunks then.
int hunks_between(const Repository *r, const char *old_oid, const char *oid,
                  Hunks *out, bool *binary, Arena *arena, Err *err);
int hunks_parse(const char *text, size_t size, Hunks *out, bool *binary,
                Arena *arena);

// Where lines `start` .. `start + count - 1` of the old text are in the new one:
// *to is the first. False: some of them were changed.
bool hunks_map(const Hunks *h, uint32_t start, uint32_t count, uint32_t *to);

// The content of a file.
int blob_read(const Repository *r, const char *oid, Str *out, Err *err);

// A text by lines: lines.items[i] is where line i + 1 begins; the last item is
// the end.
typedef ARRAY(size_t) LineStarts;
void line_starts(const char *text, size_t size, LineStarts *out);

#endif
