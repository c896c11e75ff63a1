// Requests from the archive a browser saves (HAR 1.2, "save all as HAR"): see
// request.h. An entry becomes one request:
//
//   {"request": {"method": "POST", "url": "https://shop.test/buy?x=1#top",
//                "headers": [...], "postData": {"mimeType": .., "text": ..}}}
//   gives:  POST /buy?x=1 with its body
//
// Left out: headers about the connection and the browser's cache (the answer
// would be 304), and cookies: those of the recording are stale, our own jar
// takes what the application sets. A body is `text` if it is there, else built
// from `params`, which is all that some browsers keep.
#include "php/request.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/str.h"

typedef struct {
  const char *name, *host;
  size_t entry;
  Requests out;
  Arena *arena;
  Err *err;
} Har;

static int fail(Har *h, const char *what) {
  return err_set(h->err, "%s: log.entries[%zu].request: %s", h->name, h->entry,
                 what);
}

static const char *text_of(const json_t *object, const char *key) {
  return json_string_value(json_object_get(object, key));
}

// Escapes (\u0000 among them) may bring in what no header or path can hold.
static bool has_control(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == 0x7f)
      return true;
  return false;
}

// --- the address ------------------------------------------------------------

// Splits "http://host:port/path"; false: it is none that goes to a web server.
static bool split_url(Har *h, const char *url, const char **host,
                      const char **rest) {
  if (!strncasecmp(url, "https://", 8))
    url += 8;
  else if (!strncasecmp(url, "http://", 7))
    url += 7;
  else
    return false;
  size_t n = strcspn(url, "/?#");
  *host = arena_strndup(h->arena, url, n);
  *rest = url + n;
  return n > 0;
}

static void set_target(Har *h, Request *q, const char *rest) {
  size_t n = strcspn(rest, "#"), path = strcspn(rest, "?#");
  q->path = path ? arena_strndup(h->arena, rest, path) : "/";
  q->query =
      path < n ? arena_strndup(h->arena, rest + path + 1, n - path - 1) : "";
}

// --- headers ----------------------------------------------------------------

static bool is_dropped(const char *name) {
  static const char *const dropped[] = {"host",
                                        "cookie",
                                        "content-length",
                                        "connection",
                                        "accept-encoding",
                                        "if-none-match",
                                        "keep-alive",
                                        "if-modified-since",
                                        "transfer-encoding",
                                        "cache-control",
                                        "pragma",
                                        "if-range",
                                        "te",
                                        "upgrade",
                                        "proxy",
                                        "range"};
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
    if (!strcasecmp(name, dropped[i]))
      return true;
  return *name == ':'; // HTTP/2's own
}

static int add_headers(Har *h, Request *q, const json_t *request) {
  Headers found = {0};
  const json_t *list = json_object_get(request, "headers");
  int rc = 0;
  for (size_t i = 0; !rc && i < json_array_size(list); i++) {
    const json_t *item = json_array_get(list, i);
    const char *name = text_of(item, "name"), *value = text_of(item, "value");
    if (!name || !value)
      rc = fail(h, "a header without name or value");
    else if (!is_dropped(name) && is_token(name, strlen(name)) &&
             !has_control(value))
      array_push(&found, (Header){arena_strdup(h->arena, name),
                                  arena_strdup(h->arena, value)});
  }
  arena_adopt(h->arena, &found);
  q->headers = found;
  return rc;
}

static void add_content_type(Har *h, Request *q, const char *type) {
  if (!*type || headers_get(&q->headers, "Content-Type"))
    return;
  Headers more = {0};
  for (size_t i = 0; i < q->headers.len; i++)
    array_push(&more, q->headers.items[i]);
  array_push(&more, (Header){"Content-Type", arena_strdup(h->arena, type)});
  arena_adopt(h->arena, &more);
  q->headers = more;
}

// --- bodies -----------------------------------------------------------------

static void add_encoded(Str *s, const char *text) {
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    if ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
        (*p >= 'A' && *p <= 'Z') || strchr("-_.~", *p))
      str_addc(s, (char)*p);
    else
      str_addf(s, "%%%02X", *p);
  }
}

static void add_form_field(Str *s, const char *name, const char *value) {
  if (s->len)
    str_addc(s, '&');
  add_encoded(s, name);
  str_addc(s, '=');
  add_encoded(s, value);
}

static void add_part(Str *s, const char *boundary, const json_t *param) {
  const char *name = text_of(param, "name"), *value = text_of(param, "value");
  const char *file = text_of(param, "fileName");
  const char *type = text_of(param, "contentType");
  str_addf(s, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary,
           name ? name : "");
  if (file)
    str_addf(s, "; filename=\"%s\"", file);
  if (type)
    str_addf(s, "\r\nContent-Type: %s", type);
  str_addf(s, "\r\n\r\n%s\r\n", value ? value : "");
}

