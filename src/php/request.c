// Requests and lists of them: see request.h.
#include "php/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/fs.h"
#include "util/str.h"

// --- what lists and answers are made of -------------------------------------

const char *headers_get(const Headers *h, const char *name) {
  for (size_t i = 0; i < h->len; i++)
    if (!strcasecmp(h->items[i].name, name))
      return h->items[i].value;
  return NULL;
}

bool is_token(const char *text, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isalnum((unsigned char)text[i]) && !strchr("!#$%&'*+-.^_`|~", text[i]))
      return false;
  return n > 0 && !memchr(text, '\0', n);
}

// --- a list, line by line ---------------------------------------------------

typedef struct {
  const char *name; // for messages; files of bodies lie beside it
  Requests out;
  Headers headers; // of the request that is being read
  unsigned visitor, line;
  Arena *arena;
  Err *err;
} Reader;

static int fail(Reader *r, const char *what) {
  return err_set(r->err, "%s:%u: %s", r->name, r->line, what);
}

static bool blank(char c) { return c == ' ' || c == '\t'; }

static const char *skip_blanks(const char *p) {
  while (blank(*p))
    p++;
  return p;
}

static size_t word_length(const char *p) { return strcspn(p, " \t"); }

// Gives the headers read so far to the request they belong to.
static void finish_request(Reader *r) {
  if (!r->headers.len)
    return;
  arena_adopt(r->arena, &r->headers);
  array_last(&r->out).headers = r->headers;
  r->headers = (Headers){0};
}

static int read_header(Reader *r, const char *p) {
  const char *colon = strchr(p, ':');
  if (!r->out.len)
    return fail(r, "a header (the line is indented) before the first request");
  if (!colon || !is_token(p, (size_t)(colon - p)))
    return fail(r, "an indented line is a header, NAME: VALUE");
  Header h = {.name = arena_strndup(r->arena, p, (size_t)(colon - p)),
              .value = arena_strdup(r->arena, skip_blanks(colon + 1))};
  array_push(&r->headers, h);
  return 0;
}

// Where @FILE lies: beside the list.
static char *beside(const char *list, const char *file) {
  const char *slash = strrchr(list, '/');
  if (*file == '/' || !slash)
    return mem_strdup(file);
  return mem_printf("%.*s/%s", (int)(slash - list), list, file);
}

static int read_body_file(Reader *r, Request *q, const char *file) {
  char *path = beside(r->name, file);
  Str text = {0};
  Err why;
  int rc = fs_read(path, 0, &text, &why);
  if (rc) {
    err_set(r->err, "%s:%u: body of the request: %s", r->name, r->line,
            why.text);
  } else {
    q->body = arena_strndup(r->arena, str_text(&text), text.len);
    q->body_len = text.len;
  }
  str_release(&text);
  free(path);
  return rc;
}

static int read_body(Reader *r, Request *q, const char *p) {
  if (p[0] == '@' && p[1] != '@')
    return read_body_file(r, q, p + 1);
  if (*p == '@')
    p++;
  q->body = arena_strdup(r->arena, p);
  q->body_len = strlen(q->body);
  return 0;
}

static int read_target(Reader *r, Request *q, const char *p, size_t n) {
  if (!n)
    return fail(r, "no path: a request is METHOD PATH[?QUERY] [BODY]");
  if (*p != '/')
    return fail(r, "the path must begin with /, without scheme and host");
  const char *hash = memchr(p, '#', n); // never sent
  if (hash)
    n = (size_t)(hash - p);
  const char *mark = memchr(p, '?', n);
  size_t path = mark ? (size_t)(mark - p) : n;
  q->path = arena_strndup(r->arena, p, path);
  q->query = mark ? arena_strndup(r->arena, mark + 1, n - path - 1) : "";
  return 0;
}

static int read_method(Reader *r, Request *q, const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] < 'A' || p[i] > 'Z')
      return fail(r, "no method (GET, POST, ..., in capitals): a request is "
                     "METHOD PATH[?QUERY] [BODY]");
  q->method = arena_strndup(r->arena, p, n);
  return 0;
}

