// Notes of what `culprit spec` found out: see spec_note.h.
#include "locate/spec_note.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tally/order.h"
#include "util/mem.h"
#include "util/str.h"

enum { FIELDS = 8 };

// --- writing ----------------------------------------------------------------

static void add_core(Str *out, const SpecCore *c) {
  str_add(out, "core");
  note_add_field(out, c->clause);
  note_add_field(out, c->file);
  str_addf(out, "\t%u\n", c->line);
}

static void add_line(Str *out, const SpecLine *l) {
  str_add(out, "line");
  note_add_field(out, l->file);
  str_addf(out, "\t%u\t%.17g\t%d\t%d\t%u\n", l->line, l->susp, l->core,
           l->alone, l->rank_best);
}

int spec_note_write(const char *dir, const SpecNote *note, Err *err) {
  Str out = {0};
  str_addf(&out, "spec\t%d\n", SPEC_NOTE_VERSION);
  note_add_fact(&out, "signature", note->signature);
  for (size_t i = 0; i < note->violated.len; i++)
    note_add_fact(&out, "violated", note->violated.items[i]);
  note_add_sources(&out, &note->sources);
  for (size_t i = 0; i < note->core.len; i++)
    add_core(&out, &note->core.items[i]);
  for (size_t i = 0; i < note->lines.len; i++)
    add_line(&out, &note->lines.items[i]);
  int rc = note_write(dir, "spec", note->session, &out, err);
  str_release(&out);
  return rc;
}

// --- reading ----------------------------------------------------------------

static bool take_core(SpecNote *note, char **f, Arena *arena) {
  SpecCore c = {.clause = arena_strdup(arena, f[1]),
                .file = arena_strdup(arena, f[2])};
  if (!note_number(f[3], &c.line))
    return false;
  array_push(&note->core, c);
  return true;
}

static bool take_line(SpecNote *note, char **f, Arena *arena) {
  char *end;
  SpecLine l = {.file = arena_strdup(arena, f[1]),
                .susp = strtod(f[3], &end),
                .core = !strcmp(f[4], "1"),
                .alone = !strcmp(f[5], "1")};
  if (!note_number(f[2], &l.line) || !*f[3] || *end || !isfinite(l.susp) ||
      !note_number(f[6], &l.rank_best))
    return false;
  array_push(&note->lines, l);
  return true;
}

static bool take_fact(SpecNote *note, char **f, size_t n, Arena *arena) {
  if (n == 2 && !strcmp(f[0], "spec"))
    return note_number(f[1], &note->version);
  if (n == 2 && !strcmp(f[0], "signature"))
    return (note->signature = arena_strdup(arena, f[1]));
  if (n == 2 && !strcmp(f[0], "violated")) {
    array_push(&note->violated, arena_strdup(arena, f[1]));
    return true;
  }
  if (n == 3 && !strcmp(f[0], "source"))
    return note_take_source(&note->sources, f, arena);
  if (n == 4 && !strcmp(f[0], "core"))
    return take_core(note, f, arena);
  return n == 7 && !strcmp(f[0], "line") && take_line(note, f, arena);
}

int spec_note_parse(SpecNote *note, const char *path, char *text, Arena *arena,
                    Err *err) {
  char *fields[FIELDS];
  bool good = true;
  *note = (SpecNote){.version = SPEC_NOTE_VERSION};
  for (char *line; good && (line = strsep(&text, "\n"));)
    if (*line)
      good = take_fact(note, fields, note_split(line, fields, FIELDS), arena) &&
             note->version == SPEC_NOTE_VERSION;
  if (note->version != SPEC_NOTE_VERSION)
    return err_set(err,
                   "%s: a note of version %u, this build reads %d; remove it "
                   "and run `culprit spec` again",
                   path, note->version, SPEC_NOTE_VERSION);
  if (good && note->signature)
    return 0;
  return err_set(err, "%s is no note of culprit spec: remove it", path);
}

void spec_note_release(SpecNote *note) {
  array_release(&note->violated);
  array_release(&note->sources);
  array_release(&note->core);
  array_release(&note->lines);
}

