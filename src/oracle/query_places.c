// Where a text that was sent comes from: see query_places.h.
#include "oracle/query_places.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

enum { EXCERPT = 60, POINTS_MOST = 64, NAME_MOST = 256 };

// How a place of the text is told.
typedef struct {
  const char *near, *part, *sender, *caller;
} Telling;

// Bytes of the text that the message is about.
typedef struct {
  const char *text;
  size_t n;
  const Telling *told;
  size_t at[POINTS_MOST];
  size_t npoints;
} Points;

// --- what the message points at ---------------------------------------------

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void add_point(Points *p, size_t at) {
  if (p->npoints < POINTS_MOST)
    p->at[p->npoints++] = at;
}

// Everywhere this name stands in the query, as a whole word.
static bool point_at_name(Points *p, const char *name, size_t n) {
  size_t before = p->npoints;
  const char *end = p->text + p->n, *at = p->text;
  while (n && (at = memmem(at, (size_t)(end - at), name, n))) {
    bool starts = at == p->text || !is_word(at[-1]) || !is_word(*name);
    bool ends = at + n == end || !is_word(at[n]) || !is_word(name[n - 1]);
    if (starts && ends)
      add_point(p, (size_t)(at - p->text));
    at++;
  }
  return p->npoints > before;
}

// "shop.itme" stands there as itme.
static void point_at_named(Points *p, const char *name, size_t n) {
  const char *dot = memrchr(name, '.', n);
  if (n && n < NAME_MOST && !point_at_name(p, name, n) && dot)
    point_at_name(p, dot + 1, n - (size_t)(dot + 1 - name));
}

// The last place of these bytes in the query. False: there is none.
static bool point_at_text(Points *p, const char *text, size_t n) {
  for (size_t at = p->n; n && at-- > 0;)
    if (p->n - at >= n && !memcmp(p->text + at, text, n)) {
      add_point(p, at);
      return true;
    }
  return false;
}

// MariaDB quotes the rest of the query, or 80 bytes of it and "...". The quote
// that ends it is the last before " at line".
static bool point_at_rest(Points *p, const char *message) {
  const char *near = strstr(message, " near '");
  const char *end = near ? strstr(near, "' at line ") : NULL;
  for (const char *next; end && (next = strstr(end + 1, "' at line "));)
    end = next;
  if (!end)
    return false;
  near += strlen(" near '");
  size_t n = (size_t)(end - near);
  if (!n && p->n)
    add_point(p, p->n - 1);
  if (!point_at_text(p, near, n) && n > 3 && !memcmp(end - 3, "...", 3))
    point_at_text(p, near, n - 3);
  return true;
}

static void point_at_quoted(Points *p, const char *message) {
  for (const char *m = message; (m = strpbrk(m, "'\"`"));) {
    const char *end = strchr(m + 1, *m);
    if (!end)
      return;
    point_at_named(p, m + 1, (size_t)(end - m - 1));
    m = end + 1;
  }
}

// "no such column: naem", "has no column named naem"
static void point_at_last(Points *p, const char *message) {
  static const char *const before[] = {
      "column: ", "table: ", "function: ", "column named ", NULL};
  for (const char *const *b = before; *b; b++) {
    const char *name = strstr(message, *b);
    if (!name)
      continue;
    name += strlen(*b);
    point_at_named(p, name, strcspn(name, " ,;()"));
  }
}

static void find_points(Points *p, const char *message) {
  if (point_at_rest(p, message))
    return;
  point_at_quoted(p, message);
  point_at_last(p, message);
}

// --- what is blamed ---------------------------------------------------------

bool query_blamed_literal(const PhpFault *f, ExecutedText *x, TextOrigin *out) {
  Points p = {.text = f->sql, .n = strlen(f->sql)};
  TextOrigins found = {0};
  find_points(&p, f->message);
  if (p.npoints)
    origin_of_byte(x, p.text, p.n, p.at[0], false, &found);
  bool any = found.len > 0;
  if (any)
    *out = found.items[0];
  array_release(&found);
  return any;
}

