// What the parts of the search for a passing run share: near.c keeps runs,
// near_search.c makes them, near_stored.c finds them in the store,
// near_choose.c says which is the best, near_state.c by what the branches went,
// near_put.c which of the variables matter.
#ifndef CULPRIT_NEAR_NEAR_INTERNAL_H
#define CULPRIT_NEAR_NEAR_INTERNAL_H

#include "near/near.h"

// --- near.c

// What the runs before the search (the given one, reduction) have shown.
int near_recall(Near *n, Err *err);
// Does a passing run that ends like this refuse its input?
bool near_is_refused(const Near *n, int status);
// Is there time left, and are there tests?
bool near_goes_on(const Near *n);
// --loops: may an edge of a branch be taken instead of another?
bool near_may_take(const Near *n, uint32_t from, uint32_t to);
// Records the run of an input and makes its conditions ready to be turned
// round.
int near_replay(Near *n, const Inputs *in, NearRun *out, Err *err);
void near_run_release(NearRun *r);
// Takes the input over; runs it now or with the next ones. `turned`: the last
// event of the failing run that was turned round.
int near_propose(Near *n, Inputs *in, uint32_t turned, Err *err);
// Records the run of `line`, with the environment of `in` (may be NULL).
int near_record(Near *n, const Inputs *in, const char *line, Err *err);
// Runs what is waiting.
int near_flush(Near *n, Err *err);
// Records the run of `line` (with the environment of `in`, which may be NULL)
// and computes how far away it is. Takes over what `found` holds.
int near_measure(Near *n, const Inputs *in, NearFound *found, Err *err);
// The shell words of an input; its files are kept with the test of that name.
// Caller frees; NULL: an error.
char *near_write(Near *n, const Inputs *in, const char *prefix, unsigned number,
                 Err *err);

// --- near_stored.c
int near_try_stored(Near *n, Err *err);

// --- near_choose.c
// Ranks lines by how telling they are and finds the best run.
int near_choose(Near *n, Err *err);
// Of an event of the failing run; UINT32_MAX: not ranked.
uint32_t near_rank(const Near *n, uint32_t event);
bool near_decisive(const Near *n, uint32_t event);

// --- near_state.c
// Watches the failing run and the best one again, for the values that the
// branches at which they part went by. Without success there are none.
void near_explain(Near *n);
void near_release_state(Near *n);

// --- near_report.c
// The line without the blanks around it, appended; nothing if it cannot be
// read.
void near_source_line(const char *file, const char *root, uint32_t line,
                      Str *out);

// --- near_put.c
// Finds out which variables have to be exchanged for the failing run to end as
// it should.
void near_minimise(Near *n);

// --- near_put_show.c: one sentence, and a member of an object
void near_add_minimal(const NearMinimal *m, Str *out);
void near_json_minimal(const NearMinimal *m, FILE *out);

// --- near_state_show.c: of an event of the failing run, if anything is known
void near_print_state(const Near *n, uint32_t event, const char *root,
                      FILE *out);
// What of it is not known, or not for certain; nothing if all is.
void near_print_limits(const Near *n, FILE *out);
// One sentence for the note; "": nothing is known.
const char *near_matters(const Near *n, uint32_t event, Arena *arena);
void near_json_state(const Near *n, uint32_t event, FILE *out);
void near_json_wrong(const Near *n, const char *root, FILE *out);

#endif
