// Between a request (ask.h) and the inputs of its shadows by name:
//
//   GET.id      parameter id of the query         FILES.u[name]  upload u
//   POST.f[0]   f[0] of the body, or the first f[]
//   REQUEST.id  wherever the request has its parameters
//   SERVER.REQUEST_METHOD
#ifndef CULPRIT_EXPLORE_SOLVE_NAMED_INPUT_H
#define CULPRIT_EXPLORE_SOLVE_NAMED_INPUT_H

#include "php/ask.h"
#include "php/record/term.h"

// The request with that input changed; php_null: absent. False: no request has
// such an input, or the value cannot be sent.
bool input_change(const Ask *a, const char *name, PhpValue value, Ask *out,
                  Arena *arena);

#endif
