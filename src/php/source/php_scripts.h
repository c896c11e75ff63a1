// Translates the record of a request into a Run: knows the maps of all scripts
// seen so far, and numbers their entities across the suite.
#ifndef CULPRIT_PHP_SOURCE_PHP_SCRIPTS_H
#define CULPRIT_PHP_SOURCE_PHP_SCRIPTS_H

#include "model/entity.h"
#include "model/run.h"
#include "php/record/php_record.h"
#include "util/err.h"

typedef struct Scripts Scripts;

// `maps` is the directory of map files.
Scripts *scripts_new(const char *maps, AssignIds *assign, void *ctx);
void scripts_free(Scripts *s);

// Adds what the request executed to the run: hits, counts, and a note about
// what is missing (a script whose map cannot be read, or whose text changed in
// the middle of the session). Nothing of that is a failure.
void scripts_collect(Scripts *s, const PhpRecord *record, Run *run);

#endif
