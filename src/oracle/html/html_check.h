// Finds faults in an HTML page. Each fault has all places in the page that are
// involved, so that the output map can name the lines that printed them.
//
//   <H2>Details          unclosed-element: h2, at the opening tag and at the
//   </BODY>              place where </H2> should have been
//
// html_token.c splits the page into tags, html_balance.c matches start and end
// tags and checks the content model, html_model.c confirms the latter with
// Gumbo's HTML5 tree, html_tidy.c adds what libtidy reports about attribute
// values. docs/reference/html-oracle.md says which of them decides what, and
// why. One mistake in the page is one fault.
#ifndef CULPRIT_ORACLE_HTML_HTML_CHECK_H
#define CULPRIT_ORACLE_HTML_HTML_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/err.h"

#define HTML_PAGE_ENDS "the page ends here" // `what` of its last visible byte

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
  bool xhtml;           // served as XHTML: <div/> is closed (as in a page that
                        // starts with <?xml)
  bool no_tidy;         // leave libtidy out: its keys are never reported
  const char *ignore;   // comma-separated keys, NULL: none
  const char *enable;   // those of the keys that are off by default, or "all"
} HtmlOptions;

enum {
  HTML_FAULTS_MAX = 1000,        // of one page; what is found later is left out
  HTML_PLACES_MAX = 64,          // of one fault, the last one always kept
  HTML_PAGE_MAX = INT32_MAX - 1, // bytes of a page
};

// Faults by their first place; each once. Memory: arena. Fails on a key in
// `ignore` or `enable` that is unknown, and on a page above HTML_PAGE_MAX.
int html_check(const char *page, size_t len, const HtmlOptions *o,
               HtmlFault **out, size_t *n, Arena *arena, Err *err);

// Does it look like a page at all (Content-Type header, may be NULL, and
// bytes)? Without a content type, it must show <!doctype, <html or such.
bool html_is_page(const char *content_type, const char *body, size_t len);
// Is it declared as HTML, but binary data: NULs in its first bytes, and no tag?
bool html_is_binary(const char *content_type, const char *body, size_t len);

// The Nu checker, if there is one: what it calls an error becomes a fault with
// the key "nu". `command` NULL: `vnu` on the PATH. `path` is a file that holds
// the page. Fails if it cannot be run or its output is not understood.
int html_nu(const char *command, const char *path, HtmlFault **out, size_t *n,
            Arena *arena, Err *err);

// The table of keys with a line on each, for the manual: NULL key ends it.
typedef struct {
  const char *key, *doc;
  bool off; // reported only if enabled
} HtmlKey;
extern const HtmlKey html_keys[];

#endif