// The boundary named in a multipart type, NULL: none.
static char *boundary_of(Har *h, const char *type) {
  const char *p = strcasestr(type, "boundary=");
  if (!p)
    return NULL;
  p += strlen("boundary=");
  bool quoted = *p == '"';
  p += quoted;
  return arena_strndup(h->arena, p, strcspn(p, quoted ? "\"" : "; "));
}

static void body_from_params(Har *h, const json_t *params, const char **type,
                             Str *s) {
  bool parts = !strncasecmp(*type, "multipart/", 10);
  const char *boundary = parts ? boundary_of(h, *type) : NULL;
  if (parts && !boundary) {
    boundary = "culprit-boundary";
    *type = arena_printf(h->arena, "%s; boundary=%s", *type, boundary);
  }
  for (size_t i = 0; i < json_array_size(params); i++) {
    const json_t *param = json_array_get(params, i);
    const char *name = text_of(param, "name");
    const char *value = text_of(param, "value");
    if (parts)
      add_part(s, boundary, param);
    else
      add_form_field(s, name ? name : "", value ? value : "");
  }
  if (parts)
    str_addf(s, "--%s--\r\n", boundary);
}

static int base64_digit(char c) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *p = c ? strchr(digits, c) : NULL;
  return p ? (int)(p - digits) : -1;
}

static void add_base64(Str *s, const char *text, size_t n) {
  unsigned bits = 0, have = 0;
  for (size_t i = 0; i < n; i++) {
    int d = base64_digit(text[i]);
    if (d < 0)
      continue;
    bits = (bits << 6 | (unsigned)d) & 0xffffff;
    have += 6;
    if (have >= 8) {
      have -= 8;
      str_addc(s, (char)(bits >> have & 0xff));
    }
  }
}

static void add_body(Har *h, Request *q, const json_t *request) {
  const json_t *data = json_object_get(request, "postData");
  const json_t *text = json_object_get(data, "text");
  const char *type = text_of(data, "mimeType");
  const char *encoding = text_of(data, "encoding");
  size_t n = json_string_length(text);
  Str s = {0};
  type = type && !has_control(type) ? type : "";
  if (n && encoding && !strcmp(encoding, "base64"))
    add_base64(&s, json_string_value(text), n);
  else if (n)
    str_addn(&s, json_string_value(text), n);
  else
    body_from_params(h, json_object_get(data, "params"), &type, &s);
  q->body = arena_strndup(h->arena, str_text(&s), s.len);
  q->body_len = s.len;
  if (s.len)
    add_content_type(h, q, type);
  str_release(&s);
}

// --- entries ----------------------------------------------------------------

static int add_entry(Har *h, const json_t *request) {
  const char *method = text_of(request, "method");
  const char *url = text_of(request, "url"), *host, *rest;
  Request q = {.line = (unsigned)h->entry + 1};
  if (!method || !is_token(method, strlen(method)))
    return fail(h, "no method");
  if (!url)
    return fail(h, "no url");
  if (has_control(url) || strchr(url, ' '))
    return fail(h, "the url holds blanks or control characters");
  if (!split_url(h, url, &host, &rest))
    return 0;
  if (!h->host)
    h->host = host;
  if (strcasecmp(host, h->host))
    return 0;
  q.method = arena_strdup(h->arena, method);
  set_target(h, &q, rest);
  if (add_headers(h, &q, request))
    return -1;
  add_body(h, &q, request);
  array_push(&h->out, q);
  return 0;
}

static int add_entries(Har *h, const json_t *root) {
  const json_t *entries =
      json_object_get(json_object_get(root, "log"), "entries");
  if (!json_is_array(entries))
    return err_set(h->err,
                   "%s: no log.entries: not a HAR file; save one from the "
                   "browser's network tools",
                   h->name);
  for (h->entry = 0; h->entry < json_array_size(entries); h->entry++) {
    const json_t *entry = json_array_get(entries, h->entry);
    if (add_entry(h, json_object_get(entry, "request")))
      return -1;
  }
  if (!h->out.len)
    return err_set(h->err, "%s: no request to %s among %zu entr%s", h->name,
                   h->host ? h->host : "a web server", json_array_size(entries),
                   json_array_size(entries) == 1 ? "y" : "ies");
  return 0;
}

int request_list_har(const char *name, const char *text, size_t len,
                     const char *host, Requests *out, Arena *arena, Err *err) {
  Har h = {.name = name, .host = host, .arena = arena, .err = err};
  json_error_t why;
  size_t mark = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
  *out = (Requests){0};
  json_t *root = json_loadb(text + mark, len - mark,
                            JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &why);
  if (!root)
    return err_set(err, "%s:%d: not JSON: %s", name, why.line, why.text);
  int rc = add_entries(&h, root);
  json_decref(root);
  arena_adopt(arena, &h.out);
  if (!rc)
    *out = h.out;
  return rc;
}