static bool is_quoted(const char *sql, size_t at) {
  char open = 0;
  for (size_t i = 0; i < at; i++)
    if (open ? sql[i] == open : strchr("'\"`", sql[i]) != NULL)
      open = open ? 0 : sql[i];
  return open;
}

// "Duplicate entry '5'" is about a value, "Unknown column '5'" about a name.
bool query_blames_value(const PhpFault *f, ExecutedText *x) {
  Points p = {.text = f->sql, .n = strlen(f->sql)};
  TextOrigin ignored;
  find_points(&p, f->message);
  bool name = p.npoints && (!isdigit((unsigned char)p.text[p.at[0]]) ||
                            strstr(f->message, "column '"));
  return name && !is_quoted(p.text, p.at[0]) &&
         !query_blamed_literal(f, x, &ignored);
}

// --- places -----------------------------------------------------------------

static bool is_there(const FailurePlaces *l, const char *file, uint32_t line) {
  for (size_t i = 0; i < l->len; i++)
    if (l->items[i].line == line && !strcmp(l->items[i].file, file))
      return true;
  return false;
}

// One line of what the literal holds of the query, with the byte in it.
static char *excerpt_of(const Points *p, const TextOrigin *o, size_t at) {
  size_t back = at > EXCERPT / 2 ? at - EXCERPT / 2 : 0;
  while (at > o->from && at > back && p->text[at - 1] != '\n')
    at--;
  while (at < o->to && (p->text[at] & 0xc0) == 0x80)
    at++;
  while (at < o->to && isspace((unsigned char)p->text[at]))
    at++;
  size_t n = 0;
  while (at + n < o->to && n < EXCERPT && p->text[at + n] != '\n')
    n++;
  while (n && (p->text[at + n] & 0xc0) == 0x80)
    n--; // not in the middle of a character
  return mem_printf("%.*s", (int)n, p->text + at);
}

static void add_place(FailurePlaces *out, PlaceRole role, const char *file,
                      uint32_t line, uint32_t statement, const char *what,
                      char *excerpt) {
  FailurePlace place = {.file = mem_strdup(file),
                        .line = line,
                        .statement = statement,
                        .role = role,
                        .what = mem_strdup(what),
                        .excerpt = excerpt};
  if (*file && !is_there(out, file, line))
    array_push(out, place);
  else
    failure_place_release(&place);
}

static void add_origin(const Points *p, const TextOrigin *o, size_t at,
                       PlaceRole role, FailurePlaces *out) {
  add_place(out, role, o->file, o->line, o->statement,
            role == PLACE_NEAR ? p->told->near : p->told->part,
            excerpt_of(p, o, at));
}

// The literals that hold this byte; of a value, the one before it.
static void add_near(const Points *p, ExecutedText *x, const TextOrigins *whole,
                     size_t at, FailurePlaces *out) {
  TextOrigins found = {0};
  origin_of_byte(x, p->text, p->n, at, false, &found);
  for (size_t i = 0; i < found.len; i++)
    add_origin(p, &found.items[i], at, PLACE_NEAR, out);
  const TextOrigin *before = NULL;
  for (size_t i = 0; !found.len && i < whole->len; i++)
    if (whole->items[i].to <= at)
      before = &whole->items[i];
  if (before)
    add_origin(p, before, before->from, PLACE_NEAR, out);
  array_release(&found);
}

static void add_senders(const PhpFault *f, const Telling *told,
                        FailurePlaces *out) {
  add_place(out, PLACE_SENT, f->file, f->line, 0, told->sender, mem_strdup(""));
  for (size_t i = 0; i < f->ncallers; i++)
    add_place(out, PLACE_SENT, f->callers[i].file, f->callers[i].line, 0,
              told->caller, mem_strdup(""));
}

static void add_texts(const Points *p, ExecutedText *x, FailurePlaces *out) {
  TextOrigins whole = {0};
  origin_of_text(x, p->text, p->n, &whole);
  for (size_t i = 0; i < p->npoints; i++)
    add_near(p, x, &whole, p->at[i], out);
  for (size_t i = 0; i < whole.len; i++)
    add_origin(p, &whole.items[i], whole.items[i].from, PLACE_QUERY, out);
  array_release(&whole);
}

