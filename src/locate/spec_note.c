// Notes of what `culprit spec` found out: see spec_note.h.
#include "locate/spec_note.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "locate/localizer.h"
#include "tally/order.h"
#include "util/mem.h"
#include "util/str.h"

// --- the note ---------------------------------------------------------------

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

static void write_facts(const void *note, Str *out) {
  const SpecNote *n = note;
  for (size_t i = 0; i < n->violated.len; i++)
    note_add_fact(out, "violated", n->violated.items[i]);
  for (size_t i = 0; i < n->core.len; i++)
    add_core(out, &n->core.items[i]);
  for (size_t i = 0; i < n->lines.len; i++)
    add_line(out, &n->lines.items[i]);
}

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

static bool take_fact(void *note, char **f, size_t n, Arena *arena) {
  SpecNote *to = note;
  if (n == 2 && !strcmp(f[0], "violated")) {
    array_push(&to->violated, arena_strdup(arena, f[1]));
    return true;
  }
  if (n == 4 && !strcmp(f[0], "core"))
    return take_core(to, f, arena);
  return n == 7 && !strcmp(f[0], "line") && take_line(to, f, arena);
}

static void release(void *note) {
  SpecNote *n = note;
  array_release(&n->violated);
  array_release(&n->core);
  array_release(&n->lines);
}

const NoteKind spec_note_kind = {.name = "spec",
                                 .version = 1,
                                 .size = sizeof(SpecNote),
                                 .write = write_facts,
                                 .take = take_fact,
                                 .release = release};

// --- the localizer ----------------------------------------------------------

static int open_notes(void *state, SessionEvidence *s, Err *err) {
  return notes_load(state, &spec_note_kind, store_dir(s->store), s->suite, err);
}

const Notes *spec_notes(SessionEvidence *s, Err *err) {
  return localizer_state(spec_note_localizers, s, err);
}

static void rank(Scoring *s) {
  scoring_begin(s, &s->session->tally);
  const SpecNote *note = note_of(s);
  for (size_t i = 0; note && i < note->lines.len; i++) {
    const SpecLine *l = &note->lines.items[i];
    note_score(s, l->file, l->line, l->susp, l);
  }
}

// In the order of the note: what breaks ties there need not be known here.
static void order(const Scoring *s, Ranking *r) {
  SuspectKey *const keys[] = {suspect_prior};
  for (size_t i = 0; i < r->suspects.len; i++) {
    const SpecLine *l = note_fact(s, r->suspects.items[i].entity);
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

static void explain(const Scoring *s, Ranking *r) {
  const SpecNote *note = note_of(s);
  if (!note)
    ranking_note(r, "spec",
                 mem_strdup("no core of this failure is known: run culprit "
                            "spec with a run that shows it"));
  if (!note || s->options->by != ENTITY_STATEMENT)
    return;
  order(s, r);
  for (size_t i = 0; i < r->suspects.len && i < s->options->explain; i++) {
    const SpecLine *l = note_fact(s, r->suspects.items[i].entity);
    if (l)
      explain_line(note, l, &r->suspects.items[i]);
  }
}

const Localizer spec_note_localizers[] = {
    {.name = METHOD_SPEC,
     .doc = "the core of a broken contract, and made tests (culprit spec)",
     .scope = FOR_C,
     .all_kinds = 1u << ENTITY_STATEMENT,
     .loads = 1u << ENTITY_STATEMENT,
     .lists = LIST_LINES,
     .experiments = true,
     .state_size = sizeof(Notes),
     .open = open_notes,
     .close = notes_release,
     .has = notes_exist,
     .needs = "the core of a broken contract",
     .remedy = "run `culprit spec`",
     .rank = rank,
     .explain = explain},
    {0}};
