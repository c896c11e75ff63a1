// A request as the explorer changes it: a script and named values; and guesses
// for the fields of forms.
//
//   Ask a = ask_link("/view.php", "id=3&q=a+b", arena);
//   Ask b = ask_with(&a, IN_QUERY, "id", "4", arena);
//   ask_request(&b, 7, &request, arena);          GET /view.php?id=4&q=a+b
//
// Asks are values; what they point to lies in the arena they were made with.
#ifndef CULPRIT_PHP_ASK_H
#define CULPRIT_PHP_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "php/page_links.h"
#include "php/request.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/str.h"

// IN_FILE: an upload; the value is the file's name, its content follows from
// that. It makes the body multipart/form-data.
typedef enum { IN_QUERY, IN_BODY, IN_COOKIE, IN_FILE } ParamPlace;

typedef struct {
  const char *name, *value;
  ParamPlace place;
  bool bare; // ?name, without a value
  bool page; // the value of a hidden field, such as a CSRF token
} Param;

// Another method than GET and POST.
typedef enum {
  ASK_USUAL,
  ASK_PUT,
  ASK_DELETE,
  ASK_PATCH,
  ASK_METHODS
} AskMethod;

typedef struct {
  bool post; // it may have a body
  const char *path;
  const Param *params;
  size_t nparams;
  AskMethod method;
  bool json; // the body is a JSON object
} Ask;
typedef ARRAY(Ask) Asks;

Ask ask_link(const char *path, const char *query, Arena *arena);
// A request of a list; false: its body is not plain form data.
bool ask_from(const Request *r, Ask *out, Arena *arena);
// One parameter set, or added. A value in the body makes it a POST.
Ask ask_with(const Ask *a, ParamPlace place, const char *name,
             const char *value, Arena *arena);
// The value of a parameter comes from a page (Param.page).
Ask ask_with_fresh(const Ask *a, size_t param, const char *value, Arena *arena);
bool ask_has(const Ask *a, ParamPlace place, const char *name);
Ask ask_without(const Ask *a, size_t param, Arena *arena);
Ask ask_copy(const Ask *a, Arena *arena);
// "PUT"; unknown ones become GET.
void ask_set_method(Ask *a, const char *method);

// The request, named after its number.
void ask_request(const Ask *a, unsigned number, Request *out, Arena *arena);
// Adds a key: equal for equal requests, whatever the order of their parameters.
// `values` false: of the script and the names only.
void ask_key(const Ask *a, bool values, Str *out);

// Ways to fill in a form: all free fields filled, none of them, each button,
// each option of a choice, each box ticked or not and all of them, each file of
// another kind or none. Appended to `out`.
void ask_form(const Link *form, Asks *out, Arena *arena);

// A plausible value for a field of this name: "1" for an id, a date for a
// birthday, else a word that can be recognized when it is compared.
const char *ask_guess(const char *name, bool number, Arena *arena);

#endif
