// The response of a CGI program: see page.h.
#include "php/page.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEPT_BETWEEN = 4 << 20 };

static void empty(Str *s) {
  if (s->cap > KEPT_BETWEEN)
    str_release(s);
  str_clear(s);
}

void page_begin(Page *p, size_t max_body) {
  empty(&p->head);
  empty(&p->body);
  empty(&p->errors);
  p->max_body = max_body;
  p->in_body = p->cut = false;
}

void page_release(Page *p) {
  str_release(&p->head);
  str_release(&p->body);
  str_release(&p->errors);
}

static void add_body(Page *p, const char *bytes, size_t n) {
  size_t room = p->max_body - p->body.len;
  if (n > room) {
    n = room;
    p->cut = true;
  }
  if (n)
    str_addn(&p->body, bytes, n);
}

// Where the empty line that ends the headers has its end; 0: not here yet.
static size_t find_end(const Str *head, size_t from) {
  const char *s = head->data;
  for (size_t i = from; i < head->len; i++) {
    if (s[i] != '\n')
      continue;
    if (i == 0 || s[i - 1] == '\n')
      return i + 1;
    if (s[i - 1] == '\r' && (i == 1 || s[i - 2] == '\n'))
      return i + 1;
  }
  return 0;
}

static void add_head(Page *p, const char *bytes, size_t n) {
  size_t from = p->head.len;
  size_t room = PAGE_HEADERS - from, rest = n > room ? n - room : 0;
  str_addn(&p->head, bytes, n - rest);
  size_t end = find_end(&p->head, from);
  if (!end && p->head.len < PAGE_HEADERS)
    return;
  p->in_body = true;
  if (end) { // what is behind it belongs to the body
    size_t behind = p->head.len - end;
    p->head.len = end;
    p->head.data[end] = '\0';
    add_body(p, bytes + n - rest - behind, behind + rest);
  } else {
    add_body(p, bytes + n - rest, rest);
  }
}

void page_output(void *page, const char *bytes, size_t n) {
  Page *p = page;
  if (p->in_body)
    add_body(p, bytes, n);
  else
    add_head(p, bytes, n);
}

void page_errors(void *page, const char *bytes, size_t n) {
  Page *p = page;
  size_t room = PAGE_ERRORS - p->errors.len;
  if (n > room)
    n = room;
  if (n)
    str_addn(&p->errors, bytes, n);
}

// --- reading the headers ----------------------------------------------------

static void add_header(const char *line, size_t n, Response *out,
                       Headers *found, Arena *arena) {
  const char *colon = memchr(line, ':', n);
  if (!colon || !is_token(line, (size_t)(colon - line)))
    return; // not a header: a browser ignores it too
  Header h = {.name = arena_strndup(arena, line, (size_t)(colon - line))};
  const char *value = colon + 1, *end = line + n;
  while (value < end && (*value == ' ' || *value == '\t'))
    value++;
  h.value = arena_strndup(arena, value, (size_t)(end - value));
  if (!strcasecmp(h.name, "Status")) {
    int status = atoi(h.value);
    out->status = status >= 100 && status <= 999 ? status : out->status;
    return;
  }
  array_push(found, h);
}

static void read_headers(const Str *head, Response *out, Arena *arena) {
  Headers found = {0};
  const char *p = str_text(head), *end = p + head->len;
  while (p < end) {
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    size_t n = (size_t)((eol ? eol : end) - p);
    size_t kept = n && p[n - 1] == '\r' ? n - 1 : n;
    add_header(p, kept, out, &found, arena);
    p += n + 1;
  }
  arena_adopt(arena, &found);
  out->headers = found;
}

void page_settle(const Page *p, Response *out, Arena *arena) {
  *out = (Response){.status = 200, .cut = p->cut, .body_len = p->body.len};
  read_headers(&p->head, out, arena);
  if (out->status == 200 && headers_get(&out->headers, "Location"))
    out->status = 302; // as CGI has it
  out->body = arena_strndup(arena, str_text(&p->body), p->body.len);
  out->errors = arena_strndup(arena, str_text(&p->errors), p->errors.len);
}
