// Notes of what `culprit near` found out: see near.h.
#include "locate/near.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum { FILE_MAX = 4 << 20, FIELDS = 8 };

// --- writing ----------------------------------------------------------------

static void add_field(Str *out, const char *text) {
  str_addc(out, '\t');
  for (; *text; text++) {
    if (*text == '\t' || *text == '\n' || *text == '%')
      str_addf(out, "%%%02X", (unsigned)*text);
    else
      str_addc(out, *text);
  }
}

static void add_fact(Str *out, const char *name, const char *value) {
  str_add(out, name);
  add_field(out, value);
  str_addc(out, '\n');
}

static void add_branch(Str *out, const NoteBranch *b) {
  str_add(out, "branch");
  add_field(out, b->file);
  str_addf(out, "\t%u\t%u", b->line, b->instance);
  add_field(out, b->taken);
  add_field(out, b->needed);
  str_addf(out, "\t%d", b->decisive);
  if (*b->matters)
    add_field(out, b->matters);
  str_addc(out, '\n');
}

static void note_text(const NearNote *note, Str *out) {
  add_fact(out, "near", "1");
  add_fact(out, "signature", note->signature);
  add_fact(out, "command", note->command);
  for (size_t i = 0; i < note->sources.len; i++) {
    const Source *s = &note->sources.items[i];
    str_add(out, "source");
    add_field(out, s->path);
    str_addf(out, "\t%016" PRIx64 "\n", s->hash);
  }
  for (size_t i = 0; i < note->branches.len; i++)
    add_branch(out, &note->branches.items[i]);
}

