// From what an application did with its input to input that makes it do
// something else.
//
// With shadows (php/ext/shadow.h) a request's record tells its path: decisions
// as terms over named inputs, solved for by site_solve_branch.h. Where the
// program lost them (a hash, something decoded), comparisons are still
// recognized by the values in them (php/ext/compare.c), as without shadows:
//
//   sent pw=w7, compared "w7" == "x"         pw=x
//   compared "1" < "10"                      10, 9, 11
//   str_starts_with("w7", "adm")             adm, admw7
//   looked up $_POST["user"], not there      user=w3
//
// What a session keeps is remembered with its terms, so that a decision about
// it is solved for the earlier request that put it there.
//
// The functions share what they remember (one exploration of this process, any
// thread); solve_forget ends it.
#ifndef CULPRIT_GENERATE_SITE_SOLVE_H
#define CULPRIT_GENERATE_SITE_SOLVE_H

#include "generate/site_ask.h"
#include "generate/site_solve_branch.h"
#include "php/record.h"
#include "util/hashmap.h"

// Which outcomes of which comparisons were seen in any request.
typedef struct {
  Hashmap outcomes;
} Seen;

void seen_add(Seen *s, const PhpCompare *c);
// Was it seen to go one way only?
bool seen_one_way(const Seen *s, const PhpCompare *c);
void seen_release(Seen *s);

// Appends the asks that differ from `a`, the request that was recorded, in
// inputs the comparison was about. None: it was about none of them.
void solve_compare(const PhpCompare *c, const Ask *a, Asks *out, Arena *arena);
// ... from an earlier request `a` of the same visitor, if the comparison was
// about something that it left in the session.
void solve_kept(const PhpCompare *c, const Ask *a, Asks *out, Arena *arena);
// ... in keys that were looked up: all of them at once, and each. To be called
// once for each record: it is remembered what the request left in the session.
void solve_absent(const PhpRecord *record, const Ask *a, Asks *out,
                  Arena *arena);

// What was solved since the last solve_forget, in two lines for people, and
// what was not followed. Nothing if there were no decisions about input.
void solve_report(Str *out);
// The same as numbers.
SolveStats solve_stats(void);
// Calls that no term stands for, by function, most frequent first; at most
// `most` names go to `out`. Returns how many there are.
size_t solve_opaque(PhpNamed *out, size_t most);
void solve_forget(void);
// Seconds that Z3 may take for one question; 0: the default, one.
void solve_patience(double seconds);

#endif
