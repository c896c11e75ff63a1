// What the parts of the search for a passing run share: near.c keeps runs,
// near_search.c makes them, near_stored.c finds them in the store,
// near_choose.c selects the best, near_state.c finds the values each differing
// branch depended on, near_put.c the variables that matter.
#ifndef CULPRIT_NEAR_NEAR_INTERNAL_H
#define CULPRIT_NEAR_NEAR_INTERNAL_H

#include "near/near.h"

// --- near.c

// Does a passing run with this status reject its input?
bool near_is_refused(const Near *n, int status);
// Is there time left, and are there tests?
bool near_goes_on(const Near *n);
// --loops: may an edge of a branch be taken instead of another?
bool near_may_take(const Near *n, uint32_t from, uint32_t to);
// Records and replays the run of an input, so that its conditions can be
// negated.
int near_replay(Near *n, const Inputs *in, NearRun *out, Err *err);
void near_run_release(NearRun *r);
// Takes over the input and runs it now or with the next ones. `turned`: the
// last event of the failing run that was negated.
int near_propose(Near *n, Inputs *in, uint32_t turned, Err *err);
// Records the run of `line`, with the environment of `in` (may be NULL).
int near_record(Near *n, const Inputs *in, const char *line, Err *err);
// Runs the inputs that are waiting.
int near_flush(Near *n, Err *err);
// Records the run of `line` (with the environment of `in`, which may be NULL)
// and computes its distance. Takes over what `found` holds.
int near_measure(Near *n, const Inputs *in, NearFound *found, Err *err);
// The shell words of an input; its files are kept with the test of that name.
// Caller frees; NULL: an error.
char *near_write(Near *n, const Inputs *in, const char *prefix, unsigned number,
                 Err *err);

// --- near_stored.c
int near_try_stored(Near *n, Err *err);

// --- near_choose.c
// Ranks lines by how well they distinguish, and selects the best run.
int near_choose(Near *n, Err *err);
// Of an event of the failing run; UINT32_MAX: not ranked.
uint32_t near_rank(const Near *n, uint32_t event);
bool near_decisive(const Near *n, uint32_t event);

// --- near_state.c
// Watches the failing run and the best one again, for the values that the
// differing branches depended on. If that fails, there are none.
void near_explain(Near *n);
void near_release_state(Near *n);

// --- near_report.c
// The line without the blanks around it, appended; nothing if it cannot be
// read.
void near_source_line(const char *file, const char *root, uint32_t line,
                      Str *out);

// --- near_put.c
// Finds the variables that must be exchanged for the failing run to pass.
void near_minimise(Near *n);

// --- near_put_show.c: one sentence, and a member of an object
void near_add_minimal(const NearMinimal *m, Str *out);
void near_json_minimal(const NearMinimal *m, FILE *out);

// --- near_force_show.c: about an event, if it was forced. `way`: what it was
// forced to be.
void near_print_forced(const Near *n, uint32_t event, const char *way,
                       FILE *out);
void near_json_forced(const Near *n, uint32_t event, FILE *out);

// --- near_state_show.c: about an event of the failing run, if known
void near_print_state(const Near *n, uint32_t event, const char *root,
                      FILE *out);
// What is not known, or uncertain; prints nothing if all is known.
void near_print_limits(const Near *n, FILE *out);
// One sentence for the note; "": not known.
const char *near_matters(const Near *n, uint32_t event, Arena *arena);
void near_json_state(const Near *n, uint32_t event, FILE *out);
void near_json_wrong(const Near *n, const char *root, FILE *out);

#endif
