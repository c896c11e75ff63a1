// What tells the faults of PHP applications apart: see fault_identity.h.
#include "oracle/fault_identity.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "oracle/query_places.h"
#include "util/mem.h"

enum { NAME_LEAST = 3, PIECE_MOST = 60, VERBS_MOST = 3 };

void fault_identity_release(FaultIdentity *id) {
  str_release(&id->shape);
  *id = (FaultIdentity){0};
}

// --- the shape of a message -------------------------------------------------

static bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Skips quoted text; an apostrophe inside a word quotes nothing.
static const char *skip_quoted(const char *from, const char *p, Str *out) {
  const char *end = strchr(p + 1, *p);
  if (!end || (p > from && isalnum((unsigned char)p[-1]))) {
    str_addc(out, *p);
    return p + 1;
  }
  str_addf(out, "%c...%c", *p, *p);
  return end + 1;
}

static const char *skip_number(const char *p, Str *out) {
  while (isalnum((unsigned char)*p))
    p++;
  str_addc(out, '#');
  return p;
}

// Is it a value of the request: GET /a.php?call=NAME?
static bool is_input(const char *request, const char *name, size_t n) {
  for (const char *p = request; (p = memmem(p, strlen(p), name, n)); p++)
    if (p > request && p[-1] == '=' && (!p[n] || strchr("& ", p[n])))
      return true;
  return false;
}

// "undefined function NAME()": a name from input is left out. The end of what is
// added; NULL: nothing is.
static const char *skip_input(const char *request, const char *p, Str *out) {
  size_t n = 0;
  while (is_word(p[n]))
    n++;
  if (!n || strncmp(p + n, "()", 2) != 0 || !is_input(request, p, n))
    return NULL;
  str_add(out, "...");
  return p + n;
}

// Of an absolute path the name of the file.
static const char *skip_directories(const char *p) {
  size_t n = strcspn(p, " ,;)\n");
  const char *slash = memrchr(p, '/', n);
  return slash + 1;
}

static void add_shape(const char *message, const char *request, Str *out) {
  for (const char *p = message, *next; *p && *p != '\n';) {
    bool starts = p == message || !isalnum((unsigned char)p[-1]);
    if (*p == '/' && (p == message || strchr(" (", p[-1]))) {
      p = skip_directories(p);
      continue;
    }
    if (is_quote(*p))
      p = skip_quoted(message, p, out);
    else if (starts && (next = skip_input(request, p, out)))
      p = next;
    else if (isdigit((unsigned char)*p) && starts)
      p = skip_number(p, out);
    else
      str_addc(out, *p++);
  }
}

// --- the calls that led there -----------------------------------------------

static PhpCaller frame_at(const PhpFault *f, size_t i) {
  return i ? f->callers[i - 1] : (PhpCaller){f->file, f->line};
}

// Is the literal in the function of the frame?
static bool holds(ExecutedText *x, PhpCaller frame, const TextOrigin *o) {
  if (strcmp(frame.file, o->file) != 0)
    return false;
  uint32_t function = executed_function(x, frame.file, frame.line);
  return function != ENTITY_NONE &&
         function == executed_function(x, o->file, o->statement);
}

// --- failed queries ---------------------------------------------------------

// The quoted name at or behind `p`; NULL: there is none. What is between the
// quotes begins at *name.
static const char *next_name(const char *p, const char **name, size_t *n) {
  while (*p && !is_quote(*p))
    p++;
  const char *end = *p ? strchr(p + 1, *p) : NULL;
  *name = end ? p + 1 : NULL;
  *n = end ? (size_t)(end - p - 1) : 0;
  return end ? end + 1 : NULL;
}

// A message without the names that its statement quotes: servers put them into
// their messages as they are.
static char *without_names(const char *message, const char *sql) {
  Str out = {0};
  const char *name;
  size_t n;
  str_add(&out, message);
  for (const char *p = next_name(sql, &name, &n); p;
       p = next_name(p, &name, &n)) {
    const char *at =
        n >= NAME_LEAST ? memmem(str_text(&out), out.len, name, n) : NULL;
    if (!at)
      continue;
    Str shorter = {0};
    str_addn(&shorter, out.data, (size_t)(at - out.data));
    str_addf(&shorter, "...%s", at + n);
    str_release(&out);
    out = shorter;
  }
  return str_take(&out);
}

// Values may have quotes in them: all from the first quote to the last goes.
static void cut_quoted(char *message) {
  char *first = NULL, *last = NULL;
  for (char *p = message; *p; p++) {
    if (!is_quote(*p))
      continue;
    if (!first && (p == message || !isalnum((unsigned char)p[-1])))
      first = p;
    else if (first && !isalnum((unsigned char)p[1]))
      last = p;
  }
  if (last && last - first > 4) {
    memcpy(first + 1, "...", 3);
    memmove(first + 4, last, strlen(last) + 1);
    first[4] = *first;
  }
}

