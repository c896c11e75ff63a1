// What the path of a request leads to: see route.h.
#include "php/route.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "php/app_files.h"
#include "util/fs.h"
#include "util/str.h"

// --- the path as it is meant ------------------------------------------------

// A % that begins no escape stands for itself.
static char *decode(const char *p, Arena *arena, size_t *len) {
  char *out = arena_strdup(arena, p), *q = out;
  while (*p) {
    if (*p == '%' && text_hex(p[1]) >= 0 && text_hex(p[2]) >= 0) {
      *q++ = (char)(text_hex(p[1]) << 4 | text_hex(p[2]));
      p += 3;
    } else {
      *q++ = *p++;
    }
  }
  *q = '\0';
  *len = (size_t)(q - out);
  return out;
}

// Resolves "//", "/./" and "/../" in place; false: it climbs above the root. A
// slash at the end stays.
static bool normalize(char *path) {
  char *out = path;
  bool slash = true;
  for (char *p = path; *p;) {
    while (*p == '/')
      p++;
    size_t n = strcspn(p, "/");
    slash = n == 0 || (n == 1 && *p == '.') || p[n] == '/';
    if (n == 2 && p[0] == '.' && p[1] == '.') {
      if (out == path)
        return false;
      while (*--out != '/')
        ;
      slash = true;
    } else if (n && !(n == 1 && *p == '.')) {
      *out++ = '/';
      memmove(out, p, n);
      out += n;
    }
    p += n;
  }
  if (slash || out == path)
    *out++ = '/';
  *out = '\0';
  return true;
}

// --- what is there ----------------------------------------------------------

typedef enum { NOTHING, FILE_, DIRECTORY, OUTSIDE } Thing;

static Thing look(const WebApp *app, const char *root, const char *path) {
  char real[PATH_MAX];
  struct stat st;
  if (app_file_look(app->files, path, real, &st))
    return NOTHING;
  if (!app->follow_links && !path_lies_in(real, root))
    return OUTSIDE;
  if (S_ISREG(st.st_mode))
    return FILE_;
  return S_ISDIR(st.st_mode) ? DIRECTORY : NOTHING;
}

static bool is_script(const char *path) {
  return text_ends(path, ".php") || text_ends(path, ".phtml");
}

// Files that configure web servers are never served.
static bool is_hidden(const char *path) { return strstr(path, "/.ht") != NULL; }

// --- finding ----------------------------------------------------------------

typedef struct {
  const WebApp *app;
  const char *root, *path;
  Route *out;
  Arena *arena;
  Err *err;
} Search;

static int outside(const Search *s, const char *file) {
  return err_set(s->err,
                 "%s: %s is a symbolic link that leads out of the root %s; "
                 "--follow-links allows that",
                 s->path, file, s->app->root);
}

static char *below_root(const Search *s, const char *path) {
  const char *root = s->app->root;
  size_t n = strlen(root);
  while (n && root[n - 1] == '/')
    n--;
  return arena_printf(s->arena, "%.*s%s", (int)n, root, path);
}

static int found(Search *s, const char *script, const char *info) {
  *s->out = (Route){.file = below_root(s, script),
                    .script = arena_strdup(s->arena, script),
                    .info = arena_strdup(s->arena, info)};
  s->out->kind = is_script(script) ? ROUTE_SCRIPT : ROUTE_FILE;
  return 0;
}

static int use_front(Search *s) {
  s->out->kind = ROUTE_NOT_FOUND;
  if (!s->app->front)
    return 0;
  const char *script = arena_printf(s->arena, "/%s", s->app->front);
  if (look(s->app, s->root, below_root(s, script)) != FILE_)
    return err_set(s->err, "%s: no such front controller in %s", s->app->front,
                   s->app->root);
  found(s, script, "");
  s->out->kind = ROUTE_SCRIPT;
  return 0;
}

static int use_directory(Search *s, const char *path) {
  static const char *const index[] = {"index.php", "index.html", "index.htm"};
  if (!text_ends(path, "/")) {
    s->out->kind = ROUTE_DIRECTORY;
    return 0;
  }
  for (size_t i = 0; i < sizeof index / sizeof *index; i++) {
    const char *script = arena_printf(s->arena, "%s%s", path, index[i]);
    const char *file = below_root(s, script);
    Thing thing = look(s->app, s->root, file);
    if (thing == OUTSIDE)
      return outside(s, file);
    if (thing == FILE_)
      return found(s, script, "");
  }
  return use_front(s);
}

// "/view.php/x": cuts pieces off the end until a script is left.
static int use_prefix(Search *s, const char *path) {
  char *head = arena_strdup(s->arena, path);
  for (char *slash; (slash = strrchr(head, '/')) && slash != head;) {
    *slash = '\0';
    const char *file = below_root(s, head);
    Thing thing = look(s->app, s->root, file);
    if (thing == OUTSIDE)
      return outside(s, file);
    if (thing == FILE_ && is_script(head))
      return found(s, head, path + (slash - head));
    if (thing != NOTHING)
      break;
  }
  return use_front(s);
}

static int search(Search *s, const char *path) {
  const char *file = below_root(s, path);
  switch (look(s->app, s->root, file)) {
  case OUTSIDE:
    return outside(s, file);
  case DIRECTORY:
    return use_directory(s, path);
  case FILE_:
    return text_ends(path, "/") ? use_prefix(s, path) : found(s, path, "");
  default:
    return use_prefix(s, path);
  }
}

int route_find(Route *out, const WebApp *app, const char *root,
               const char *path, Arena *arena, Err *err) {
  Search s = {.app = app,
              .root = root,
              .path = path,
              .out = out,
              .arena = arena,
              .err = err};
  size_t len;
  char *meant = decode(path, arena, &len);
  *out = (Route){.info = "", .kind = ROUTE_DENIED};
  if (*path != '/')
    return err_set(err, "%s: the path of a request begins with /", path);
  if (strlen(meant) != len)
    return err_set(err, "%s: the path holds a NUL byte (%%00)", path);
  if (!normalize(meant))
    return err_set(err, "%s: the path leads out of the root %s", path,
                   app->root);
  if (len >= PATH_MAX - 1) {
    out->kind = ROUTE_NOT_FOUND;
    return 0;
  }
  return is_hidden(meant) ? 0 : search(&s, meant);
}
