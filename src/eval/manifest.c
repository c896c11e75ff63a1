// Reading the list of faulty versions: see manifest.h.
#include "eval/manifest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

enum Column {
  COLUMN_NAME,
  COLUMN_BUILD,
  COLUMN_PROGRAM,
  COLUMN_TESTS,
  COLUMN_ORACLE,
  COLUMN_FAULTY,
  COLUMN_REQUIRED, // the ones above
  COLUMN_CWD = COLUMN_REQUIRED,
  COLUMN_TIMEOUT,
  COLUMNS,
  COLUMN_OTHER = COLUMNS // ignored
};

static const char *const column_names[COLUMNS] = {
    "name", "build", "program", "tests", "oracle", "faulty", "cwd", "timeout"};

enum { COLUMNS_MAX = 64 };

// What is known while reading.
typedef struct {
  Manifest *m;
  const char *path, *state;
  size_t line;
  enum Column columns[COLUMNS_MAX]; // of the file
  size_t ncolumns;
  Hashmap names;
} Reader;

static int complain(const Reader *r, Err *err, const char *what) {
  return err_set(err, "%s:%zu: %s", r->path, r->line, what);
}

// --- the line that names the columns ---------------------------------------

static enum Column find_column(const char *name) {
  for (int i = 0; i < COLUMNS; i++)
    if (!strcmp(name, column_names[i]))
      return (enum Column)i;
  return COLUMN_OTHER;
}

static int read_header(Reader *r, char *line, Err *err) {
  bool seen[COLUMNS + 1] = {0};
  for (char *word; (word = strsep(&line, "\t"));) {
    enum Column c = find_column(word);
    if (r->ncolumns == COLUMNS_MAX)
      return complain(r, err, "too many columns");
    if (c != COLUMN_OTHER && seen[c])
      return err_set(err, "%s:%zu: column '%s' twice", r->path, r->line, word);
    seen[c] = true;
    r->columns[r->ncolumns++] = c;
  }
  for (int i = 0; i < COLUMN_REQUIRED; i++)
    if (!seen[i])
      return err_set(err,
                     "%s:%zu: no column '%s'; the first line names the "
                     "columns, separated by tabs: name build program tests "
                     "oracle faulty (cwd timeout)",
                     r->path, r->line, column_names[i]);
  return 0;
}

// --- one row ---------------------------------------------------------------

// Names become directories.
static bool name_is_good(const char *name) {
  if (!*name || *name == '/' || text_ends(name, "/") || strstr(name, "//"))
    return false;
  for (const char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("._+/-", *c))
      return false;
  for (const char *part = name; part; part = strchr(part, '/')) {
    part += *part == '/';
    if (*part == '.')
      return false;
  }
  return true;
}

// `text` with the version's directory for every {dir}.
static const char *expand(Reader *r, const char *text, const char *dir) {
  Str out = {0};
  for (const char *at; (at = strstr(text, "{dir}")); text = at + 5) {
    str_addn(&out, text, (size_t)(at - text));
    str_add(&out, dir);
  }
  str_add(&out, text);
  const char *copy = arena_strdup(&r->m->arena, str_text(&out));
  str_release(&out);
  return copy;
}

static const char *absolute(Reader *r, const char *path) {
  char *full = path_absolute(path, r->m->root);
  const char *copy = arena_strdup(&r->m->arena, full);
  free(full);
  return copy;
}

static int read_oracle(Reader *r, Version *v, const char *text, Err *err) {
  static const struct {
    const char *prefix, *option;
    bool path;
  } oracles[] = {{"reference:", "--reference", true},
                 {"expect:", "--expect", true},
                 {"command:", "--oracle", false}};
  if (!strcmp(text, "exit"))
    return 0;
  if (text_starts(text, "web:")) {
    v->web = text + strlen("web:");
    return 0;
  }
  for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++) {
    const char *value = text + strlen(oracles[i].prefix);
    if (!text_starts(text, oracles[i].prefix) || !*value)
      continue;
    v->oracle = oracles[i].option;
    v->oracle_value = oracles[i].path ? absolute(r, value) : value;
    return 0;
  }
  return err_set(err,
                 "%s:%zu: oracle '%s': expected exit, reference:PROG, "
                 "expect:DIR, command:CMD or web:OPTIONS",
                 r->path, r->line, text);
}

static bool is_place(const char *word) {
  const char *colon = strrchr(word, ':');
  return colon && colon > word && isdigit((unsigned char)colon[1]) &&
         colon[1 + strspn(colon + 1, "0123456789,")] == '\0';
}

