// Notes of what `culprit try` found out: see try_note.h.
#include "locate/try_note.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "locate/localizer.h"
#include "locate/outmap.h"
#include "locate/spectrum.h"
#include "tally/order.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/mem.h"

// --- the question -----------------------------------------------------------

#define UNCHANGED "unchanged"
#define REFERENCE "reference"
#define ENDLESS "endless"

enum { STATUS_MOST = 255 };

static void question_release(TriedQuestion *q) {
  array_release(&q->arguments);
  array_release(&q->files);
  array_release(&q->answers);
}

static void write_answer(const TriedAnswer *a, Str *out) {
  if (a->change == ANSWER_UNCHANGED || a->change == ANSWER_REFERENCE)
    str_addf(out, "answer\t%s",
             a->change == ANSWER_UNCHANGED ? UNCHANGED : REFERENCE);
  else
    str_addf(out, "answer\t%u", a->change);
  if (a->endless)
    str_add(out, "\t" ENDLESS);
  else
    str_addf(out, "\t%d", a->status);
  note_add_field(out, a->output);
  str_addc(out, '\n');
}

static void question_write(const TriedQuestion *q, Str *out) {
  if (q->inputs)
    str_addf(out, "asked\t%u\t%u\n", q->inputs, q->asked);
  if (!q->command)
    return;
  str_add(out, "question");
  note_add_field(out, q->command);
  str_addf(out, "\t%u\n", q->line);
  for (size_t i = 0; i < q->arguments.len; i++)
    note_add_fact(out, "argument", q->arguments.items[i]);
  if (q->input)
    note_add_fact(out, "stdin", q->input);
  for (size_t i = 0; i < q->files.len; i++) {
    str_add(out, "file");
    note_add_field(out, q->files.items[i].name);
    note_add_field(out, q->files.items[i].text);
    str_addc(out, '\n');
  }
  for (size_t i = 0; i < q->answers.len; i++)
    write_answer(&q->answers.items[i], out);
}

static bool take_status(const char *text, TriedAnswer *a) {
  uint32_t number;
  bool negative = *text == '-';
  a->endless = !strcmp(text, ENDLESS);
  if (a->endless)
    return true;
  if (!note_number(text + negative, &number) || number > STATUS_MOST)
    return false;
  a->status = negative ? -(int)number : (int)number;
  return true;
}

static bool take_answer(TriedQuestion *q, char **f, Arena *arena) {
  TriedAnswer a = {.output = arena_strdup(arena, f[3])};
  if (!strcmp(f[1], UNCHANGED))
    a.change = ANSWER_UNCHANGED;
  else if (!strcmp(f[1], REFERENCE))
    a.change = ANSWER_REFERENCE;
  else if (!note_number(f[1], &a.change))
    return false;
  if (!take_status(f[2], &a))
    return false;
  array_push(&q->answers, a);
  return true;
}

static bool question_take(TriedQuestion *q, char **f, size_t n, Arena *arena) {
  if (n == 3 && !strcmp(f[0], "asked"))
    return note_number(f[1], &q->inputs) && note_number(f[2], &q->asked);
  if (n == 3 && !strcmp(f[0], "question")) {
    q->command = arena_strdup(arena, f[1]);
    return note_number(f[2], &q->line) && q->line;
  }
  if (n == 2 && !strcmp(f[0], "argument")) {
    array_push(&q->arguments, arena_strdup(arena, f[1]));
    return true;
  }
  if (n == 2 && !strcmp(f[0], "stdin")) {
    q->input = arena_strdup(arena, f[1]);
    return true;
  }
  if (n == 3 && !strcmp(f[0], "file")) {
    array_push(&q->files, ((TriedFile){arena_strdup(arena, f[1]),
                                       arena_strdup(arena, f[2])}));
    return true;
  }
  return n == 4 && !strcmp(f[0], "answer") && take_answer(q, f, arena);
}

bool answers_differ(const TriedAnswer *a, const TriedAnswer *b) {
  return a->endless != b->endless || a->status != b->status ||
         strcmp(a->output, b->output) != 0;
}

