// Notes of what `culprit near` found out: see near_note.h.
#include "locate/near_note.h"

#include <string.h>

#include "locate/localizer.h"
#include "util/mem.h"
#include "util/str.h"

// --- the note ---------------------------------------------------------------

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

static void write_facts(const void *note, Str *out) {
  const NearNote *n = note;
  note_add_fact(out, "command", n->command);
  for (size_t i = 0; i < n->branches.len; i++)
    add_branch(out, &n->branches.items[i]);
}

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

static bool take_fact(void *note, char **f, size_t n, Arena *arena) {
  NearNote *to = note;
  if (n == 2 && !strcmp(f[0], "command"))
    return (to->command = arena_strdup(arena, f[1]));
  return n >= 7 && n <= 9 && !strcmp(f[0], "branch") &&
         take_branch(to, f, n, arena);
}

static bool is_complete(const void *note) {
  return ((const NearNote *)note)->command;
}

static void release(void *note) {
  array_release(&((NearNote *)note)->branches);
}

const NoteKind near_note_kind = {.name = "near",
                                 .version = 1,
                                 .size = sizeof(NearNote),
                                 .write = write_facts,
                                 .take = take_fact,
                                 .complete = is_complete,
                                 .release = release};

// --- the localizer ----------------------------------------------------------

static int open_notes(void *state, SessionEvidence *s, Err *err) {
  return notes_load(state, &near_note_kind, store_dir(s->store), s->suite, err);
}

const Notes *near_notes(SessionEvidence *s, Err *err) {
  return localizer_state(near_note_localizers, s, err);
}

static void rank(Scoring *s) {
  scoring_begin(s, &s->session->tally);
  const NearNote *note = note_of(s);
  if (!note)
    return;
  scoring_clear(s);
  unsigned place = 1;
  for (size_t i = 0; i < note->branches.len; i++) {
    const NoteBranch *b = &note->branches.items[i];
    place += note_score(s, b->file, b->line, 1.0 / place, b);
  }
}

static void explain(const Scoring *s, Ranking *r) {
  const NearNote *note = note_of(s);
  if (!note)
    ranking_note(r, "near",
                 mem_strdup("no nearby passing run is known for this failure; "
                            "run `culprit near` with a failing input"));
  if (!note || s->options->by != ENTITY_STATEMENT)
    return;
  for (size_t i = 0; i < r->suspects.len && i < s->options->explain; i++) {
    Suspect *suspect = &r->suspects.items[i];
    const NoteBranch *b = note_fact(s, suspect->entity);
    if (!b)
      continue;
    const char *quote = *b->written ? "`" : "";
    suspect_explain(
        suspect, "near",
        mem_printf("%s%s%s%swas %s; %s in the nearest passing run: %s", quote,
                   b->written, quote, *quote ? " " : "", b->taken, b->needed,
                   note->command));
  }
}

const Localizer near_note_localizers[] = {
    {.name = "near",
     .doc = "branches where the nearest passing run diverges (culprit near)",
     .scope = FOR_C,
     .all_kinds = 1u << ENTITY_STATEMENT,
     .loads = 1u << ENTITY_STATEMENT,
     .lists = LIST_LINES,
     .experiments = true,
     .state_size = sizeof(Notes),
     .open = open_notes,
     .close = notes_release,
     .has = notes_exist,
     .needs = "a passing run near a failing one",
     .remedy = "run `culprit near`",
     .rank = rank,
     .explain = explain},
    {0}};