// --- queries ----------------------------------------------------------------

void query_places(const PhpFault *f, ExecutedText *x, FailurePlaces *out) {
  static const Telling told = {
      .near = "the database complains about this",
      .part = "part of the failed query",
      .sender = "sent the failed query",
      .caller = "called what sent the failed query",
  };
  Points p = {.text = f->sql, .n = strlen(f->sql), .told = &told};
  find_points(&p, f->message);
  add_texts(&p, x, out);
  add_senders(f, &told, out);
}

// --- headers, cookies, mail, files ------------------------------------------

#define TELLING(noun, did)                                                     \
  {.near = "the message is about this",                                        \
   .part = "part of the " noun,                                                \
   .sender = did " the " noun,                                                 \
   .caller = "called what " did " the " noun}

static const struct {
  const char *function;
  Telling told;
} sendings[] = {
    {"header", TELLING("header", "sent")},
    {"http_response_code", TELLING("status", "set")},
    {"setcookie", TELLING("cookie", "set")},
    {"setrawcookie", TELLING("cookie", "set")},
    {"session_start", TELLING("session", "started")},
    {"mail", TELLING("mail", "sent")},
    {"mb_send_mail", TELLING("mail", "sent")},
    {"fopen", TELLING("file", "opened")},
    {NULL, TELLING("file", "wrote")},
};

static const Telling *telling_of(const char *function) {
  size_t i = 0;
  while (sendings[i].function && strcmp(sendings[i].function, function) != 0)
    i++;
  return &sendings[i].told;
}

// "fopen(/no/such/file): Failed to open stream: ..."
static void point_at_argument(Points *p, const PhpFault *f) {
  size_t n = strlen(f->sent.function);
  const char *at = strstr(f->message, f->sent.function);
  const char *end = at && at[n] == '(' ? strstr(at, "): ") : NULL;
  if (end)
    point_at_text(p, at + n + 1, (size_t)(end - at) - n - 1);
}

// A header must not have any; one behind another ends the headers of a mail.
static void point_at_newline(Points *p, bool any) {
  for (size_t i = 0; i < p->n; i++)
    if (p->text[i] == '\n' &&
        (any || i + 1 == p->n || strchr("\r\n", p->text[i + 1])))
      add_point(p, i);
}

static void find_sent_points(Points *p, const PhpFault *f) {
  point_at_argument(p, f);
  if (p->n && strstr(f->message, "Argument #1 (") &&
      !strstr(f->message, "($stream)"))
    add_point(p, 0); // the first text is the first argument
  if (strstr(f->message, "new line detected"))
    point_at_newline(p, true);
  else if (strstr(f->message, "malformed newlines"))
    point_at_newline(p, false);
}

// The headers went out with the first output: where that came from, as the
// message says, or else the output map. False: it is not about that.
static bool add_start(const PhpFault *f, const PhpRecord *record,
                      FailurePlaces *out) {
  static const char started[] = "output started at ";
  const char *at = strstr(f->message, started);
  const char *colon = at ? strrchr(at, ':') : NULL;
  const OutputPiece *first = record->npieces ? record->pieces : NULL;
  if (!colon && !(strstr(f->message, "already") && strstr(f->message, "sent")))
    return false;
  char *file = colon ? mem_printf("%.*s", (int)(colon - at - strlen(started)),
                                  at + strlen(started))
                     : mem_strdup(first ? first->file : "");
  uint32_t line = colon   ? (uint32_t)strtoul(colon + 1, NULL, 10)
                  : first ? first->line
                          : 0;
  add_place(out, PLACE_NEAR, file, line, 0,
            "the output started here, and the headers went out with it",
            mem_strdup(""));
  free(file);
  return true;
}

void sent_places(const PhpFault *f, const PhpRecord *record, ExecutedText *x,
                 FailurePlaces *out) {
  Points p = {.text = f->sent.text,
              .n = strlen(f->sent.text),
              .told = telling_of(f->sent.function)};
  if (!add_start(f, record, out)) {
    find_sent_points(&p, f);
    add_texts(&p, x, out);
  }
  add_senders(f, p.told, out);
}
