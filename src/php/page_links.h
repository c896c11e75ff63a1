// The links, forms and redirects of a page, and addresses in simple scripts, as
// requests that a visitor could make next. Parsed with Gumbo, so that any bytes
// are a page.
//
//   <a href="view.php?id=3">            GET /view.php?id=3
//   <form method=post action=login.php> POST /login.php, with its fields
//   <meta http-equiv=refresh content="0; url=/">, location = 'next.php'
//
// Only addresses on the site count: relative ones, those on localhost and those on
// the host of that name, NULL: none. The
// fields of a form come with their defaults, wherever they stand (form="id"),
// without disabled ones; the caller fills them in.
#ifndef CULPRIT_PHP_PAGE_LINKS_H
#define CULPRIT_PHP_PAGE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/array.h"

typedef enum {
  FIELD_FREE,   // text, password, textarea, number, ...
  FIELD_FIXED,  // hidden
  FIELD_CHOICE, // select, radio: one of its options
  FIELD_TICK,   // a checkbox, an option of many: sent or not
  FIELD_FILE,   // an upload; value: what it accepts
  FIELD_BUTTON  // a submit button: one of them is pressed; name "": it sends
                // nothing of its own
} FieldKind;

// Where a form is sent to, and how.
typedef struct {
  const char *path, *query; // below the site's root; query: "" if none
  bool post, multipart;
} FormTarget;

typedef struct {
  const char *name, *value; // value: the default
  FieldKind kind;
  bool on;              // TICK: by default; CHOICE: has a default
  bool image;           // BUTTON: sends name.x and name.y
  const char *type;     // FREE: of the input, such as "date"; "": any text
  const char *least;    // FREE: the smallest number; NULL: any
  const char **options; // CHOICE: all values
  size_t noptions;
  const FormTarget *sends; // BUTTON: formaction, formmethod; NULL: as the form
} Field;

typedef struct {
  const char *path, *query; // below the site's root; query: "" if none
  bool form, post, multipart;
  bool last; // seems to end or destroy something: logout, delete
  Field *fields;
  size_t nfields;
} Link;
typedef ARRAY(Link) Links;

enum {
  LINKS_PAGE = 2 << 20,
  LINKS_MOST = 1000, // of one page
  FIELDS_MOST = 200, // of one form
  OPTIONS_MOST = 64  // of one choice
};

// Those of the page at `path`?`query`, in the order of the page; none of a page
// above LINKS_PAGE bytes. Memory: arena (no array_release).
Links links_read(const char *page, size_t len, const char *host,
                 const char *path, const char *query, Arena *arena);

// Does the text suggest that it ends or destroys something? NULL: no.
bool link_ends_something(const char *text);

// Where an address in the page at `base` leads to; false: off the site, or
// nowhere ("#top", "mailto:x").
bool link_resolve(const char *host, const char *base, const char *address,
                  const char **path, const char **query, Arena *arena);

// The host that an address names, if it is another one; NULL: it is on the site, or
// names none.
const char *link_other_host(const char *address, const char *host,
                            Arena *arena);

#endif
