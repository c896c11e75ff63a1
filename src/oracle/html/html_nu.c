// The Nu checker (https://validator.github.io), a program of its own:
//
//   vnu --format json --stdout --exit-zero-always PAGE
//   {"messages":[{"type":"error","lastLine":3,"firstColumn":1,"lastColumn":5,
//                 "message":"Stray end tag “h2”.", ...}]}
//
// Columns count UTF-16 units from 1; firstLine is left out if it is lastLine,
// firstColumn if it is lastColumn. Quoted pieces of the page are taken out of
// the messages, names stay.
#include "oracle/html/html_check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/html/html_element.h"
#include "util/array.h"
#include "util/capture.h"
#include "util/fs.h"

typedef struct {
  const char *page;
  size_t len;
  Arena *arena;
  ARRAY(size_t) lines; // where each starts
  ARRAY(HtmlFault) faults;
} Nu;

// --- positions --------------------------------------------------------------

static void find_lines(Nu *nu) {
  array_push(&nu->lines, 0);
  for (size_t i = 0; i < nu->len; i++) {
    char next = i + 1 < nu->len ? nu->page[i + 1] : '\0';
    if (nu->page[i] == '\n' || (nu->page[i] == '\r' && next != '\n'))
      array_push(&nu->lines, i + 1);
  }
}

// The byte of the UTF-16 unit `column` of `line`, both from 1.
static size_t position(const Nu *nu, json_int_t line, json_int_t column) {
  if (line < 1 || (size_t)line > nu->lines.len)
    return nu->len;
  size_t i = nu->lines.items[line - 1];
  for (json_int_t unit = 1; i < nu->len && unit < column;) {
    unsigned char c = nu->page[i++];
    while (i < nu->len && ((unsigned char)nu->page[i] & 0xc0) == 0x80)
      i++;
    unit += c >= 0xf0 ? 2 : 1;
  }
  return i;
}

static json_int_t number(const json_t *m, const char *name, json_int_t other) {
  const json_t *value = json_object_get(m, name);
  return json_is_integer(value) ? json_integer_value(value) : other;
}

static HtmlPlace *place(Nu *nu, const json_t *m) {
  json_int_t last_line = number(m, "lastLine", 1);
  json_int_t last_column = number(m, "lastColumn", 1);
  size_t start = position(nu, number(m, "firstLine", last_line),
                          number(m, "firstColumn", last_column));
  size_t last = position(nu, last_line, last_column);
  HtmlPlace *p = arena_new(nu->arena, HtmlPlace);
  if (start >= nu->len)
    start = nu->len - (nu->len > 0);
  size_t end = last < nu->len ? last + 1 : nu->len;
  *p = (HtmlPlace){start, end > start ? end - start : 0, "here"};
  return p;
}

// --- messages ---------------------------------------------------------------

#define QUOTE "\xe2\x80\x9c"
#define UNQUOTE "\xe2\x80\x9d"

// Is it the name of an element or attribute?
static bool is_name(const char *text, size_t len) {
  return len <= 24 &&
         strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") >= len;
}

// The message without quoted page text.
static const char *clean(Arena *arena, const char *message) {
  Str out = {0};
  for (;;) {
    const char *open = strstr(message, QUOTE);
    const char *close = open ? strstr(open, UNQUOTE) : NULL;
    if (!close)
      break;
    const char *quoted = open + strlen(QUOTE);
    str_addn(&out, message, quoted - message);
    if (is_name(quoted, close - quoted))
      str_addn(&out, quoted, close - quoted);
    else
      str_add(&out, "...");
    str_add(&out, UNQUOTE);
    message = close + strlen(UNQUOTE);
  }
  str_add(&out, message);
  return arena_take(arena, &out);
}

// The first element that the message names; "": none.
static const char *element_in(const char *message) {
  for (const char *open = message; (open = strstr(open, QUOTE)); open++) {
    const char *name = open + strlen(QUOTE), *close = strstr(name, UNQUOTE);
    size_t element = close ? element_find(name, close - name) : EL_COUNT;
    if (element < EL_COUNT)
      return element_info[element].name;
  }
  return "";
}

static void take(Nu *nu, const json_t *m) {
  const char *type = json_string_value(json_object_get(m, "type"));
  const char *message = json_string_value(json_object_get(m, "message"));
  if (!type || !message || strcmp(type, "error") != 0 ||
      nu->faults.len >= HTML_FAULTS_MAX)
    return;
  array_push(&nu->faults, (HtmlFault){.key = "nu",
                                      .element = element_in(message),
                                      .message = clean(nu->arena, message),
                                      .places = place(nu, m),
                                      .nplaces = 1});
}

static int by_place(const void *a, const void *b) {
  const HtmlPlace *p = ((const HtmlFault *)a)->places;
  const HtmlPlace *q = ((const HtmlFault *)b)->places;
  return (p->offset > q->offset) - (p->offset < q->offset);
}

// --- running it -------------------------------------------------------------

// Reads what it printed; there may be lines of its Java before it.
static int read_report(Nu *nu, const char *command, const Str *said, Err *err) {
  const char *start = strchr(str_text(said), '{');
  json_error_t problem;
  json_t *report =
      start ? json_loads(start, JSON_DISABLE_EOF_CHECK, &problem) : NULL;
  json_t *messages = json_object_get(report, "messages");
  if (!json_is_array(messages)) {
    json_decref(report);
    return err_set(err,
                   "%s printed no JSON report but '%.100s'; is it the Nu "
                   "checker (vnu)?",
                   command, str_text(said));
  }
  size_t i;
  json_t *m;
  json_array_foreach(messages, i, m) take(nu, m);
  json_decref(report);
  return 0;
}

static int run(Nu *nu, const char *command, const char *path, Err *err) {
  Str said = {0};
  char *argv[] = {(char *)command,      "--format",   "json", "--stdout",
                  "--exit-zero-always", (char *)path, NULL};
  int status = command_capture(argv, NULL, &said);
  int result = 0;
  if (status == 127)
    result = err_set(err,
                     "%s cannot be run; install the Nu checker (vnu) or give "
                     "the path of it",
                     command);
  else
    result = read_report(nu, command, &said, err);
  str_release(&said);
  return result;
}

static void finish(Nu *nu, HtmlFault **out, size_t *n) {
  *n = nu->faults.len;
  *out = arena_array(nu->arena, HtmlFault, *n + 1);
  if (*n)
    memcpy(*out, nu->faults.items, *n * sizeof **out);
  qsort(*out, *n, sizeof **out, by_place);
}

int html_nu(const char *command, const char *path, HtmlFault **out, size_t *n,
            Arena *arena, Err *err) {
  *out = NULL;
  *n = 0;
  Str page = {0};
  if (fs_read(path, 0, &page, err) != 0)
    return -1;
  Nu nu = {.page = str_text(&page), .len = page.len, .arena = arena};
  find_lines(&nu);
  int result = run(&nu, command ? command : "vnu", path, err);
  if (result == 0)
    finish(&nu, out, n);
  array_release(&nu.lines);
  array_release(&nu.faults);
  str_release(&page);
  return result;
}
