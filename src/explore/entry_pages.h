// Where an exploration starts: the pages of a site that are there to be asked
// for. MadeRequest for on their own, some scripts would show failures that no
// visitor sees, and are left out: those that others include, that lie where
// included ones do, that hold a class of their name and nothing else, or that
// .htaccess closes (`Require all denied`).
#ifndef CULPRIT_EXPLORE_ENTRY_PAGES_H
#define CULPRIT_EXPLORE_ENTRY_PAGES_H

#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

// Paths below the root ("/admin/index.php"), index files and those high up
// first. Memory: arena (no array_release).
typedef ARRAY(const char *) EntryPages;
int entry_pages_find(const char *root, EntryPages *out, Arena *arena, Err *err);

#endif