static bool question_complete(const TriedQuestion *q, size_t nchanges) {
  size_t changes = 0;
  for (size_t i = 0; i < q->answers.len; i++) {
    uint32_t change = q->answers.items[i].change;
    bool other = change == ANSWER_UNCHANGED || change == ANSWER_REFERENCE;
    if (!other && change >= nchanges)
      return false;
    for (size_t k = 0; k < i; k++)
      if (q->answers.items[k].change == change)
        return false;
    changes += !other;
  }
  return q->command ? changes >= 2 : !q->answers.len;
}

// --- the note ---------------------------------------------------------------

static void add_line(Str *out, const TriedLine *l) {
  str_add(out, "line");
  note_add_field(out, l->file);
  str_addf(out, "\t%u\t%u\n", l->line, l->tried);
}

static void add_change(Str *out, const TriedChange *c) {
  str_add(out, "change");
  note_add_field(out, c->file);
  str_addf(out, "\t%u", c->line);
  note_add_field(out, c->kind);
  str_addf(out, "\t%u\t%u\t%u\t%u\t%d", c->repaired, c->failing, c->kept,
           c->passing, c->all_tests);
  note_add_field(out, c->text);
  str_addc(out, '\n');
  if (c->diff)
    note_add_fact(out, "diff", c->diff);
}

static bool has_stops(const TriedStops *s) {
  return s->steps || s->time || s->limits || s->memory || s->confine;
}

static void write_facts(const void *note, Str *out) {
  const TryNote *n = note;
  str_addf(out, "tests\t%u\t%u\nruns\t%u\t%d\n", n->failing, n->passing,
           n->runs, n->cut);
  if (has_stops(&n->stops))
    str_addf(out, "stopped\t%u\t%u\t%u\t%u\t%u\n", n->stops.steps,
             n->stops.time, n->stops.limits, n->stops.memory, n->stops.confine);
  for (size_t i = 0; i < n->lines.len; i++)
    add_line(out, &n->lines.items[i]);
  for (size_t i = 0; i < n->changes.len; i++)
    add_change(out, &n->changes.items[i]);
  question_write(&n->question, out);
}

static bool take_bool(const char *text, bool *out) {
  *out = !strcmp(text, "1");
  return *out || !strcmp(text, "0");
}

static bool take_line(TryNote *note, char **f, Arena *arena) {
  TriedLine l = {.file = arena_strdup(arena, f[1]), .statement = ENTITY_NONE};
  if (!note_number(f[2], &l.line) || !note_number(f[3], &l.tried) || !l.tried)
    return false;
  array_push(&note->lines, l);
  return true;
}

static bool take_change(TryNote *note, char **f, Arena *arena) {
  TriedChange c = {.file = arena_strdup(arena, f[1]),
                   .kind = arena_strdup(arena, f[3]),
                   .text = arena_strdup(arena, f[9]),
                   .statement = ENTITY_NONE};
  if (!note_number(f[2], &c.line) || !note_number(f[4], &c.repaired) ||
      !note_number(f[5], &c.failing) || !note_number(f[6], &c.kept) ||
      !note_number(f[7], &c.passing) || !take_bool(f[8], &c.all_tests))
    return false;
  if (!c.repaired || c.repaired > c.failing || c.kept > c.passing)
    return false;
  array_push(&note->changes, c);
  return true;
}

static bool take_stops(TriedStops *to, char **f) {
  return note_number(f[1], &to->steps) && note_number(f[2], &to->time) &&
         note_number(f[3], &to->limits) && note_number(f[4], &to->memory) &&
         note_number(f[5], &to->confine);
}

static bool take_diff(TryNote *note, const char *text, Arena *arena) {
  TriedChange *last =
      note->changes.len ? &note->changes.items[note->changes.len - 1] : NULL;
  if (!last || last->diff)
    return false;
  last->diff = arena_strdup(arena, text);
  return true;
}

