// Entry pages: see entry_pages.h.
#include "explore/survey/entry_pages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "explore/survey/declarations.h"
#include "php/file_walk.h"
#include "util/fs.h"
#include "util/hashmap.h"
#include "util/str.h"

enum { SCRIPT_MOST = 1 << 20, ENTRIES_MOST = 5000 };

static bool is_page(const char *name) {
  return text_ends(name, ".php") || text_ends(name, ".html") ||
         text_ends(name, ".htm");
}

// `below` is the path below the root, with its slash.
static bool lies_hidden(const char *below) {
  static const char *const dirs[] = {
      "/.",        "/inc/",          "/include/",  "/includes/",
      "/lib/",     "/libs/",         "/src/",      "/vendor/",
      "/classes/", "/templates/",    "/template/", "/tpl/",
      "/views/",   "/partials/",     "/config/",   "/conf/",
      "/lang/",    "/languages/",    "/locale/",   "/tests/",
      "/test/",    "/node_modules/", "/bin/"};
  static const char *const ends[] = {".inc.php", ".class.php", ".tpl.php",
                                     ".lib.php", "/config.php"};
  for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
    if (strstr(below, dirs[i]))
      return true;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (text_ends(below, ends[i]))
      return true;
  return false;
}

// What the files say about each other.
typedef struct {
  size_t root;      // length of the root's path
  Hashmap included; // names of files, of directories with their slash
  Hashmap closed;   // paths of files and directories that no visitor sees
} Survey;

// --- includes ---------------------------------------------------------------

// The last quoted text of a statement that begins with include or require names
// a file: its last piece is remembered.
static void note_target(const char *statement, size_t n, Hashmap *included) {
  const char *end = NULL;
  for (const char *p = statement + n; p > statement && !end; p--)
    if (p[-1] == '\'' || p[-1] == '"')
      end = p - 1;
  if (!end)
    return;
  const char *from = end;
  while (from > statement && !strchr("'\"/", from[-1]))
    from--;
  if (from < end)
    hashmap_put(included, from, (size_t)(end - from), 1);
}

// include "pages/$page.php", 'pages/' . $page: all of pages/ is included.
static void note_directory(const char *statement, size_t n, Hashmap *included) {
  for (const char *p = statement; p < statement + n; p++) {
    if (*p != '/' || p == statement || !p[1] || !strchr("$'\"{", p[1]))
      continue;
    const char *from = p;
    while (from > statement && !strchr("'\"/", from[-1]))
      from--;
    if (from < p)
      hashmap_put(included, from, (size_t)(p + 1 - from), 1);
  }
}

static void note_includes(const char *text, Hashmap *included) {
  static const char *const words[] = {"include", "require"};
  for (size_t i = 0; i < 2; i++)
    for (const char *p = text; (p = strstr(p, words[i])); p++) {
      size_t n = strcspn(p, ";\n");
      note_target(p, n, included);
      if (memchr(p, '$', n))
        note_directory(p, n, included);
    }
}

// --- scripts that are not pages ---------------------------------------------

// Does a line begin with `class NAME` or the like, perhaps after `abstract`?
static bool declares(const char *text, const char *name, size_t n) {
  static const char *const words[] = {"class ", "interface ", "trait ",
                                      "enum "};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t w = strlen(words[i]);
    for (const char *p = text; (p = strstr(p, words[i])); p++)
      if (!strncmp(p + w, name, n) && strchr(" \n\r{", p[w + n]) &&
          (p == text || p[-1] == '\n' || p[-1] == ' '))
        return true;
  }
  return false;
}

// Ends with the class of its name: other scripts load it.
static bool is_class_file(const char *path, const Str *text) {
  const char *name = path_base(path), *end = text->data + text->len;
  while (end > text->data && strchr(" \t\r\n", end[-1]))
    end--;
  return end > text->data && end[-1] == '}' &&
         declares(str_text(text), name, strlen(name) - strlen(".php"));
}

