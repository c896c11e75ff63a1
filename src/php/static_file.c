// What needs no PHP: files below the root, redirects of directories, and the
// pages for what is not there. See route.h.
#include "php/route.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "php/app_files.h"

const char *content_type(const char *file) {
  static const char *const types[][2] = {
      {"html", "text/html"},      {"htm", "text/html"},
      {"css", "text/css"},        {"js", "text/javascript"},
      {"mjs", "text/javascript"}, {"json", "application/json"},
      {"txt", "text/plain"},      {"xml", "application/xml"},
      {"svg", "image/svg+xml"},   {"png", "image/png"},
      {"jpg", "image/jpeg"},      {"jpeg", "image/jpeg"},
      {"gif", "image/gif"},       {"webp", "image/webp"},
      {"ico", "image/x-icon"},    {"woff", "font/woff"},
      {"woff2", "font/woff2"},    {"ttf", "font/ttf"},
      {"pdf", "application/pdf"}, {"xhtml", "application/xhtml+xml"},
      {"csv", "text/csv"},        {"zip", "application/zip"},
      {"mp4", "video/mp4"},       {"webm", "video/webm"},
      {"mp3", "audio/mpeg"},      {"wasm", "application/wasm"}};
  const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
  if (!dot || (slash && dot < slash))
    return "application/octet-stream";
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcasecmp(dot + 1, types[i][0]))
      return types[i][1];
  return "application/octet-stream";
}

static void set_header(Response *out, const char *name, const char *value,
                       Arena *arena) {
  out->headers.items = arena_new(arena, Header);
  out->headers.items[0] = (Header){name, value};
  out->headers.len = out->headers.cap = 1;
}

static void say(Response *out, int status, const char *text, Arena *arena) {
  *out = (Response){.status = status, .errors = ""};
  out->body = arena_printf(arena, "%d %s\n", status, text);
  out->body_len = strlen(out->body);
  set_header(out, "Content-Type", "text/plain", arena);
}

static void redirect(const Request *r, Response *out, Arena *arena) {
  say(out, 301, "Moved Permanently", arena);
  const char *where =
      arena_printf(arena, "%s/%s%s", r->path, *r->query ? "?" : "", r->query);
  set_header(out, "Location", where, arena);
}

static int open_regular(const AppFiles *files, const char *path, off_t *size) {
  int fd = app_file_open(files, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat st;
  if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
    close(fd);
    return -1;
  }
  if (fd >= 0)
    *size = st.st_size;
  return fd;
}

static void send_file(const Route *route, bool head, const WebApp *app,
                      Response *out, Arena *arena) {
  off_t size;
  int fd = open_regular(app->files, route->file, &size);
  if (fd < 0) {
    say(out, 403, "Forbidden", arena);
    return;
  }
  *out = (Response){.status = 200, .errors = ""};
  out->cut = (size_t)size > app->max_body;
  size_t want = head ? 0 : out->cut ? app->max_body : (size_t)size;
  char *body = arena_alloc(arena, want + 1);
  for (ssize_t n; out->body_len < want; out->body_len += (size_t)n)
    if ((n = read(fd, body + out->body_len, want - out->body_len)) <= 0)
      break;
  close(fd);
  out->body = body;
  set_header(out, "Content-Type", content_type(route->file), arena);
}

void static_serve(const Route *route, const Request *r, const WebApp *app,
                  Response *out, Arena *arena) {
  bool head = !strcmp(r->method, "HEAD");
  if (route->kind == ROUTE_NOT_FOUND)
    say(out, 404, "Not Found", arena);
  else if (route->kind == ROUTE_DENIED)
    say(out, 403, "Forbidden", arena);
  else if (route->kind == ROUTE_DIRECTORY)
    redirect(r, out, arena);
  else if (!head && strcmp(r->method, "GET"))
    say(out, 405, "Method Not Allowed", arena);
  else
    send_file(route, head, app, out, arena);
}
