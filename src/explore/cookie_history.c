// The cookies a visitor was given: see cookie_history.h.
#include "explore/cookie_history.h"

#include <string.h>
#include <strings.h>

#include "util/str.h"

enum { COOKIES_MOST = 100 };

static unsigned cookie_count(const CookieHistory *c) {
  unsigned n = 0;
  for (; c; c = c->before)
    n++;
  return n;
}

static const CookieHistory *add_cookie(const CookieHistory *last,
                                       const char *path, const char *value,
                                       Arena *arena) {
  if (cookie_count(last) >= COOKIES_MOST)
    return last;
  CookieHistory *c = arena_new(arena, CookieHistory);
  *c = (CookieHistory){.before = last, .path = path, .value = value};
  return c;
}

const CookieHistory *cookie_history_take(const CookieHistory *last,
                                         const char *path,
                                         const Headers *headers, Arena *arena) {
  for (size_t i = 0; i < headers->len; i++)
    if (!strcasecmp(headers->items[i].name, "Set-Cookie"))
      last = add_cookie(last, arena_strdup(arena, path),
                        arena_strdup(arena, headers->items[i].value), arena);
  return last;
}

// An attribute that cookie jars ignore.
#define BROUGHT "; path=/; brought"

const CookieHistory *cookie_history_bring(const CookieHistory *last,
                                          const Headers *headers,
                                          Arena *arena) {
  const char *all = headers_get(headers, "Cookie");
  char *rest = all ? arena_strdup(arena, all) : NULL, *one;
  while ((one = strsep(&rest, ";"))) {
    one += strspn(one, " ");
    if (strchr(one, '='))
      last =
          add_cookie(last, "/", arena_printf(arena, "%s" BROUGHT, one), arena);
  }
  return last;
}

bool cookie_history_brought(const CookieHistory *cookies, const char *name) {
  size_t n = strlen(name);
  for (const CookieHistory *c = cookies; c; c = c->before)
    if (!strncmp(c->value, name, n) && c->value[n] == '=')
      return text_ends(c->value, BROUGHT);
  return false;
}

const CookieHistory *cookie_history_start(void) {
  static const CookieHistory session = {
      .path = "/", .value = "PHPSESSID=" SESSION_ID "; path=/"};
  return &session;
}

static void refill(CookieJar *jar, const CookieHistory *last) {
  if (!last)
    return;
  refill(jar, last->before);
  Header h = {.name = "Set-Cookie", .value = last->value};
  Headers one = {.items = &h, .len = 1};
  cookie_jar_take(jar, last->path, &one);
}

CookieJar *cookie_history_jar(const CookieHistory *cookies) {
  CookieJar *jar = cookie_jar_new();
  refill(jar, cookies);
  return jar;
}

const char *cookie_history_header(const CookieHistory *cookies,
                                  const char *path, Arena *arena) {
  CookieJar *jar = cookie_history_jar(cookies);
  const char *header = cookie_jar_header(jar, path, arena);
  cookie_jar_free(jar);
  return header;
}