static bool take_fact(void *note, char **f, size_t n, Arena *arena) {
  TryNote *to = note;
  if (n == 3 && !strcmp(f[0], "tests"))
    return note_number(f[1], &to->failing) && note_number(f[2], &to->passing);
  if (n == 3 && !strcmp(f[0], "runs"))
    return note_number(f[1], &to->runs) && take_bool(f[2], &to->cut);
  if (n == 6 && !strcmp(f[0], "stopped"))
    return take_stops(&to->stops, f);
  if (n == 4 && !strcmp(f[0], "line"))
    return take_line(to, f, arena);
  if (n == 10 && !strcmp(f[0], "change"))
    return take_change(to, f, arena);
  if (n == 2 && !strcmp(f[0], "diff"))
    return take_diff(to, f[1], arena);
  return question_take(&to->question, f, n, arena);
}

// Sentences are made of these numbers: they must not contradict each other.
static bool is_complete(const void *note) {
  const TryNote *n = note;
  const TriedStops *s = &n->stops;
  if ((uint64_t)s->steps + s->time + s->limits > n->runs ||
      s->memory > n->runs || s->confine > n->runs)
    return false;
  for (size_t i = 0; i < n->changes.len; i++) {
    const TriedChange *c = &n->changes.items[i];
    bool all = c->failing == n->failing && c->passing == n->passing;
    if (c->failing > n->failing || c->passing > n->passing ||
        (c->all_tests && !all))
      return false;
  }
  return n->failing > 0 && question_complete(&n->question, n->changes.len);
}

static void release(void *note) {
  TryNote *n = note;
  array_release(&n->lines);
  array_release(&n->changes);
  question_release(&n->question);
}

const NoteKind try_note_kind = {.name = "try",
                                .version = 1,
                                .size = sizeof(TryNote),
                                .write = write_facts,
                                .take = take_fact,
                                .complete = is_complete,
                                .release = release,
                                .own_session = true};

// --- runs that were stopped --------------------------------------------------

void stops_count(TriedStops *to, unsigned stops) {
  to->steps += (stops & RUN_OUT_OF_STEPS) != 0;
  to->time += (stops & RUN_OUT_OF_TIME) != 0;
  to->limits += (stops & RUN_OUT_OF_LIMITS) != 0;
  to->memory += (stops & RUN_REFUSED_MEMORY) != 0;
  to->confine += (stops & RUN_REFUSED_CONFINE) != 0;
}

TriedStops stops_since(TriedStops now, TriedStops before) {
  return (TriedStops){.steps = now.steps - before.steps,
                      .time = now.time - before.time,
                      .limits = now.limits - before.limits,
                      .memory = now.memory - before.memory,
                      .confine = now.confine - before.confine};
}

void stops_add(TriedStops *to, TriedStops more) {
  to->steps += more.steps;
  to->time += more.time;
  to->limits += more.limits;
  to->memory += more.memory;
  to->confine += more.confine;
}

// --- changes ----------------------------------------------------------------

double tried_score(const TriedChange *c) {
  double repaired = c->failing ? (double)c->repaired / c->failing : 0;
  double broken = c->passing ? 1 - (double)c->kept / c->passing : 0;
  return repaired - broken;
}

bool tried_survives(const TriedChange *c) {
  return c->all_tests && c->failing && c->repaired == c->failing &&
         c->kept == c->passing;
}

size_t tried_survivors(const TryNote *n) {
  size_t survivors = 0;
  for (size_t i = 0; i < n->changes.len; i++)
    survivors += tried_survives(&n->changes.items[i]);
  return survivors;
}

uint32_t tried_at(const TryNote *n, uint32_t statement) {
  uint32_t tried = 0;
  for (size_t i = 0; i < n->lines.len; i++)
    if (n->lines.items[i].statement == statement)
      tried += n->lines.items[i].tried;
  return tried;
}

// A condition or a statement that was made up fits the tests more easily than a
// change of what is there.
static bool is_made_up(const TriedChange *c) {
  return !strcmp(c->kind, "clause") || !strcmp(c->kind, "insertion");
}

static double worth(const TriedChange *c) {
  return !tried_survives(c) ? tried_score(c) : is_made_up(c) ? 1.5 : 2;
}

static const TriedChange *better(const TriedChange *a, const TriedChange *b) {
  return !a || worth(b) > worth(a) ? b : a;
}

