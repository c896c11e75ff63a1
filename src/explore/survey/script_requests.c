// Requests in JavaScript: see script_requests.h.
#include "explore/survey/script_requests.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "util/fs.h"
#include "util/str.h"

enum { SCRIPT_MOST = 1 << 20, OPTIONS_LENGTH = 600, FIELDS_LISTED = 20 };

// One script, and where its addresses are relative to.
typedef struct {
  const char *path, *root;
  Asks *out;
  bool more; // makes forms or requests that are not literals
  Arena *arena;
} ScriptScan;

// --- literals ---------------------------------------------------------------

static const char *skip_blanks(const char *p) {
  return p + strspn(p, " \t\r\n");
}

// A string without a part that is computed; *end: behind it. NULL: none.
static const char *read_literal(const char *p, const char **end, Arena *arena) {
  p = skip_blanks(p);
  const char *close = *p && strchr("'\"`", *p) ? strchr(p + 1, *p) : NULL;
  if (!close)
    return NULL;
  size_t n = (size_t)(close - p - 1);
  const char *next = skip_blanks(close + 1);
  if (memchr(p, '\n', n) || (*p == '`' && memchr(p, '$', n)) || *next == '+')
    return NULL;
  *end = close + 1;
  return arena_strndup(arena, p + 1, n);
}

// The text of the member `name: ...` in the options of a call; NULL: none.
static const char *member_of(const char *options, const char *name) {
  size_t n = strlen(name);
  for (const char *p = options; (p = strstr(p, name)); p += n) {
    bool whole = p == options || !isalnum((unsigned char)p[-1]);
    const char *q = p + n;
    q += *q == '\'' || *q == '"';
    q = skip_blanks(q);
    if (whole && *q == ':')
      return skip_blanks(q + 1);
  }
  return NULL;
}

// --- bodies -----------------------------------------------------------------

static const char *name_of(const char **at, Arena *arena) {
  const char *p = skip_blanks(*at);
  p += *p == '\'' || *p == '"';
  size_t n = 0;
  while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '-')
    n++;
  *at = skip_blanks(p + n + (p[n] == '\'' || p[n] == '"'));
  return n ? arena_strndup(arena, p, n) : NULL;
}

// A literal, or a guess for what is computed.
static const char *value_at(const char **at, const char *name, Arena *arena) {
  const char *p = skip_blanks(*at), *end;
  const char *text = read_literal(p, &end, arena);
  if (text) {
    *at = end;
    return text;
  }
  size_t n = strcspn(p, ",}\n");
  *at = p + n;
  while (n && isspace((unsigned char)p[n - 1]))
    n--;
  bool literal = n && (strspn(p, "0123456789.-") == n ||
                       !strncmp(p, "true", n) || !strncmp(p, "false", n));
  return literal ? arena_strndup(arena, p, n) : ask_guess(name, false, arena);
}

// {a: 'x', b, c: n}
static void add_fields(const char *object, Ask *ask, Arena *arena) {
  const char *p = object + 1;
  for (int i = 0; i < FIELDS_LISTED && *skip_blanks(p) != '}'; i++) {
    const char *name = name_of(&p, arena);
    if (!name)
      return;
    const char *value = ask_guess(name, false, arena);
    if (*p == ':') {
      p++;
      value = value_at(&p, name, arena);
    }
    *ask = ask_with(ask, IN_BODY, name, value, arena);
    p = skip_blanks(p);
    if (*p != ',')
      return;
    p++;
  }
}

static void add_body(const char *options, Ask *ask, Arena *arena) {
  const char *json = "JSON.stringify(";
  const char *body = member_of(options, "body");
  if (!body || strncmp(body, json, strlen(json)) != 0)
    return;
  const char *object = skip_blanks(body + strlen(json));
  ask->json = true;
  if (*object == '{')
    add_fields(object, ask, arena);
}

// --- calls ------------------------------------------------------------------

