// From what an application compared its input with to input that decides the
// comparison the other way. Input is recognized by its value (php/ext/compare.c
// says how); what cannot be, because the program computed with it first, is not
// solved for.
//
//   sent pw=w7, compared "w7" == "x"         pw=x
//   compared "1" < "10"                      10, 9, 11
//   str_starts_with("w7", "adm")             adm, admw7
//   looked up $_POST["user"], not there      user=w3
#ifndef CULPRIT_GENERATE_SITE_SOLVE_H
#define CULPRIT_GENERATE_SITE_SOLVE_H

#include "generate/site_ask.h"
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

// Appends the asks that differ from `a` in a parameter the comparison was
// about. None: it was about none of them.
void solve_compare(const PhpCompare *c, const Ask *a, Asks *out, Arena *arena);
// ... in keys that were looked up: all of them at once, and each.
void solve_absent(const PhpRecord *record, const Ask *a, Asks *out,
                  Arena *arena);

#endif
