// Where experiments begin: the failures of a session, and for each the lines
// that a method ranks first; and what notes about experiments have in common.
#ifndef CULPRIT_TRY_SUSPECTS_H
#define CULPRIT_TRY_SUSPECTS_H

#include <stddef.h>
#include <stdint.h>

#include "locate/localizer.h"
#include "locate/try_note.h"
#include "model/suite.h"
#include "store/store.h"
#include "util/array.h"
#include "util/bitset.h"
#include "util/err.h"

typedef ARRAY(uint32_t) Statements;

// The first `most` lines of the ranking for the failure, then those that stand
// beside the very first: code that is missing is put in there.
int suspects_list(OpenLocalizer *l, const Suite *suite, size_t failure,
                  size_t most, Statements *out, Err *err);

// Loads the statements that each run executes: an array by run, to be freed
// with suspects_free_executed.
int suspects_executed(Store *store, const Suite *suite, Bitset **out, Err *err);
void suspects_free_executed(const Suite *suite, Bitset *executed);

// Can experiments be made on it?
bool suspects_is_tried(const RunInfo *run);

// Calls `work` for the first failures, with what the method needs loaded, while
// `go_on` says so. `left`: how many failures there are to come, with this one.
int suspects_each(Store *store, Suite *suite, const char *method,
                  bool (*go_on)(void *context),
                  int (*work)(void *context, OpenLocalizer *l, size_t failure,
                              size_t left, Err *err),
                  void *context, Err *err);

// Sets the head of the note, with the sources of its lines, and writes it.
int suspects_write_note(const Suite *suite, size_t failure, const char *dir,
                        TryNote *note, Err *err);

#endif
