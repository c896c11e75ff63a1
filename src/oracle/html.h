// Is a page good HTML? libtidy and a content-model checker of our own over
// Gumbo's HTML5 tree. Each fault comes with every place in the page that has to
// do with it, so that the output map can name the lines that printed them.
//
//   <H2>Details          unclosed-element: h2, at the opening tag and at the
//   </BODY>              place where </H2> should have been
#ifndef CULPRIT_ORACLE_HTML_H
#define CULPRIT_ORACLE_HTML_H

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/err.h"

typedef struct {
  size_t offset, length; // bytes of the page
  const char *what;      // "opened here", "should be closed before this", ...
} HtmlPlace;

typedef struct {
  const char *key;     // stable: unclosed-element, stray-end-tag, ...
  const char *element; // lower case, "" if it is about none
  const char *message; // one line for people, without positions or page text
                       // that differs from page to page
  HtmlPlace *places;   // the first is the main one
  size_t nplaces;      // 1 or more
} HtmlFault;

typedef struct {
  bool doctype;         // a missing DOCTYPE is a fault
  bool no_explicit_end; // <body> or <html> written without its end tag is fine
  const char *ignore;   // comma-separated keys, NULL: none
} HtmlOptions;

// Faults by their first place; each once. Memory: arena.
int html_check(const char *page, size_t len, const HtmlOptions *o,
               HtmlFault **out, size_t *n, Arena *arena, Err *err);

// Does it look like a page at all (Content-Type header, may be NULL, and
// bytes)?
bool html_is_page(const char *content_type, const char *body, size_t len);

// The table of keys with a line on each, for the manual: NULL key ends it.
typedef struct {
  const char *key, *doc;
} HtmlKey;
extern const HtmlKey html_keys[];

#endif
