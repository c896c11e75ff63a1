// Values taken from the page before when a request is sent: a header
//
//   Culprit-Fresh: token nonce
//
// of a request in a list names form data whose values are replaced by those of
// the hidden fields on the visitor's last page that had such a field. So a list
// stays valid when CSRF tokens change. The header itself is not sent.
#ifndef CULPRIT_PHP_FRESH_H
#define CULPRIT_PHP_FRESH_H

#include "php/child.h"
#include "php/page_links.h"
#include "php/request.h"
#include "util/arena.h"
#include "util/hashmap.h"
#include "util/str.h"

#define FRESH_HEADER "Culprit-Fresh"

// The hidden fields of the visitor's pages so far.
typedef struct {
  Hashmap fields; // name -> index of values
  TextList values;
} Fresh;

void fresh_release(Fresh *f);
// Takes the hidden fields of an answer to `r`. `host`: as links_read.
void fresh_note(Fresh *f, const char *host, const Request *r,
                const Response *page);
// The request as it is to be sent; memory: arena.
Request fresh_apply(const Fresh *f, const Request *r, Arena *arena);
// Does the header, NULL: none, name this field?
bool fresh_names(const char *header, const char *name);

#endif
