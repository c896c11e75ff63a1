// The cookies of one visitor, by RFC 6265: see worker.h. There is one host, so
// Domain is ignored; Secure ones are sent, as browsers do to localhost.
#include "php/worker.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "util/mem.h"
#include "util/str.h"

enum {
  COOKIES_MOST = 300, // of one visitor: the oldest goes
  PATH_MOST = 1024,   // a longer Path is as good as none
};

typedef struct {
  char *name, *value, *path;
  time_t expires; // 0: with the visit
} Cookie;

struct CookieJar {
  ARRAY(Cookie) cookies; // in the order they were first set
};

CookieJar *cookie_jar_new(void) { return mem_new(CookieJar); }

static void cookie_release(Cookie *c) {
  free(c->name);
  free(c->value);
  free(c->path);
}

void cookie_jar_free(CookieJar *j) {
  if (!j)
    return;
  for (size_t i = 0; i < j->cookies.len; i++)
    cookie_release(&j->cookies.items[i]);
  array_release(&j->cookies);
  free(j);
}

static void drop(CookieJar *j, size_t i) {
  Cookie *c = j->cookies.items;
  cookie_release(&c[i]);
  memmove(c + i, c + i + 1, (j->cookies.len - i - 1) * sizeof *c);
  j->cookies.len--;
}

// --- dates: "Thu, 01-Jan-1970 00:00:01 GMT" and what else is about ----------

static bool read_time(const char *word, struct tm *tm) {
  int h, m, s;
  if (sscanf(word, "%2d:%2d:%2d", &h, &m, &s) != 3 || h < 0 || h > 23 ||
      m < 0 || m > 59 || s < 0 || s > 60)
    return false;
  tm->tm_hour = h;
  tm->tm_min = m;
  tm->tm_sec = s;
  return true;
}

static bool read_month(const char *word, struct tm *tm) {
  static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
  for (int i = 0; i < 12; i++)
    if (!strncasecmp(word, names + 3 * i, 3))
      return tm->tm_mon = i, true;
  return false;
}

static int year_of(int n) {
  if (n < 70)
    return n + 2000;
  return n < 100 ? n + 1900 : n;
}

// The words may stand in any order: time, day, month, year.
static bool read_date(const char *text, time_t *out) {
  struct tm tm = {.tm_mday = -1, .tm_mon = -1, .tm_year = -1};
  bool time = false;
  char word[32];
  while (text += strspn(text, " ,-/\t"), *text) {
    size_t len = strcspn(text, " ,-/\t");
    snprintf(word, sizeof word, "%.*s", len < 31 ? (int)len : 31, text);
    text += len;
    if (strchr(word, ':'))
      time = read_time(word, &tm) || time;
    else if (!isdigit((unsigned char)*word) && tm.tm_mon < 0)
      read_month(word, &tm);
    else if (tm.tm_mday < 0 && strlen(word) <= 2)
      tm.tm_mday = atoi(word);
    else if (tm.tm_year < 0 && strlen(word) <= 4)
      tm.tm_year = year_of(atoi(word)) - 1900;
  }
  if (!time || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_mon < 0 ||
      tm.tm_year < -299)
    return false;
  *out = timegm(&tm);
  return true;
}

// --- Set-Cookie -------------------------------------------------------------

typedef struct {
  const char *text;
  size_t len;
} Piece;

static Piece trim(const char *text, size_t n) {
  while (n && isspace((unsigned char)*text))
    text++, n--;
  while (n && isspace((unsigned char)text[n - 1]))
    n--;
  return (Piece){text, n};
}

static char *piece_dup(Piece p) {
  return mem_printf("%.*s", (int)p.len, p.text);
}

static bool is_named(Piece p, const char *name) {
  return p.len == strlen(name) && !strncasecmp(p.text, name, p.len);
}

// "/a/b" -> "/a", "/a" -> "/"
static char *default_path(const char *path) {
  const char *slash = strrchr(path, '/');
  if (*path != '/' || slash == path || slash - path > PATH_MOST)
    return mem_strdup("/");
  return mem_printf("%.*s", (int)(slash - path), path);
}

typedef struct {
  Cookie cookie;
  bool has_age, gone;
} Setting;

static void read_expires(Setting *s, Piece value) {
  char *text = piece_dup(value);
  time_t when;
  if (!s->has_age && read_date(text, &when)) {
    s->gone = when <= time(NULL);
    s->cookie.expires = when;
  }
  free(text);
}