// --- all of them ------------------------------------------------------------

typedef struct {
  SpecNotes *notes;
  const Suite *suite;
} Loading;

static int load_note(void *context, int64_t session, const char *path,
                     char *text, Err *err) {
  Loading *l = context;
  SpecNote note;
  int rc = spec_note_parse(&note, path, text, &l->notes->arena, err);
  note.session = session;
  if (!rc && note_is_about(&note.sources, l->suite))
    array_push(&l->notes->items, note);
  else
    spec_note_release(&note);
  return rc;
}

int spec_notes_load(SpecNotes *n, const char *dir, const Suite *suite,
                    Err *err) {
  Loading l = {n, suite};
  *n = (SpecNotes){0};
  return note_each(dir, "spec", load_note, &l, err);
}

void spec_notes_release(SpecNotes *n) {
  for (size_t i = 0; i < n->items.len; i++)
    spec_note_release(&n->items.items[i]);
  array_release(&n->items);
  arena_release(&n->arena);
}

const SpecNote *spec_notes_find(const SpecNotes *n, const char *signature) {
  for (size_t i = 0; i < n->items.len; i++)
    if (!strcmp(n->items.items[i].signature, signature))
      return &n->items.items[i];
  return NULL;
}

// --- the ranking ------------------------------------------------------------

static void score(const SpecNote *note, const Suite *suite, Scores *s,
                  const SpecLine **why) {
  for (size_t i = 0; i < note->lines.len; i++) {
    const SpecLine *l = &note->lines.items[i];
    uint32_t statement = note_statement(suite, l->file, l->line);
    if (statement == ENTITY_NONE || why[statement])
      continue;
    why[statement] = l;
    s->score[statement] = l->susp;
  }
}

// As the note has it: what breaks ties there need not be known here.
static void order(Ranking *r, const SpecLine *const *why) {
  SuspectKey *const keys[] = {suspect_prior};
  for (size_t i = 0; i < r->suspects.len; i++) {
    const SpecLine *l = why[r->suspects.items[i].entity];
    r->suspects.items[i].prior =
        l ? -(double)l->rank_best : -(double)UINT32_MAX;
  }
  ranking_order_by(r, keys, sizeof keys / sizeof *keys);
}

static void explain_line(const SpecNote *note, const SpecLine *l, Suspect *s) {
  for (size_t i = 0; i < note->core.len; i++) {
    const SpecCore *c = &note->core.items[i];
    if (c->line == l->line && !strcmp(c->file, l->file))
      suspect_explain(
          s, "core",
          mem_printf("%s cannot hold together with this line", c->clause));
  }
  if (l->alone)
    suspect_explain(s, "core",
                    mem_strdup("changing only this line could keep what was "
                               "promised"));
}

static void explain(const SpecNote *note, const SpecLine *const *why,
                    size_t top, Ranking *r) {
  for (size_t i = 0; i < r->suspects.len && i < top; i++) {
    Suspect *s = &r->suspects.items[i];
    if (why[s->entity])
      explain_line(note, why[s->entity], s);
  }
}

int spec_notes_rank(const SpecNotes *n, const Tally *t, size_t failure,
                    const ListOptions *o, Ranking *out, Err *err) {
  const SpecNote *note =
      spec_notes_find(n, t->suite->failures[failure].signature);
  const SpecLine **why = mem_array(const SpecLine *, t->suite->nentities + 1);
  Comparison c;
  Scores s;
  comparison_init(&c, t, failure, o->others_pass);
  scores_init(&s, t->suite);
  if (note)
    score(note, t->suite, &s, why);
  int rc = listing_rank(t, &c, failure, &s, o, out, err);
  if (!rc && note && o->by == ENTITY_STATEMENT) {
    order(out, why);
    explain(note, why, o->explain, out);
  }
  if (!rc && !note)
    ranking_note(out, "spec",
                 mem_strdup("no core of this failure is known: run culprit "
                            "spec with a run that shows it"));
  scores_release(&s);
  comparison_release(&c);
  free(why);
  return rc;
}