static int read_request(Reader *r, const char *p) {
  Request q = {.visitor = r->visitor, .line = r->line, .body = ""};
  size_t n = word_length(p);
  if (n == 5 && !strncmp(p, "setup", n)) {
    q.setup = true;
    p = skip_blanks(p + n);
    n = word_length(p);
  }
  if (read_method(r, &q, p, n))
    return -1;
  p = skip_blanks(p + n);
  n = word_length(p);
  if (read_target(r, &q, p, n) || read_body(r, &q, skip_blanks(p + n)))
    return -1;
  array_push(&r->out, q);
  return 0;
}

static void next_visitor(Reader *r) {
  if (r->out.len && array_last(&r->out).visitor == r->visitor)
    r->visitor++;
}

static int read_line(Reader *r, const char *line) {
  const char *p = skip_blanks(line);
  if (!*p || *p == '#')
    return 0;
  if (p != line)
    return read_header(r, p);
  finish_request(r);
  if (!strcmp(p, "---"))
    return next_visitor(r), 0;
  return read_request(r, p);
}

static int check_line(Reader *r, const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)p[i] < ' ' && p[i] != '\t')
      return fail(r, "a control character; put such a body into a file and "
                     "write @FILE");
  return 0;
}

static int read_lines(Reader *r, const char *text, size_t len) {
  Arena scratch = {0};
  const char *end = text + len;
  int rc = 0;
  for (const char *p = text; !rc && p < end;) {
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    size_t n = (size_t)((eol ? eol : end) - p);
    size_t kept = n;
    while (kept && (blank(p[kept - 1]) || p[kept - 1] == '\r'))
      kept--;
    r->line++;
    rc = check_line(r, p, kept);
    if (!rc)
      rc = read_line(r, arena_strndup(&scratch, p, kept));
    p += n + 1;
  }
  finish_request(r);
  arena_release(&scratch);
  return rc;
}

// --- whole lists ------------------------------------------------------------

static size_t mark_length(const char *text, size_t len) {
  return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

int request_list_parse(const char *name, const char *text, size_t len,
                       Requests *out, Arena *arena, Err *err) {
  Reader r = {.name = name, .arena = arena, .err = err};
  size_t mark = mark_length(text, len);
  *out = (Requests){0};
  int rc = read_lines(&r, text + mark, len - mark);
  array_release(&r.headers);
  if (!rc && !r.out.len)
    rc = err_set(err, "%s: no request; one a line: METHOD PATH[?QUERY] [BODY]",
                 name);
  arena_adopt(arena, &r.out);
  if (!rc)
    *out = r.out;
  return rc;
}

// No line of a list begins with a brace.
static bool is_har(const char *text, size_t len) {
  size_t i = mark_length(text, len);
  while (i < len && isspace((unsigned char)text[i]))
    i++;
  return i < len && text[i] == '{';
}

int request_list_read(const char *path, Requests *out, Arena *arena, Err *err) {
  Str text = {0};
  int rc = fs_read(path, 0, &text, err);
  if (!rc && is_har(str_text(&text), text.len))
    rc = request_list_har(path, text.data, text.len, NULL, out, arena, err);
  else if (!rc)
    rc = request_list_parse(path, str_text(&text), text.len, out, arena, err);
  str_release(&text);
  return rc;
}

// --- and back ---------------------------------------------------------------

static bool fits_a_line(const char *body, size_t n) {
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)body[i] < ' ' || body[i] == 0x7f)
      return false;
  return n && !blank(body[0]) && !blank(body[n - 1]);
}

char *request_text(const Request *r) {
  Str s = {0};
  str_addf(&s, "%s %s", r->method, r->path);
  if (*r->query)
    str_addf(&s, "?%s", r->query);
  if (r->body_len && fits_a_line(r->body, r->body_len)) {
    str_add(&s, *r->body == '@' ? " @" : " ");
    str_addn(&s, r->body, r->body_len);
  } else if (r->body_len) {
    str_addf(&s, " (%zu bytes)", r->body_len);
  }
  return str_take(&s);
}
