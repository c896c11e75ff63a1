// Odd values: what a visitor types into the address bar or pastes into a field.
// No comparison asks for them, but the application has to handle them.
//
//   view.php?id=3           id=987654321 (does not exist), no id at all
//   a text field            markup and quotes; two short words; empty, with all
//                           other fields filled in
#ifndef CULPRIT_EXPLORE_ODD_VALUES_H
#define CULPRIT_EXPLORE_ODD_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "php/ask.h"

typedef struct {
  Ask ask;
  const char *name; // of the value that is odd; "": several
  char kind;        // what is odd about it
} OddRequest;
typedef ARRAY(OddRequest) OddRequests;

enum { ODD_MOST = 40 }; // of one request

// Appends the request with one odd value each, and with markup in all texts.
void odd_requests(const Ask *a, OddRequests *out, Arena *arena);

// Should a value that has come up `times` before be tried again? Tries get
// rarer, so that they fall into different states.
bool odd_is_due(uint64_t times);

#endif
