// The inputs of a request (php/ask.h) by the names they have in terms:
//
//   GET.id      parameter id of the query         FILES.u[name]  upload u
//   POST.f[0]   f[0] of the body, or the first f[]
//   REQUEST.id  wherever the request has its parameters
//   SERVER.REQUEST_METHOD
#ifndef CULPRIT_EXPLORE_SOLVE_NAMED_INPUT_H
#define CULPRIT_EXPLORE_SOLVE_NAMED_INPUT_H

#include "php/ask.h"
#include "php/record/term.h"

// The request with that input changed; php_null: absent. False: a request
// cannot have such an input or value.
bool input_change(const Ask *a, const char *name, PhpValue value, Ask *out,
                  Arena *arena);

#endif
