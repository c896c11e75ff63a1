// Notes beside the store: see note_file.h.
#include "locate/note_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"

enum { FILE_MAX = 4 << 20 };

// --- writing ----------------------------------------------------------------

void note_add_field(Str *out, const char *text) {
  str_addc(out, '\t');
  for (; *text; text++) {
    if (*text == '\t' || *text == '\n' || *text == '%')
      str_addf(out, "%%%02X", (unsigned)*text);
    else
      str_addc(out, *text);
  }
}

void note_add_fact(Str *out, const char *name, const char *value) {
  str_add(out, name);
  note_add_field(out, value);
  str_addc(out, '\n');
}

void note_add_sources(Str *out, const NoteSources *sources) {
  for (size_t i = 0; i < sources->len; i++) {
    const Source *s = &sources->items[i];
    str_add(out, "source");
    note_add_field(out, s->path);
    str_addf(out, "\t%016" PRIx64 "\n", s->hash);
  }
}

static char *note_path(const char *dir, const char *kind, int64_t session) {
  return mem_printf("%s/%s/%lld.tsv", dir, kind, (long long)session);
}

int note_write(const char *dir, const char *kind, int64_t session,
               const Str *text, Err *err) {
  char *place = mem_printf("%s/%s", dir, kind);
  char *path = note_path(dir, kind, session);
  int rc =
      fs_mkdirs(place, err) || fs_write(path, str_text(text), text->len, err);
  free(place);
  free(path);
  return rc ? -1 : 0;
}

// --- reading ----------------------------------------------------------------

static int hex(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Takes %09 and the like back, in place.
static void unescape(char *text) {
  char *to = text;
  for (; *text; text++) {
    int high = *text == '%' ? hex(text[1]) : -1;
    int low = high >= 0 ? hex(text[2]) : -1;
    if (low < 0) {
      *to++ = *text;
      continue;
    }
    *to++ = (char)(high * 16 + low);
    text += 2;
  }
  *to = 0;
}

size_t note_split(char *line, char **fields, size_t most) {
  size_t n = 0;
  while (line && n < most) {
    fields[n] = strsep(&line, "\t");
    unescape(fields[n++]);
  }
  return line ? 0 : n;
}

bool note_number(const char *text, uint32_t *out) {
  char *end;
  unsigned long v = strtoul(text, &end, 10);
  *out = (uint32_t)v;
  return *text >= '0' && *text <= '9' && !*end && v < UINT32_MAX;
}

bool note_take_source(NoteSources *out, char **f, Arena *arena) {
  char *end;
  uint64_t hash = strtoull(f[2], &end, 16);
  if (!*f[2] || *end)
    return false;
  array_push(out, (Source){arena_strdup(arena, f[1]), hash});
  return true;
}

static int by_number(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

typedef ARRAY(int64_t) Sessions;

// Those that have a note, the newest first.
static void find_sessions(const char *store, const char *kind, Sessions *out) {
  char *place = mem_printf("%s/%s", store, kind);
  DIR *dir = opendir(place);
  free(place);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    char *end;
    long long number = strtoll(e->d_name, &end, 10);
    if (number > 0 && !strcmp(end, ".tsv"))
      array_push(out, (int64_t)number);
  }
  if (dir)
    closedir(dir);
  if (out->len)
    qsort(out->items, out->len, sizeof *out->items, by_number);
}

static bool has_source(const Suite *suite, const Source *s) {
  for (size_t i = 0; i < suite->nsources; i++)
    if (!strcmp(suite->sources[i].path, s->path))
      return suite->sources[i].hash == s->hash;
  return false;
}

bool note_is_about(const NoteSources *sources, const Suite *suite) {
  for (size_t i = 0; i < sources->len; i++)
    if (!has_source(suite, &sources->items[i]))
      return false;
  return sources->len > 0;
}

static int read_note(const char *path, int64_t session, EachNote *each,
                     void *context, Err *err) {
  Str bytes = {0};
  int rc = fs_read(path, FILE_MAX, &bytes, err);
  char *text = mem_strdup(str_text(&bytes));
  if (!rc)
    rc = each(context, session, path, text, err);
  free(text);
  str_release(&bytes);
  return rc;
}

int note_each(const char *dir, const char *kind, EachNote *each, void *context,
              Err *err) {
  Sessions sessions = {0};
  int rc = 0;
  find_sessions(dir, kind, &sessions);
  for (size_t i = 0; !rc && i < sessions.len; i++) {
    char *path = note_path(dir, kind, sessions.items[i]);
    rc = read_note(path, sessions.items[i], each, context, err);
    free(path);
  }
  array_release(&sessions);
  return rc;
}

uint32_t note_statement(const Suite *suite, const char *file, uint32_t line) {
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_STATEMENT && e->line == line &&
        !strcmp(suite->sources[e->source].path, file))
      return i;
  }
  return ENTITY_NONE;
}