const TriedChange *tried_best(const TryNote *n, uint32_t statement) {
  const TriedChange *best = NULL;
  for (size_t i = 0; i < n->changes.len; i++) {
    const TriedChange *c = &n->changes.items[i];
    if (statement == ENTITY_NONE || c->statement == statement)
      best = better(best, c);
  }
  return best;
}

// --- loading ----------------------------------------------------------------

// A line without a statement continues the one above it.
static uint32_t statement_of(const Suite *suite, const char *file,
                             uint32_t line) {
  uint32_t best = ENTITY_NONE;
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_STATEMENT && e->line <= line &&
        (best == ENTITY_NONE || e->line > suite->entities[best].line) &&
        !strcmp(suite->sources[e->source].path, file))
      best = i;
  }
  return best;
}

static void find_statements(TryNote *n, const Suite *suite) {
  for (size_t i = 0; i < n->lines.len; i++) {
    TriedLine *l = &n->lines.items[i];
    l->statement = statement_of(suite, l->file, l->line);
  }
  for (size_t i = 0; i < n->changes.len; i++) {
    TriedChange *c = &n->changes.items[i];
    c->statement = statement_of(suite, c->file, c->line);
  }
}

static int open_notes(void *state, SessionEvidence *s, Err *err) {
  Notes *notes = state;
  if (notes_load(notes, &try_note_kind, store_dir(s->store), s->suite, err))
    return -1;
  for (size_t i = 0; i < notes->items.len; i++)
    find_statements(notes->items.items[i], s->suite);
  return 0;
}

const Notes *try_notes(SessionEvidence *s, Err *err) {
  return localizer_state(try_note_localizers, s, err);
}

// --- the localizer ----------------------------------------------------------

// The best change per listed entity: a statement, or the function around it.
static const TriedChange **best_changes(const OpenLocalizer *l,
                                        const TryNote *n) {
  const Suite *suite = l->session->suite;
  const TriedChange **best = mem_array(const TriedChange *, suite->nentities);
  for (size_t i = 0; i < n->changes.len; i++) {
    const TriedChange *c = &n->changes.items[i];
    if (c->statement == ENTITY_NONE)
      continue;
    uint32_t at = l->options.by == ENTITY_STATEMENT
                      ? c->statement
                      : suite->entities[c->statement].function;
    if (at < suite->nentities)
      best[at] = better(best[at], c);
  }
  return best;
}

// A change that repairs a few tests, or breaks nearly as many, is found at many
// lines: it says little of where the fault is (docs/evaluation/try.md).
static bool is_raised(const TriedChange *c) {
  static const double least = 0.6;
  return c && worth(c) >= least;
}

// What is not raised keeps the default method's scores, brought into -1 ... 0:
// below what is.
static void set_scores(Ranking *r, const TriedChange *const *best) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < r->suspects.len; i++) {
    low = fmin(low, r->suspects.items[i].score);
    high = fmax(high, r->suspects.items[i].score);
  }
  for (size_t i = 0; i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    const TriedChange *c = best[s->entity];
    if (is_raised(c))
      s->score = worth(c);
    else
      s->score = high > low ? (s->score - high) / (high - low) : 0;
  }
}

static double raised(const Suspect *s) { return fmax(s->score, 0); }

// Within equals in the order they are in.
static void order(Ranking *r) {
  SuspectKey *const keys[] = {raised, suspect_prior};
  for (size_t i = 0; i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    s->prior = -(double)s->rank_best;
  }
  ranking_order_by(r, keys, sizeof keys / sizeof *keys);
}

static void explain_change(const TryNote *n, const TriedChange *c,
                           const Entity *e, Suspect *s) {
  Str text = {0};
  if (e->kind == ENTITY_STATEMENT && e->line == c->line)
    str_addf(&text, "%s here: ", c->text);
  else
    str_addf(&text, "%s at line %u: ", c->text, c->line);
  tried_tell(n, c, &text);
  suspect_note(s, EVIDENCE_TRY, str_take(&text));
}