// The database could not read the statement, or took a value for a name.
static bool is_syntax(const PhpFault *f, ExecutedText *x) {
  static const char *const words[] = {"syntax", "unrecognized token",
                                      "incomplete input", "unterminated", NULL};
  for (const char *const *w = words; *w; w++)
    if (strcasestr(f->message, *w))
      return true;
  return query_blames_value(f, x);
}

// What kind of statement it is, by its words in capitals: SHOW CREATE TABLE. An
// application may run all of them in one line.
static void add_verbs(const char *sql, Str *out) {
  for (int i = 0; i < VERBS_MOST && isupper((unsigned char)*sql); i++) {
    size_t n = strspn(sql, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (sql[n] && !isspace((unsigned char)sql[n]))
      return;
    str_add(out, i ? " " : "");
    str_addn(out, sql, n);
    sql += n + strspn(sql + n, " \t\r\n");
  }
}

// Bytes of the text on one line, with single blanks.
static void add_piece(const char *text, const TextOrigin *o, Str *out) {
  size_t end = o->to - o->from < PIECE_MOST ? o->to : o->from + PIECE_MOST;
  while (end > o->from && end < o->to && (text[end] & 0xc0) == 0x80)
    end--; // not in the middle of a character
  while (end > o->from && isspace((unsigned char)text[end - 1]))
    end--;
  for (size_t i = o->from; i < end; i++) {
    bool blank = isspace((unsigned char)text[i]);
    if (!blank || (i > o->from && !isspace((unsigned char)text[i - 1])))
      str_addc(out, blank ? ' ' : text[i]);
  }
}

// How the query begins, as the source has it.
static void add_beginning(const char *sql, const TextOrigins *origins,
                          Str *out) {
  size_t blanks = strspn(sql, " \t\r\n(");
  const TextOrigin *first = origins->len ? &origins->items[0] : NULL;
  if (!first || first->from > blanks)
    add_verbs(sql + blanks, out);
  else
    add_piece(sql, first, out);
}

static void add_query_shape(const PhpFault *f, ExecutedText *x,
                            const TextOrigins *origins, Str *out) {
  char *message = without_names(f->message, f->sql);
  cut_quoted(message);
  if (is_syntax(f, x))
    str_add(out, "syntax error");
  else
    add_shape(message, "", out);
  str_add(out, " [");
  add_beginning(f->sql, origins, out);
  str_addc(out, ']');
  free(message);
}

// A query that several statements built: the part that is blamed, if it is not
// the beginning.
static void add_blamed(const PhpFault *f, ExecutedText *x,
                       const TextOrigins *origins, Str *out) {
  const TextOrigin *first = origins->len ? &origins->items[0] : NULL;
  TextOrigin blamed;
  if (!first || !query_blamed_literal(f, x, &blamed) ||
      (blamed.statement == first->statement &&
       !strcmp(blamed.file, first->file)))
    return;
  str_add(out, " at [");
  add_piece(f->sql, &blamed, out);
  str_addc(out, ']');
}

// Is the literal part of the query's structure: neither behind the first quote,
// where values are, nor equal to a value of the request?
static bool is_structure(const PhpFault *f, const TextOrigin *o,
                         const char *request) {
  return o->from < strcspn(f->sql, "'\"") &&
         !is_input(request, f->sql + o->from, o->to - o->from);
}

// Does the function of the frame hold part of the query?
static bool builds(const PhpFault *f, size_t frame, ExecutedText *x,
                   const TextOrigins *origins, const char *request) {
  for (size_t i = 0; i < origins->len; i++)
    if (is_structure(f, &origins->items[i], request) &&
        holds(x, frame_at(f, frame), &origins->items[i]))
      return true;
  return false;
}

// Does the call in the frame itself: $db->update('account', $row)?
static bool passes(const PhpFault *f, size_t frame, const TextOrigins *origins,
                   const char *request) {
  PhpCaller call = frame_at(f, frame);
  for (size_t i = 0; i < origins->len; i++) {
    const TextOrigin *o = &origins->items[i];
    if (is_structure(f, o, request) && !strcmp(o->file, call.file) &&
        (o->statement == call.line || o->line == call.line))
      return true;
  }
  return false;
}

// The innermost call from a function that builds the query, or the one that
// passed part of it on to that.
static PhpCaller query_sender(const PhpFault *f, ExecutedText *x,
                              const TextOrigins *origins, const char *request) {
  size_t i = 0;
  while (i <= f->ncallers && !builds(f, i, x, origins, request))
    i++;
  if (i > f->ncallers)
    return frame_at(f, f->ncallers && *f->callers[0].file ? 1 : 0);
  while (i < f->ncallers && passes(f, i + 1, origins, request))
    i++;
  return frame_at(f, i);
}

static void identify_query(const PhpFault *f, ExecutedText *x,
                           const char *request, FaultIdentity *out) {
  TextOrigins origins = {0};
  origin_of_text(x, f->sql, strlen(f->sql), &origins);
  PhpCaller sender = query_sender(f, x, &origins, request);
  out->file = sender.file;
  out->line = sender.line;
  add_query_shape(f, x, &origins, &out->shape);
  add_blamed(f, x, &origins, &out->shape);
  array_release(&origins);
}

// --- other faults -----------------------------------------------------------

// Behind "Uncaught Exception: ".
static const char *own_text(const char *message) {
  const char *colon =
      !strncmp(message, "Uncaught ", 9) ? strstr(message, ": ") : NULL;
  return colon ? colon + 2 : message;
}

// The text without what the statement of its first literal did not put in.
static void add_own_shape(const char *text, size_t n,
                          const TextOrigins *origins, Str *out) {
  const TextOrigin *first = &origins->items[0];
  size_t at = 0;
  for (size_t i = 0; i < origins->len; i++) {
    const TextOrigin *o = &origins->items[i];
    if (o->from < at || o->statement != first->statement ||
        strcmp(o->file, first->file) != 0)
      continue;
    str_add(out, o->from > at ? "..." : "");
    add_piece(text, o, out);
    at = o->to;
  }
  str_add(out, at < n ? "..." : "");
}

// A message of the application's own: some function that was being executed
// holds its beginning. That is where it comes from.
static bool identify_own(const PhpFault *f, ExecutedText *x,
                         FaultIdentity *out) {
  const char *text = own_text(f->message);
  size_t n = strcspn(text, "\n");
  TextOrigins origins = {0};
  bool found = false;
  origin_of_text(x, text, n, &origins);
  for (size_t i = 0; !found && i <= f->ncallers; i++) {
    PhpCaller frame = frame_at(f, i);
    for (size_t k = 0; !found && k < origins.len && !origins.items[k].from; k++)
      found = holds(x, frame, &origins.items[k]);
    out->file = found ? frame.file : out->file;
    out->line = found ? frame.line : out->line;
  }
  if (found) {
    str_addn(&out->shape, f->message, (size_t)(text - f->message));
    add_own_shape(text, n, &origins, &out->shape);
  }
  array_release(&origins);
  return found;
}

// "..., called in FILE on line N": the call is wrong, not what was called.
static const char *called_in(const PhpFault *f, FaultIdentity *out) {
  const char *at = strstr(f->message, ", called in ");
  const char *line = at ? strstr(at, " on line ") : NULL;
  if (!line || !f->ncallers || !*f->callers[0].file)
    return NULL;
  out->file = f->callers[0].file;
  out->line = (uint32_t)strtoul(line + strlen(" on line "), NULL, 10);
  return at;
}

void fault_identity(const PhpFault *f, const PhpFault *query, ExecutedText *x,
                    const char *request, FaultIdentity *out) {
  *out = (FaultIdentity){.file = f->file, .line = f->line};
  if (query) {
    identify_query(query, x, request, out);
    return;
  }
  if (identify_own(f, x, out))
    return;
  const char *end = called_in(f, out);
  char *message = end ? mem_printf("%.*s", (int)(end - f->message), f->message)
                      : mem_strdup(f->message);
  add_shape(message, request, &out->shape);
  free(message);
}

// --- consequences -----------------------------------------------------------

bool fault_follows_query(const PhpFault *fatal, const PhpFault *query) {
  const char *m = fatal->message;
  if (*query->message && strstr(m, query->message))
    return true;
  size_t n = strlen(m);
  bool call = strstr(m, "Call to a member function ") && n > 8 &&
              (!strcmp(m + n - 8, " on bool") || strstr(m, " on false"));
  bool argument = strcasestr(m, "result") && strstr(m, " must be of type ") &&
                  (strstr(m, ", bool given") || strstr(m, ", false given"));
  return call || argument;
}

// --- pages ------------------------------------------------------------------

const char *html_identity_key(const char *key) {
  static const char *const same[] = {"mismatched-end-tag", "misnested-tags",
                                     NULL};
  for (const char *const *s = same; *s; s++)
    if (!strcmp(key, *s))
      return "unclosed-element";
  return key;
}
