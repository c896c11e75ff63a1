// The tables of the store, for this folder only. docs/reference/store.md
// explains them.
#ifndef CULPRIT_STORE_SCHEMA_H
#define CULPRIT_STORE_SCHEMA_H

#include <stdbool.h>

#include "store/db.h"
#include "util/err.h"

// Does the file hold a store that this version can use? Fails if it holds
// something else, is damaged, or was written by a newer version.
// *version: of the store; 0: it holds nothing at all yet.
int schema_check(Db *db, int *version, Err *err);

// Makes the tables, or brings those of an older version up to this one, unless
// another process has just done so.
int schema_create(Db *db, Err *err);

#endif
