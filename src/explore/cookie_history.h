// The cookies that a visitor was given on the way to a state, newest first: all
// that is needed to fill a cookie jar again.
#ifndef CULPRIT_EXPLORE_COOKIE_HISTORY_H
#define CULPRIT_EXPLORE_COOKIE_HISTORY_H

#include <stdbool.h>

#include "php/request.h"
#include "php/worker.h"
#include "util/arena.h"

typedef struct CookieHistory CookieHistory;
struct CookieHistory {
  const CookieHistory *before;
  const char *path, *value; // as in Set-Cookie
};

// Every visitor starts with this session; it exists and is empty, so that the
// first request creates no other one.
#define SESSION_ID "culpritvisitor0000000001"
const CookieHistory *cookie_history_start(void);

// Adds the cookies that a response to `path` set. A history holds at most 100
// cookies; later ones are ignored.
const CookieHistory *cookie_history_take(const CookieHistory *last,
                                         const char *path,
                                         const Headers *headers, Arena *arena);
// Adds the cookies that a request sent though no response had set them. Later
// requests of the visitor send them too: a cookie that stands for a password
// keeps its visitor logged in.
const CookieHistory *cookie_history_bring(const CookieHistory *last,
                                          const Headers *headers, Arena *arena);
// Was the current value of this cookie added by cookie_history_bring?
bool cookie_history_brought(const CookieHistory *cookies, const char *name);

// A jar with these cookies. Caller frees.
CookieJar *cookie_history_jar(const CookieHistory *cookies);
// The Cookie header of a request to `path`; NULL: none.
const char *cookie_history_header(const CookieHistory *cookies,
                                  const char *path, Arena *arena);

#endif
