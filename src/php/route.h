// What the path of a request leads to, as on a web server with a usual PHP
// set-up:
//
//   /style.css            the file, served by us
//   /a/view.php           the script
//   /a/view.php/x/y       the script, with /x/y as PATH_INFO
//   /a/                   /a/index.php, or index.html, or index.htm
//   /a                    a directory: redirected to /a/
//   /.htaccess            refused
//   anything else         the front controller if there is one, else not found
//
// %-escapes are decoded first, then `.`, `..` and empty pieces are resolved. A
// path that climbs above the root is an error, and so is one that a symbolic
// link leads out of it, unless the site allows that.
#ifndef CULPRIT_PHP_ROUTE_H
#define CULPRIT_PHP_ROUTE_H

#include "php/request.h"
#include "php/worker.h"

typedef enum {
  ROUTE_SCRIPT,
  ROUTE_FILE,
  ROUTE_DIRECTORY, // one without a slash behind it: to be redirected
  ROUTE_DENIED,
  ROUTE_NOT_FOUND
} RouteKind;

typedef struct {
  RouteKind kind;
  const char *file;   // absolute path, as the site names its root
  const char *script; // its path below the root: "/a/view.php"
  const char *info;   // what follows in the request; "": nothing
} Route;

// `root` is app->root with all links resolved.
int route_find(Route *out, const WebApp *app, const char *root,
               const char *path, Arena *arena, Err *err);

// The content type of a file by its name: "text/css".
const char *content_type(const char *file);

// Answers all but ROUTE_SCRIPT; `app` has a max_body.
void static_serve(const Route *route, const Request *r, const WebApp *app,
                  Response *out, Arena *arena);

#endif
