// The hidden fields of a page. Some hold random values (CSRF tokens): when a
// page is requested again, the new values replace the old ones in the requests
// that were found on it.
#ifndef CULPRIT_EXPLORE_HIDDEN_FIELDS_H
#define CULPRIT_EXPLORE_HIDDEN_FIELDS_H

#include <stddef.h>

#include "php/ask.h"
#include "php/page_links.h"
#include "util/arena.h"
#include "util/str.h"

typedef struct {
  const char *form, *name, *value; // form: the path it is sent to
} HiddenField;
typedef struct {
  const HiddenField *items;
  size_t len;
} HiddenFields;

HiddenFields hidden_fields_of(const Links *links, Arena *arena);
HiddenFields hidden_fields_copy(const HiddenFields *h, Arena *arena);

// A value of the page as first seen, and its value in this worker's page.
typedef struct ValueSwap ValueSwap;
struct ValueSwap {
  const ValueSwap *before;
  const char *old, *now;
};

// Compares the fields of a page (`then`) with those of the same page requested
// again (`now`). `names` (may be NULL) gets the names of the fields that
// differ, separated by blanks.
const ValueSwap *value_swaps_find(const ValueSwap *before,
                                  const HiddenFields *then,
                                  const HiddenFields *now, Str *names,
                                  Arena *arena);
// From the values as first seen to this worker's, and back.
Ask value_swaps_apply(const ValueSwap *swaps, const Ask *ask, Arena *arena);
Ask value_swaps_undo(const ValueSwap *swaps, const Ask *ask, Arena *arena);
HiddenFields hidden_fields_undo(const ValueSwap *swaps, const HiddenFields *h,
                                Arena *arena);

#endif