static int read_faulty(Reader *r, Version *v, const char *text, Err *err) {
  char *rest = arena_strdup(&r->m->arena, text);
  v->faulty = arena_array(&r->m->arena, const char *, strlen(text) / 2 + 1);
  for (char *word; (word = strsep(&rest, " "));) {
    if (!*word)
      continue;
    if (!is_place(word))
      return err_set(err, "%s:%zu: faulty '%s': expected FILE:LINE[,LINE]...",
                     r->path, r->line, word);
    v->faulty[v->nfaulty++] = word;
  }
  return v->nfaulty ? 0 : complain(r, err, "no faulty line");
}

static int read_timeout(Reader *r, Version *v, const char *text, Err *err) {
  char *end;
  if (!*text)
    return 0;
  double seconds = strtod(text, &end);
  if (*end || !(seconds > 0))
    return complain(r, err, "timeout: expected seconds");
  v->timeout = text;
  return 0;
}

static int read_name(Reader *r, Version *v, const char *name, Err *err) {
  Arena *a = &r->m->arena;
  if (!name_is_good(name))
    return err_set(err,
                   "%s:%zu: name '%s': letters, digits and ._+- in parts "
                   "separated by /, none of which begins with a dot",
                   r->path, r->line, name);
  if (hashmap_intern(&r->names, name, strlen(name), r->line) != r->line)
    return err_set(err, "%s:%zu: name '%s' for the second time", r->path,
                   r->line, name);
  const char *slash = strrchr(name, '/');
  v->name = arena_strdup(a, name);
  v->subject = slash ? arena_strndup(a, name, (size_t)(slash - name)) : v->name;
  v->dir = arena_printf(a, "%s/%s", r->state, name);
  return 0;
}

static int read_row(Reader *r, char *line, Err *err) {
  Version v = {.text = arena_strdup(&r->m->arena, line)};
  const char *field[COLUMNS + 1] = {0};
  size_t n = 0;
  for (char *word; (word = strsep(&line, "\t")); n++)
    if (n < r->ncolumns)
      field[r->columns[n]] = word;
  if (n > r->ncolumns)
    return complain(r, err, "more fields than columns");
  for (int i = 0; i < COLUMN_REQUIRED; i++)
    if (!field[i] || (!*field[i] && i != COLUMN_BUILD))
      return err_set(err, "%s:%zu: no %s", r->path, r->line, column_names[i]);
  if (read_name(r, &v, field[COLUMN_NAME], err))
    return -1;
  const char *work = arena_printf(&r->m->arena, "%s/build", v.dir);
  for (int i = COLUMN_BUILD; i < COLUMNS; i++)
    field[i] = expand(r, field[i] ? field[i] : "", work);
  v.build = field[COLUMN_BUILD];
  v.program = absolute(r, field[COLUMN_PROGRAM]);
  v.tests = absolute(r, field[COLUMN_TESTS]);
  v.cwd = absolute(r, *field[COLUMN_CWD] ? field[COLUMN_CWD] : ".");
  if (read_oracle(r, &v, field[COLUMN_ORACLE], err) ||
      read_faulty(r, &v, field[COLUMN_FAULTY], err) ||
      read_timeout(r, &v, field[COLUMN_TIMEOUT], err))
    return -1;
  array_push(&r->m->versions, v);
  return 0;
}

// --- the file --------------------------------------------------------------

static int read_lines(Reader *r, char *text, Err *err) {
  for (char *line; (line = strsep(&text, "\n"));) {
    r->line++;
    size_t n = strlen(line);
    if (n && line[n - 1] == '\r')
      line[n - 1] = '\0';
    if (!*line || *line == '#')
      continue;
    if (r->ncolumns ? read_row(r, line, err) : read_header(r, line, err))
      return -1;
  }
  if (!r->m->versions.len)
    return err_set(err, "%s: no versions in it", r->path);
  return 0;
}

int manifest_parse(Manifest *m, const char *path, const char *text,
                   const char *state, Err *err) {
  *m = (Manifest){0};
  Reader r = {.m = m, .path = path, .state = state};
  char *full = path_absolute(path, NULL), *copy = mem_strdup(text);
  *strrchr(full, '/') = '\0';
  m->root = arena_strdup(&m->arena, *full ? full : "/");
  int rc = read_lines(&r, copy, err);
  hashmap_release(&r.names);
  free(copy);
  free(full);
  if (rc)
    manifest_release(m);
  return rc;
}

int manifest_read(Manifest *m, const char *path, const char *state, Err *err) {
  Str text = {0};
  int rc = fs_read(path, 0, &text, err);
  if (!rc && strlen(str_text(&text)) != text.len)
    rc = err_set(err, "%s: not a text file", path);
  if (!rc)
    rc = manifest_parse(m, path, str_text(&text), state, err);
  str_release(&text);
  return rc;
}

void manifest_release(Manifest *m) {
  array_release(&m->versions);
  arena_release(&m->arena);
  *m = (Manifest){0};
}
