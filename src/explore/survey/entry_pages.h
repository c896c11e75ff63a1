// Entry pages: where an exploration starts. Scripts that are not meant to be
// requested, and would show failures that no visitor sees, are left out: those
// that others include or that lie in a directory of included ones, those that
// end with the class of their name or only declare something (declarations.h), and
// those that .htaccess denies (`Require all denied`).
#ifndef CULPRIT_EXPLORE_SURVEY_ENTRY_PAGES_H
#define CULPRIT_EXPLORE_SURVEY_ENTRY_PAGES_H

#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

// Paths below the root ("/admin/index.php"), ordered by depth, index files
// first. Memory: arena (no array_release).
typedef ARRAY(const char *) EntryPages;
int entry_pages_find(const char *root, EntryPages *out, Arena *arena, Err *err);

#endif
