// The variables of CGI/1.1: see params.h.
#include "php/params.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "php/fastcgi.h"
#include "php/fresh.h"

static void add_target(Str *pairs, const WebApp *app, const Route *route,
                       const Request *r) {
  Str s = {0};
  fcgi_pair(pairs, "DOCUMENT_ROOT", app->root);
  fcgi_pair(pairs, "SCRIPT_FILENAME", route->file);
  fcgi_pair(pairs, "SCRIPT_NAME", route->script);
  if (*route->info) {
    fcgi_pair(pairs, "PATH_INFO", route->info);
    str_addf(&s, "%s%s", app->root, route->info);
    fcgi_pair(pairs, "PATH_TRANSLATED", s.data);
    str_clear(&s);
  }
  str_addf(&s, "%s%s%s", r->path, *r->query ? "?" : "", r->query);
  fcgi_pair(pairs, "REQUEST_URI", s.data);
  fcgi_pair(pairs, "QUERY_STRING", r->query);
  fcgi_pair(pairs, "REQUEST_METHOD", r->method);
  str_release(&s);
}

static void add_server(Str *pairs, const char *host) {
  static const char *const fixed[][2] = {{"GATEWAY_INTERFACE", "CGI/1.1"},
                                         {"SERVER_PROTOCOL", "HTTP/1.1"},
                                         {"SERVER_SOFTWARE", "culprit"},
                                         {"SERVER_ADDR", "127.0.0.1"},
                                         {"SERVER_PORT", "80"},
                                         {"REMOTE_ADDR", "127.0.0.1"},
                                         {"REMOTE_PORT", "40000"},
                                         {"REQUEST_SCHEME", "http"},
                                         {"REDIRECT_STATUS", "200"}};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    fcgi_pair(pairs, fixed[i][0], fixed[i][1]);
  Str name = {0};
  str_addn(&name, host, strcspn(host, ":"));
  fcgi_pair(pairs, "SERVER_NAME", str_text(&name));
  str_release(&name);
}

static void add_body(Str *pairs, const Request *r) {
  const char *type = headers_get(&r->headers, "Content-Type");
  char length[32];
  if (!type && r->body_len)
    type = "application/x-www-form-urlencoded";
  if (type)
    fcgi_pair(pairs, "CONTENT_TYPE", type);
  snprintf(length, sizeof length, "%zu", r->body_len);
  fcgi_pair(pairs, "CONTENT_LENGTH", length);
}

// Those that have a variable of their own, and Proxy, which programs take for
// the setting HTTP_PROXY.
static bool is_special(const char *name) {
  static const char *const special[] = {"Content-Type", "Content-Length",
                                        "Cookie",       "Proxy",
                                        "Host",         FRESH_HEADER};
  for (size_t i = 0; i < sizeof special / sizeof *special; i++)
    if (!strcasecmp(name, special[i]))
      return true;
  return false;
}

static void add_header(Str *pairs, const Header *h) {
  Str name = {0};
  if (is_special(h->name))
    return;
  str_add(&name, "HTTP_");
  for (const char *p = h->name; *p; p++)
    str_addc(&name, *p == '-' ? '_' : (char)toupper((unsigned char)*p));
  fcgi_pair(pairs, name.data, h->value);
  str_release(&name);
}

// Of two cookies with one name PHP takes the first: the request's own.
static void add_cookies(Str *pairs, const Request *r, const char *cookies) {
  const char *own = headers_get(&r->headers, "Cookie");
  Str s = {0};
  if (own)
    str_add(&s, own);
  if (cookies)
    str_addf(&s, "%s%s", s.len ? "; " : "", cookies);
  if (s.len)
    fcgi_pair(pairs, "HTTP_COOKIE", s.data);
  str_release(&s);
}

static void add_environment(Str *pairs, const WebApp *app) {
  Str name = {0};
  for (const char *const *e = app->env; e && *e; e++) {
    size_t n = strcspn(*e, "=");
    str_clear(&name);
    str_addn(&name, *e, n);
    if ((*e)[n])
      fcgi_pair(pairs, str_text(&name), *e + n + 1);
  }
  str_release(&name);
}

// Browsers name the page that sends a form, and programs that guard against
// forged requests want it to be one of their own.
static void add_sender(Str *pairs, const Request *r, const char *host) {
  if (!strcmp(r->method, "GET") || !strcmp(r->method, "HEAD"))
    return;
  Str site = {0};
  str_addf(&site, "http://%s", host);
  if (!headers_get(&r->headers, "Origin"))
    fcgi_pair(pairs, "HTTP_ORIGIN", site.data);
  str_add(&site, r->path);
  if (!headers_get(&r->headers, "Referer"))
    fcgi_pair(pairs, "HTTP_REFERER", site.data);
  str_release(&site);
}

void params_add(Str *pairs, const WebApp *app, const Route *route,
                const Request *r, const char *cookies) {
  const char *host = headers_get(&r->headers, "Host");
  host = host ? host : app->host ? app->host : "localhost";
  add_environment(pairs, app);
  add_target(pairs, app, route, r);
  add_server(pairs, host);
  add_body(pairs, r);
  fcgi_pair(pairs, "HTTP_HOST", host);
  if (!headers_get(&r->headers, "User-Agent"))
    fcgi_pair(pairs, "HTTP_USER_AGENT", "culprit");
  add_sender(pairs, r, host);
  add_cookies(pairs, r, cookies);
  for (size_t i = 0; i < r->headers.len; i++)
    add_header(pairs, &r->headers.items[i]);
}
