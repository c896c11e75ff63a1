// Values that come from the page at the moment of sending: a header
//
//   Culprit-Fresh: token nonce
//
// of a request in a list says that the form data it names are those of the
// hidden fields on the last page of the visitor that had such a field, whatever
// the list says. So a list outlives CSRF tokens. The header itself is not sent.
#ifndef CULPRIT_PHP_FRESH_H
#define CULPRIT_PHP_FRESH_H

#include "php/child.h"
#include "php/page_links.h"
#include "php/request.h"
#include "util/arena.h"
#include "util/hashmap.h"
#include "util/str.h"

#define FRESH_HEADER "Culprit-Fresh"

// What the visitor's pages showed so far.
typedef struct {
  Hashmap fields; // name -> index of values
  Words values;
} Fresh;

void fresh_release(Fresh *f);
// Takes the hidden fields of an answer to `r`.
void fresh_note(Fresh *f, const Request *r, const Response *page);
// The request as it is to be sent; memory: arena.
Request fresh_apply(const Fresh *f, const Request *r, Arena *arena);
// Does the header, NULL: none, name this field?
bool fresh_names(const char *header, const char *name);

#endif