int near_note_write(const char *dir, const NearNote *note, Err *err) {
  Str text = {0};
  char *place = mem_printf("%s/near", dir);
  char *path = mem_printf("%s/%lld.tsv", place, (long long)note->session);
  note_text(note, &text);
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

static size_t split(char *line, char **fields) {
  size_t n = 0;
  while (line && n < FIELDS) {
    fields[n] = strsep(&line, "\t");
    unescape(fields[n++]);
  }
  return line ? 0 : n;
}

static bool take_number(const char *text, uint32_t *out) {
  char *end;
  unsigned long v = strtoul(text, &end, 10);
  *out = (uint32_t)v;
  return *text >= '0' && *text <= '9' && !*end && v < UINT32_MAX;
}

static bool take_branch(NearNote *note, char **f, size_t n, Arena *arena) {
  NoteBranch b = {.file = arena_strdup(arena, f[1]),
                  .taken = arena_strdup(arena, f[4]),
                  .needed = arena_strdup(arena, f[5]),
                  .decisive = !strcmp(f[6], "1"),
                  .matters = n > 7 ? arena_strdup(arena, f[7]) : ""};
  if (!take_number(f[2], &b.line) || !take_number(f[3], &b.instance))
    return false;
  array_push(&note->branches, b);
  return true;
}

static bool take_source(NearNote *note, char **f, Arena *arena) {
  char *end;
  uint64_t hash = strtoull(f[2], &end, 16);
  if (!*f[2] || *end)
    return false;
  array_push(&note->sources, (Source){arena_strdup(arena, f[1]), hash});
  return true;
}

static bool take_fact(NearNote *note, char **f, size_t n, Arena *arena) {
  if (n == 2 && !strcmp(f[0], "near"))
    return !strcmp(f[1], "1");
  if (n == 2 && !strcmp(f[0], "signature"))
    return (note->signature = arena_strdup(arena, f[1]));
  if (n == 2 && !strcmp(f[0], "command"))
    return (note->command = arena_strdup(arena, f[1]));
  if (n == 3 && !strcmp(f[0], "source"))
    return take_source(note, f, arena);
  return (n == 7 || n == 8) && !strcmp(f[0], "branch") &&
         take_branch(note, f, n, arena);
}

int near_note_parse(NearNote *note, const char *path, char *text, Arena *arena,
                    Err *err) {
  char *fields[FIELDS];
  bool good = true;
  *note = (NearNote){0};
  for (char *line; good && (line = strsep(&text, "\n"));)
    if (*line)
      good = take_fact(note, fields, split(line, fields), arena);
  if (good && note->signature && note->command)
    return 0;
  return err_set(err, "%s is no note of culprit near: remove it", path);
}

void near_note_release(NearNote *note) {
  array_release(&note->sources);
  array_release(&note->branches);
}

// --- all of them ------------------------------------------------------------

typedef ARRAY(int64_t) Sessions;

static int by_number(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

// Those that have a note, the newest first.
static void find_notes(const char *place, Sessions *out) {
  DIR *dir = opendir(place);
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

static bool is_about(const NearNote *note, const Suite *suite) {
  for (size_t i = 0; i < note->sources.len; i++)
    if (!has_source(suite, &note->sources.items[i]))
      return false;
  return note->sources.len > 0;
}

static int load_note(NearNotes *n, const char *place, int64_t session,
                     const Suite *suite, Err *err) {
  char *path = mem_printf("%s/%lld.tsv", place, (long long)session);
  Str text = {0};
  NearNote note = {0};
  int rc = fs_read(path, FILE_MAX, &text, err);
  char *copy = rc ? NULL : mem_strdup(str_text(&text));
  rc = rc || near_note_parse(&note, path, copy, &n->arena, err);
  note.session = session;
  if (!rc && is_about(&note, suite))
    array_push(&n->items, note);
  else
    near_note_release(&note);
  free(copy);
  str_release(&text);
  free(path);
  return rc ? -1 : 0;
}

int near_notes_load(NearNotes *n, const char *dir, const Suite *suite,
                    Err *err) {
  char *place = mem_printf("%s/near", dir);
  Sessions sessions = {0};
  int rc = 0;
  *n = (NearNotes){0};
  find_notes(place, &sessions);
  for (size_t i = 0; !rc && i < sessions.len; i++)
    rc = load_note(n, place, sessions.items[i], suite, err);
  array_release(&sessions);
  free(place);
  return rc;
}

void near_notes_release(NearNotes *n) {
  for (size_t i = 0; i < n->items.len; i++)
    near_note_release(&n->items.items[i]);
  array_release(&n->items);
  arena_release(&n->arena);
}

const NearNote *near_notes_find(const NearNotes *n, const char *signature) {
  for (size_t i = 0; i < n->items.len; i++)
    if (!strcmp(n->items.items[i].signature, signature))
      return &n->items.items[i];
  return NULL;
}

// --- the ranking ------------------------------------------------------------

// The statement on the line; ENTITY_NONE: there is none.
static uint32_t find_statement(const Suite *suite, const NoteBranch *b) {
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_STATEMENT && e->line == b->line &&
        !strcmp(suite->sources[e->source].path, b->file))
      return i;
  }
  return ENTITY_NONE;
}

static void score(const NearNote *note, const Suite *suite, Scores *s,
                  const NoteBranch **why) {
  size_t place = 0;
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_STATEMENT)
      s->score[i] = 0;
  for (size_t i = 0; i < note->branches.len; i++) {
    const NoteBranch *b = &note->branches.items[i];
    uint32_t statement = find_statement(suite, b);
    if (statement == ENTITY_NONE || why[statement])
      continue;
    why[statement] = b;
    s->score[statement] = 1.0 / (double)++place;
  }
}

static void explain(const NearNote *note, const NoteBranch *const *why,
                    size_t top, Ranking *r) {
  for (size_t i = 0; i < r->suspects.len && i < top; i++) {
    Suspect *s = &r->suspects.items[i];
    const NoteBranch *b = why[s->entity];
    if (b)
      suspect_explain(s, "near",
                      mem_printf("was %s; %s in the nearest passing run: %s",
                                 b->taken, b->needed, note->command));
  }
}

int near_notes_rank(const NearNotes *n, const Tally *t, size_t failure,
                    const ListOptions *o, Ranking *out, Err *err) {
  const NearNote *note =
      near_notes_find(n, t->suite->failures[failure].signature);
  const NoteBranch **why = mem_array(const NoteBranch *, t->suite->nentities);
  Comparison c;
  Scores s;
  comparison_init(&c, t, failure, o->others_pass);
  scores_init(&s, t->suite);
  if (note)
    score(note, t->suite, &s, why);
  int rc = listing_rank(t, &c, failure, &s, o, out, err);
  if (!rc && note && o->by == ENTITY_STATEMENT)
    explain(note, why, o->explain, out);
  if (!rc && !note)
    ranking_note(out, "near",
                 mem_strdup("no passing run near this failure is known: run "
                            "culprit near with a failing input"));
  scores_release(&s);
  comparison_release(&c);
  free(why);
  return rc;
}
