// Notes beside the store: see note_file.h.
#include "locate/note_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
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

static void add_head(const NoteKind *kind, const NoteHead *note, Str *out) {
  str_addf(out, "%s\t%u\n", kind->name, kind->version);
  note_add_fact(out, "signature", note->signature);
  for (size_t i = 0; i < note->sources.len; i++) {
    const Source *s = &note->sources.items[i];
    str_add(out, "source");
    note_add_field(out, s->path);
    str_addf(out, "\t%016" PRIx64 "\n", s->hash);
  }
}

// The first of a session has no number.
static char *note_path(const NoteKind *kind, const char *dir, int64_t session,
                       uint32_t part) {
  char number[16] = "";
  if (part)
    snprintf(number, sizeof number, "-%u", part);
  return mem_printf("%s/%s/%lld%s.tsv", dir, kind->name, (long long)session,
                    number);
}

int note_write(const NoteKind *kind, const char *dir, const void *note,
               Err *err) {
  const NoteHead *head = note;
  char *place = mem_printf("%s/%s", dir, kind->name);
  char *path = note_path(kind, dir, head->session, head->part);
  Str text = {0};
  add_head(kind, head, &text);
  kind->write(note, &text);
  int rc =
      fs_mkdirs(place, err) || fs_write(path, str_text(&text), text.len, err);
  str_release(&text);
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

// Splits a line in place. 0: it has too many fields.
static size_t split(char *line, char **fields) {
  size_t n = 0;
  while (line && n < NOTE_FIELDS) {
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

static bool take_source(NoteHead *note, char **f, Arena *arena) {
  char *end;
  uint64_t hash = strtoull(f[2], &end, 16);
  if (!*f[2] || *end)
    return false;
  array_push(&note->sources, (Source){arena_strdup(arena, f[1]), hash});
  return true;
}

static bool take_fact(const NoteKind *kind, NoteHead *note, char *line,
                      Arena *arena) {
  char *f[NOTE_FIELDS];
  size_t n = split(line, f);
  if (n == 2 && !strcmp(f[0], kind->name))
    return note_number(f[1], &note->version) && note->version == kind->version;
  if (n == 2 && !strcmp(f[0], "signature"))
    return (note->signature = arena_strdup(arena, f[1]));
  if (n == 3 && !strcmp(f[0], "source"))
    return take_source(note, f, arena);
  return n && kind->take(note, f, n, arena);
}

int note_parse(const NoteKind *kind, void *note, const char *path, char *text,
               Arena *arena, Err *err) {
  NoteHead *head = note;
  bool good = true;
  memset(note, 0, kind->size);
  head->version = kind->version;
  for (char *line; good && (line = strsep(&text, "\n"));)
    good = !*line || take_fact(kind, head, line, arena);
  if (head->version != kind->version)
    return err_set(err,
                   "%s: note version %u, this build reads %u; remove it and "
                   "run `culprit %s` again",
                   path, head->version, kind->version, kind->name);
  if (good && head->signature && (!kind->complete || kind->complete(note)))
    return 0;
  return err_set(err, "%s is not a note of `culprit %s`; remove it", path,
                 kind->name);
}

void note_release(const NoteKind *kind, void *note) {
  array_release(&((NoteHead *)note)->sources);
  kind->release(note);
}

// --- all of them ------------------------------------------------------------

typedef struct {
  int64_t session;
  uint32_t part;
} NotePlace;

static int by_number(const void *a, const void *b) {
  const NotePlace *x = a, *y = b;
  if (x->session != y->session)
    return x->session < y->session ? 1 : -1;
  return (x->part > y->part) - (x->part < y->part);
}

typedef ARRAY(NotePlace) NotePlaces;

// "12.tsv", "12-1.tsv"
static bool take_place(const char *name, NotePlace *out) {
  char *end;
  long long session = strtoll(name, &end, 10);
  *out = (NotePlace){.session = session};
  if (*end == '-')
    out->part = (uint32_t)strtoul(end + 1, &end, 10);
  return session > 0 && !strcmp(end, ".tsv");
}

// Those that are there, of the newest session first.
static void find_notes(const NoteKind *kind, const char *store,
                       NotePlaces *out) {
  char *place = mem_printf("%s/%s", store, kind->name);
  DIR *dir = opendir(place);
  free(place);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    NotePlace at;
    if (take_place(e->d_name, &at))
      array_push(out, at);
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

// Has the session all source texts of the note? A note without any is about
// nothing.
static bool is_about(const NoteHead *note, const Suite *suite) {
  for (size_t i = 0; i < note->sources.len; i++)
    if (!has_source(suite, &note->sources.items[i]))
      return false;
  return note->sources.len > 0;
}

static int load_note(Notes *n, const char *path, int64_t session,
                     const Suite *suite, Err *err) {
  Str text = {0};
  NoteHead *note = arena_alloc(&n->arena, n->kind->size);
  int rc = fs_read(path, FILE_MAX, &text, err);
  if (!rc)
    rc = note_parse(n->kind, note, path, text.len ? text.data : NULL, &n->arena,
                    err);
  note->session = session;
  if (!rc && is_about(note, suite))
    array_push(&n->items, (void *)note);
  else
    note_release(n->kind, note);
  str_release(&text);
  return rc;
}

int notes_load(Notes *n, const NoteKind *kind, const char *dir,
               const Suite *suite, Err *err) {
  NotePlaces places = {0};
  int rc = 0;
  *n = (Notes){.kind = kind};
  find_notes(kind, dir, &places);
  for (size_t i = 0; !rc && i < places.len; i++) {
    const NotePlace *at = &places.items[i];
    if (kind->own_session && at->session != suite->session)
      continue;
    char *path = note_path(kind, dir, at->session, at->part);
    rc = load_note(n, path, at->session, suite, err);
    free(path);
  }
  array_release(&places);
  return rc;
}

void notes_release(void *notes) {
  Notes *n = notes;
  for (size_t i = 0; i < n->items.len; i++)
    note_release(n->kind, n->items.items[i]);
  array_release(&n->items);
  arena_release(&n->arena);
}

bool notes_exist(const void *notes) {
  return ((const Notes *)notes)->items.len > 0;
}

const void *notes_find(const Notes *n, const char *signature) {
  for (size_t i = 0; i < n->items.len; i++)
    if (!strcmp(((const NoteHead *)n->items.items[i])->signature, signature))
      return n->items.items[i];
  return NULL;
}

// --- ranking ----------------------------------------------------------------

const void *note_of(const Scoring *s) {
  return notes_find(s->state, s->suite->failures[s->failure].signature);
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

bool note_score(Scoring *s, const char *file, uint32_t line, double score,
                const void *fact) {
  uint32_t statement = note_statement(s->suite, file, line);
  if (!s->work)
    s->work = arena_array(&s->arena, const void *, s->suite->nentities);
  const void **facts = s->work;
  if (statement == ENTITY_NONE || facts[statement])
    return false;
  facts[statement] = fact;
  s->scores.score[statement] = score;
  return true;
}

const void *note_fact(const Scoring *s, uint32_t statement) {
  const void *const *facts = s->work;
  return facts ? facts[statement] : NULL;
}
