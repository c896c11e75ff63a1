// Where an exploration starts: see site_entry.h.
#include "generate/site_entry.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "php/walk.h"
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

// --- who includes whom ------------------------------------------------------

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

static int find_included(const Walk *w, Hashmap *included, Err *err) {
  int rc = 0;
  for (size_t i = 0; !rc && i < w->items.len; i++) {
    const WalkItem *item = &w->items.items[i];
    if (!S_ISREG(item->st.st_mode) || !text_ends(item->path, ".php"))
      continue;
    Str text = {0};
    rc = fs_read(item->path, SCRIPT_MOST, &text, err);
    if (!rc)
      note_includes(str_text(&text), included);
    str_release(&text);
  }
  return rc;
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

static void collect(const Walk *w, const char *root, const Hashmap *included,
                    Entries *out, Arena *arena) {
  for (size_t i = 0; i < w->items.len && out->len < ENTRIES_MOST; i++) {
    const WalkItem *item = &w->items.items[i];
    const char *below = item->path + strlen(root);
    if (S_ISREG(item->st.st_mode) && is_page(below) && !lies_hidden(below) &&
        !below[strcspn(below, " %?#\n")] && !is_included(below, included))
      array_push(out, arena_strdup(arena, below));
  }
}

int site_entries(const char *root, Entries *out, Arena *arena, Err *err) {
  Walk w = {0};
  Hashmap included = {0};
  Entries list = {0};
  walk_add(&w, root);
  int rc = walk_run(&w, err);
  if (!rc)
    rc = find_included(&w, &included, err);
  if (!rc)
    collect(&w, root, &included, &list, arena);
  if (list.len)
    qsort(list.items, list.len, sizeof *list.items, by_importance);
  out->items = arena_array(arena, const char *, list.len);
  out->len = list.len;
  for (size_t i = 0; i < list.len; i++)
    out->items[i] = list.items[i];
  array_release(&list);
  hashmap_release(&included);
  walk_release(&w);
  return rc;
}