// Further changes on the line that pass all tests are alternatives.
static void explain_others(const TryNote *n, const TriedChange *best,
                           const Entity *e, Suspect *s) {
  enum { MOST = 2 };
  size_t others = 0;
  for (size_t i = 0; i < n->changes.len; i++) {
    const TriedChange *c = &n->changes.items[i];
    if (c == best || c->statement != s->entity || !tried_survives(c))
      continue;
    if (others++ < MOST)
      explain_change(n, c, e, s);
  }
  if (others > MOST)
    suspect_note(s, EVIDENCE_TRY,
                 mem_printf("%zu further change%s here pass%s all tests",
                            others - MOST, plural(others - MOST),
                            others - MOST == 1 ? "es" : ""));
}

static void explain_suspect(const TryNote *n, const TriedChange *c,
                            const Entity *e, Suspect *s) {
  uint32_t tried = tried_at(n, s->entity);
  if (c) {
    explain_change(n, c, e, s);
    explain_others(n, c, e, s);
  } else if (tried) {
    Str text = {0};
    tried_tell_none(tried, &text);
    suspect_note(s, EVIDENCE_TRY, str_take(&text));
  }
}

static void note_alternatives(const TryNote *n, Ranking *r) {
  size_t survivors = tried_survivors(n);
  Str text = {0};
  if (survivors < 2)
    return;
  uint32_t tests = n->failing + n->passing;
  str_addf(&text, "%zu change%s pass all %u test%s; ", survivors,
           plural(survivors), tests, plural(tests));
  if (!tried_ask(n, &text))
    str_add(&text, "which of them is right, if any, the tests cannot tell");
  ranking_note(r, EVIDENCE_ALTERNATIVES, str_take(&text));
}

static void add_notes(const TryNote *n, Ranking *r) {
  if (n->cut)
    ranking_note(r, EVIDENCE_TRY,
                 mem_printf("not every change was tried: the search ended "
                            "after %u run%s",
                            n->runs, plural(n->runs)));
  note_alternatives(n, r);
}

// The other failures of a session whose experiments were about one of them.
static void note_untried(const Suite *suite, Ranking *r) {
  if (*suite->failures[r->failure].signature)
    ranking_note(r, EVIDENCE_TRY,
                 mem_printf("no experiments were made for this failure: it is "
                            "ranked by %s",
                            method_standard(suite)));
}

// As the session is ranked without experiments.
static void begin_standard(const OpenLocalizer *l, Ranking *r) {
  Err ignored;
  if (!is_web_session(l->session->suite) || l->options.by != ENTITY_STATEMENT)
    return;
  const OutputPlaces *places = outmap_places(l->session, &ignored);
  if (!places)
    return;
  outmap_raise(places, l->session->suite, r);
  spectrum_order(l->spectrum, r);
  outmap_explain(places, l->session->suite, r, l->options.explain);
}

static void raise_repaired(const OpenLocalizer *l, Ranking *r) {
  const Suite *suite = l->session->suite;
  begin_standard(l, r);
  const TryNote *n =
      notes_find(l->state, suite->failures[r->failure].signature);
  if (!n) {
    note_untried(suite, r);
    return;
  }
  const TriedChange **best = best_changes(l, n);
  set_scores(r, best);
  order(r);
  for (size_t i = 0; i < r->suspects.len && i < l->options.explain; i++) {
    Suspect *s = &r->suspects.items[i];
    explain_suspect(n, best[s->entity], &suite->entities[s->entity], s);
  }
  add_notes(n, r);
  free(best);
}

const Localizer try_note_localizers[] = {
    {.name = METHOD_TRY,
     .doc = "lines where a small change repairs failing tests, then " //
     METHOD_DEFAULT " (culprit try)",
     .scope = FOR_C,
     .all_kinds = 1u << ENTITY_STATEMENT,
     .lists = LIST_LINES,
     .experiments = true,
     .state_size = sizeof(Notes),
     .open = open_notes,
     .close = notes_release,
     .has = notes_exist,
     .needs = "experiments",
     .remedy = "run `culprit try`",
     .formula = formula_op2,
     .cascade = true,
     .adjust = raise_repaired},
    {0}};