static void add_request(ScriptScan *s, const char *method, const char *address,
                        const char *options) {
  const char *path, *query;
  if (s->out->len >= SCRIPT_REQUESTS_MOST ||
      !link_resolve(s->path, address, &path, &query, s->arena))
    return;
  Ask ask = ask_link(path, query, s->arena);
  ask_set_method(&ask, method);
  add_body(options, &ask, s->arena);
  array_push(s->out, ask);
}

// fetch(ADDRESS) and fetch(ADDRESS, {...})
static void read_fetch(ScriptScan *s, const char *arguments) {
  const char *end, *options = "", *method = "GET";
  const char *address = read_literal(arguments, &end, s->arena);
  if (!address) {
    s->more = true;
    return;
  }
  end = skip_blanks(end);
  if (*end == ',')
    options = arena_strndup(s->arena, end, strnlen(end, OPTIONS_LENGTH));
  char *call_end = strstr(options, "})");
  if (call_end && !strstr(options, "JSON.stringify"))
    *call_end = '\0';
  const char *given = member_of(options, "method"), *behind;
  if (given)
    method = read_literal(given, &behind, s->arena);
  if (method)
    add_request(s, method, address, options);
  else
    s->more = true;
}

// .open(METHOD, ADDRESS)
static void read_open(ScriptScan *s, const char *arguments) {
  const char *end;
  const char *method = read_literal(arguments, &end, s->arena);
  if (!method || !*method || strspn(method, "GETPOSUDLACH") != strlen(method))
    return; // window.open and others
  end = skip_blanks(end);
  const char *address =
      *end == ',' ? read_literal(end + 1, &end, s->arena) : NULL;
  if (address)
    add_request(s, method, address, "");
  else
    s->more = true;
}

static void read_calls(ScriptScan *s, const char *text, const char *call,
                       void (*read)(ScriptScan *, const char *)) {
  size_t n = strlen(call);
  for (const char *p = text; (p = strstr(p, call)); p += n)
    if (p == text || *call == '.' || !isalnum((unsigned char)p[-1]))
      read(s, p + n);
}

static bool builds_more(const char *text) {
  static const char *const signs[] = {"createElement('form'",
                                      "createElement(\"form\"",
                                      "<form",
                                      "new FormData",
                                      "$.ajax",
                                      "$.post",
                                      "$.get",
                                      "axios",
                                      "sendBeacon"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (strstr(text, signs[i]))
      return true;
  return false;
}

static void read_script(ScriptScan *s, const char *text) {
  s->more |= builds_more(text);
  read_calls(s, text, "fetch(", read_fetch);
  read_calls(s, text, ".open(", read_open);
}

// --- the page ---------------------------------------------------------------

// <script src="js/app.js">: `tag` ends before its bracket.
static void read_file(ScriptScan *s, const char *tag) {
  const char *source = strcasestr(tag, "src="), *path, *query, *end;
  const char *address =
      source ? read_literal(source + strlen("src="), &end, s->arena) : NULL;
  Str text = {0};
  Err ignored;
  if (!address || !link_resolve(s->path, address, &path, &query, s->arena) ||
      !text_ends(path, ".js") || strstr(path, "/../"))
    return;
  const char *file = arena_printf(s->arena, "%s%s", s->root, path);
  if (!fs_read(file, SCRIPT_MOST, &text, &ignored) &&
      !memchr(text.data, '\0', text.len))
    read_script(s, str_text(&text));
  str_release(&text);
}

bool script_requests_find(const char *page, size_t len, const char *path,
                          const char *root, Asks *out, Arena *arena) {
  ScriptScan s = {.path = path, .root = root, .out = out, .arena = arena};
  if (len > LINKS_PAGE || !memmem(page, len, "<script", strlen("<script")))
    return false;
  const char *p = arena_strndup(arena, page, len);
  while ((p = strcasestr(p, "<script"))) {
    size_t tag = strcspn(p, ">");
    read_file(&s, arena_strndup(arena, p, tag));
    p += tag + (p[tag] == '>');
    const char *end = strcasestr(p, "</script");
    size_t n = end ? (size_t)(end - p) : strlen(p);
    read_script(&s, arena_strndup(arena, p, n));
    p += n;
  }
  return s.more;
}