// The server denies access to the directory.
static bool closes_directory(const char *text) {
  return (strcasestr(text, "require all denied") ||
          strcasestr(text, "deny from all")) &&
         !strcasestr(text, "<Limit") && !strcasestr(text, "<Files");
}

// What one file says about itself and others.
static void note_file(const FileWalkItem *item, const Str *text, Survey *s) {
  const char *path = item->path;
  if (!text_ends(path, ".php")) {
    size_t dir = strlen(path) - strlen("/.htaccess");
    if (closes_directory(str_text(text)) && dir > s->root)
      hashmap_put(&s->closed, path, dir, 1);
    return;
  }
  note_includes(str_text(text), &s->included);
  if (is_class_file(path, text) || only_declares(str_text(text), text->len))
    hashmap_put(&s->closed, path, strlen(path), 1);
}

static int look_round(const FileWalk *w, Survey *s, Err *err) {
  int rc = 0;
  for (size_t i = 0; !rc && i < w->items.len; i++) {
    const FileWalkItem *item = &w->items.items[i];
    if (!S_ISREG(item->st.st_mode) || (!text_ends(item->path, ".php") &&
                                       !text_ends(item->path, "/.htaccess")))
      continue;
    Str text = {0};
    rc = fs_read(item->path, SCRIPT_MOST, &text, err);
    if (!rc)
      note_file(item, &text, s);
    str_release(&text);
  }
  return rc;
}

// Is the file, or a directory that it lies in, closed?
static bool is_closed(const Survey *s, const char *path) {
  uint64_t yes;
  for (size_t n = strlen(path); n > s->root; n--)
    if ((!path[n] || path[n] == '/') && hashmap_get(&s->closed, path, n, &yes))
      return true;
  return false;
}

// --- the list ---------------------------------------------------------------

static size_t depth_of(const char *path) {
  size_t n = 0;
  for (; *path; path++)
    n += *path == '/';
  return n;
}

static bool is_index(const char *path) {
  return text_starts(path_base(path), "index.");
}

static int by_importance(const void *a, const void *b) {
  const char *x = *(const char *const *)a, *y = *(const char *const *)b;
  size_t m = depth_of(x), n = depth_of(y);
  if (m != n)
    return m < n ? -1 : 1;
  if (is_index(x) != is_index(y))
    return is_index(x) ? -1 : 1;
  return strcmp(x, y);
}

static bool is_included(const char *below, const Hashmap *included) {
  const char *name = path_base(below), *from = name > below ? name - 1 : name;
  uint64_t yes;
  if (hashmap_get(included, name, strlen(name), &yes))
    return true;
  while (from > below && from[-1] != '/')
    from--;
  return from > below &&
         hashmap_get(included, from, (size_t)(name - from), &yes);
}

static void collect(const FileWalk *w, const Survey *s, EntryPages *out,
                    Arena *arena) {
  for (size_t i = 0; i < w->items.len && out->len < ENTRIES_MOST; i++) {
    const FileWalkItem *item = &w->items.items[i];
    const char *below = item->path + s->root;
    if (S_ISREG(item->st.st_mode) && is_page(below) && !lies_hidden(below) &&
        !below[strcspn(below, " %?#\n")] && !is_included(below, &s->included) &&
        !is_closed(s, item->path))
      array_push(out, arena_strdup(arena, below));
  }
}

int entry_pages_find(const char *root, EntryPages *out, Arena *arena,
                     Err *err) {
  FileWalk w = {0};
  Survey survey = {.root = strlen(root)};
  EntryPages list = {0};
  file_walk_add(&w, root);
  int rc = file_walk_run(&w, err);
  if (!rc)
    rc = look_round(&w, &survey, err);
  if (!rc)
    collect(&w, &survey, &list, arena);
  if (list.len)
    qsort(list.items, list.len, sizeof *list.items, by_importance);
  arena_adopt(arena, &list);
  *out = list;
  hashmap_release(&survey.included);
  hashmap_release(&survey.closed);
  file_walk_release(&w);
  return rc;
}