static void read_age(Setting *s, Piece value) {
  char *text = piece_dup(value), *end;
  long age = strtol(text, &end, 10);
  if (*text && !*end) {
    s->has_age = true;
    s->gone = age <= 0;
    s->cookie.expires = age < (1L << 40) ? time(NULL) + age : 0;
  }
  free(text);
}

static void read_attribute(Setting *s, Piece name, Piece value) {
  if (is_named(name, "Expires")) {
    read_expires(s, value);
  } else if (is_named(name, "Max-Age")) {
    read_age(s, value);
  } else if (is_named(name, "Path") && value.len && value.len <= PATH_MOST &&
             *value.text == '/') {
    free(s->cookie.path);
    s->cookie.path = piece_dup(value);
  }
}

// The next "name=value" up to a semicolon; a name alone has an empty value.
static const char *next_piece(const char *p, Piece *name, Piece *value,
                              bool *equals) {
  size_t n = strcspn(p, ";");
  const char *eq = memchr(p, '=', n);
  *equals = eq != NULL;
  *name = trim(p, eq ? (size_t)(eq - p) : n);
  *value = eq ? trim(eq + 1, n - (size_t)(eq + 1 - p)) : (Piece){"", 0};
  return p + n + (p[n] == ';');
}

static void store(CookieJar *j, Setting *s) {
  for (size_t i = 0; i < j->cookies.len; i++) {
    Cookie *old = &j->cookies.items[i];
    if (strcmp(old->name, s->cookie.name) || strcmp(old->path, s->cookie.path))
      continue;
    if (s->gone) {
      drop(j, i);
      cookie_release(&s->cookie);
    } else { // keeps its place in the order
      cookie_release(old);
      *old = s->cookie;
    }
    return;
  }
  if (s->gone) {
    cookie_release(&s->cookie);
    return;
  }
  if (j->cookies.len == COOKIES_MOST)
    drop(j, 0);
  array_push(&j->cookies, s->cookie);
}

static void take_one(CookieJar *j, const char *path, const char *line) {
  Piece name, value;
  bool equals;
  const char *p = next_piece(line, &name, &value, &equals);
  if (!equals || !name.len)
    return;
  Setting s = {.cookie = {.name = piece_dup(name),
                          .value = piece_dup(value),
                          .path = default_path(path)}};
  while (*p) {
    p = next_piece(p, &name, &value, &equals);
    read_attribute(&s, name, value);
  }
  store(j, &s);
}

void cookie_jar_take(CookieJar *j, const char *path, const Headers *response) {
  for (size_t i = 0; i < response->len; i++)
    if (!strcasecmp(response->items[i].name, "Set-Cookie"))
      take_one(j, path, response->items[i].value);
}

// --- Cookie -----------------------------------------------------------------

static bool path_matches(const char *cookie, const char *path) {
  size_t n = strlen(cookie);
  return !strncmp(cookie, path, n) &&
         (!path[n] || path[n] == '/' || cookie[n - 1] == '/');
}

static bool is_sent(const Cookie *c, const char *path, time_t now) {
  return path_matches(c->path, path) && (!c->expires || c->expires > now);
}

// The longest path first, then the oldest.
const char *cookie_jar_header(const CookieJar *j, const char *path,
                              Arena *arena) {
  Str out = {0};
  time_t now = time(NULL);
  size_t longest = 0;
  for (size_t i = 0; i < j->cookies.len; i++)
    if (strlen(j->cookies.items[i].path) > longest)
      longest = strlen(j->cookies.items[i].path);
  for (size_t n = longest; n; n--) {
    for (size_t i = 0; i < j->cookies.len; i++) {
      const Cookie *c = &j->cookies.items[i];
      if (strlen(c->path) == n && is_sent(c, path, now))
        str_addf(&out, "%s%s=%s", out.len ? "; " : "", c->name, c->value);
    }
  }
  const char *header = out.len ? arena_strdup(arena, out.data) : NULL;
  str_release(&out);
  return header;
}

void cookie_jar_list(const CookieJar *j, CookieValue *known, void *ctx,
                     Str *out) {
  for (size_t i = 0; i < j->cookies.len; i++) {
    const Cookie *c = &j->cookies.items[i];
    const char *other = known(ctx, c->value);
    str_addf(out, "%s=%s %s\n", c->name, other ? other : c->value, c->path);
  }
}
