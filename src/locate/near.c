// Notes of what `culprit near` found out: see near.h.
#include "locate/near.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

enum { FIELDS = 9 };

// --- writing ----------------------------------------------------------------

static void add_branch(Str *out, const NoteBranch *b) {
  str_add(out, "branch");
  note_add_field(out, b->file);
  str_addf(out, "\t%u\t%u", b->line, b->instance);
  note_add_field(out, b->taken);
  note_add_field(out, b->needed);
  str_addf(out, "\t%d", b->decisive);
  if (*b->matters || *b->written)
    note_add_field(out, b->matters);
  if (*b->written)
    note_add_field(out, b->written);
  str_addc(out, '\n');
}

static void note_text(const NearNote *note, Str *out) {
  note_add_fact(out, "near", "1");
  note_add_fact(out, "signature", note->signature);
  note_add_fact(out, "command", note->command);
  note_add_sources(out, &note->sources);
  for (size_t i = 0; i < note->branches.len; i++)
    add_branch(out, &note->branches.items[i]);
}

int near_note_write(const char *dir, const NearNote *note, Err *err) {
  Str text = {0};
  note_text(note, &text);
  int rc = note_write(dir, "near", note->session, &text, err);
  str_release(&text);
  return rc;
}

// --- reading ----------------------------------------------------------------

static bool take_branch(NearNote *note, char **f, size_t n, Arena *arena) {
  NoteBranch b = {.file = arena_strdup(arena, f[1]),
                  .taken = arena_strdup(arena, f[4]),
                  .needed = arena_strdup(arena, f[5]),
                  .decisive = !strcmp(f[6], "1"),
                  .matters = n > 7 ? arena_strdup(arena, f[7]) : "",
                  .written = n > 8 ? arena_strdup(arena, f[8]) : ""};
  if (!note_number(f[2], &b.line) || !note_number(f[3], &b.instance))
    return false;
  array_push(&note->branches, b);
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
    return note_take_source(&note->sources, f, arena);
  return n >= 7 && n <= FIELDS && !strcmp(f[0], "branch") &&
         take_branch(note, f, n, arena);
}

int near_note_parse(NearNote *note, const char *path, char *text, Arena *arena,
                    Err *err) {
  char *fields[FIELDS];
  bool good = true;
  *note = (NearNote){0};
  for (char *line; good && (line = strsep(&text, "\n"));)
    if (*line)
      good = take_fact(note, fields, note_split(line, fields, FIELDS), arena);
  if (good && note->signature && note->command)
    return 0;
  return err_set(err, "%s is no note of culprit near: remove it", path);
}

void near_note_release(NearNote *note) {
  array_release(&note->sources);
  array_release(&note->branches);
}

// --- all of them ------------------------------------------------------------

typedef struct {
  NearNotes *notes;
  const Suite *suite;
} Loading;

static int load_note(void *context, int64_t session, const char *path,
                     char *text, Err *err) {
  Loading *l = context;
  NearNote note;
  int rc = near_note_parse(&note, path, text, &l->notes->arena, err);
  note.session = session;
  if (!rc && note_is_about(&note.sources, l->suite))
    array_push(&l->notes->items, note);
  else
    near_note_release(&note);
  return rc;
}

int near_notes_load(NearNotes *n, const char *dir, const Suite *suite,
                    Err *err) {
  Loading l = {n, suite};
  *n = (NearNotes){0};
  return note_each(dir, "near", load_note, &l, err);
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

static void score(const NearNote *note, const Suite *suite, Scores *s,
                  const NoteBranch **why) {
  size_t place = 0;
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_STATEMENT)
      s->score[i] = 0;
  for (size_t i = 0; i < note->branches.len; i++) {
    const NoteBranch *b = &note->branches.items[i];
    uint32_t statement = note_statement(suite, b->file, b->line);
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
    if (!b)
      continue;
    const char *quote = *b->written ? "`" : "";
    suspect_explain(
        s, "near",
        mem_printf("%s%s%s%swas %s; %s in the nearest passing run: %s", quote,
                   b->written, quote, *quote ? " " : "", b->taken, b->needed,
                   note->command));
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
