// The account of one line for people:
//
//   advisory.c:104 in effective_level
//     |     else if (s->own_alt <= 10000)
//     |              ^~~~~~~~~~~~
//
//   Failure 1 of 2 (exit): exit status 0 instead of 1
//     1 failing run against 335 passing
//
//     cascade: rank 2 of 130
//       score (op2 of the line and its conditions): 0.926, when the condition
//       is true
//       ...
#include <math.h>
#include <string.h>

#include "report/excerpt.h"
#include "report/hints.h"
#include "report/tried.h"
#include "report/why.h"
#include "util/escape.h"
#include "util/fs.h"
#include "util/str.h"

#define WHY_YARDSTICK "ochiai"

enum { NAMES_SHOWN = 20, TIES_SHOWN = 8, CLOSE_SHOWN = 8, USES_SHOWN = 4 };
enum { LINE_WIDTH = 100 };
#define TELLS_NOTHING 0.0005 // it would be shown as 0

static void put_place(const Suite *suite, const Entity *e, FILE *out) {
  report_escaped(suite_path(suite, e->source), out);
  fprintf(out, ":%u", e->line);
}

static void put_score(double score, FILE *out) {
  Str s = {0};
  report_score(score, &s);
  fputs(str_text(&s), out);
  str_release(&s);
}

// --- the line ---------------------------------------------------------------

static void put_excerpt(Why *w, const Entity *e, FILE *out) {
  const char *line;
  size_t n;
  if (!sources_line(w->report.sources, e->source, e->line, &line, &n))
    return;
  Str text = {0}, caret = {0};
  excerpt_render(line, n, e->col_lo, e->col_hi, LINE_WIDTH, &text, &caret);
  if (text.len)
    fprintf(out, "  | %s\n", str_text(&text));
  if (caret.len)
    fprintf(out, "  | %s\n", str_text(&caret));
  str_release(&text);
  str_release(&caret);
}

static void put_head(Why *w, FILE *out) {
  const Suite *suite = w->report.suite;
  const Entity *e = &suite->entities[w->statement];
  if (w->function) {
    fputs("the best ranked line of ", out);
    report_escaped(w->function, out);
    fputs(" is\n", out);
  }
  if (e->line != w->line) {
    report_escaped(suite_path(suite, w->source), out);
    fprintf(out, ":%u has no statement; the nearest is\n", w->line);
  }
  put_place(suite, e, out);
  Str what = {0};
  report_describe(suite, e, &what);
  fprintf(out, "%s%s\n", what.len ? " " : "", str_text(&what));
  str_release(&what);
  put_excerpt(w, e, out);
}

// --- the default method, step by step ---------------------------------------

// ", 0.926 when the condition is true": a score and what carried it.
static void put_voice(const Suite *suite, double value, bool by_other,
                      uint32_t other, FILE *out) {
  put_score(value, out);
  if (!by_other)
    return;
  Str text = {0};
  evidence_tuple(suite, other, &text);
  fputs(", ", out);
  report_escaped(str_text(&text), out);
  str_release(&text);
}

// What speaks against the line: only what does.
static void put_costs(const Suspect *s, FILE *out) {
  const struct {
    double cost;
    const char *text;
  } parts[] = {
      {s->costs.failing, "failing runs lack it"},
      {s->costs.passing, "passing runs have it"},
      {s->costs.others, "runs with other failures lack it"},
      {s->costs.kind, "the kind of evidence"},
      {s->costs.slice, "wrong output that does not depend on the line"},
      {s->costs.death, "runs died elsewhere"},
      {s->costs.steps, "the failure showed elsewhere"},
  };
  bool any = false;
  fputs("\n      against it: ", out);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i].cost >= 0.005) {
      fprintf(out, "%s%.2f %s", any ? ", " : "", parts[i].cost, parts[i].text);
      any = true;
    }
  if (!any)
    fputs("nothing", out);
}

static void put_first_step(const Why *w, const Account *a, FILE *out) {
  const Suspect *s = a->suspect;
  fputs(s->weighed ? "    score (failing runs / (1 + what speaks against it)): "
                   : "    score (op2 of the line and its conditions): ",
        out);
  put_voice(w->report.suite, s->score, s->carried, s->carrier, out);
  if (s->weighed)
    put_costs(s, out);
}

// The order of the keys in locate/spectrum.c.
static void put_steps(const Why *w, const Account *a, FILE *out) {
  const Suspect *s = a->suspect;
  const Ranking *r = &a->ranking;
  put_first_step(w, a, out);
  if (r->sliced.failing)
    fprintf(out,
            "\n    then, among equal scores: the wrong output of %u of %u "
            "failing runs depends on it",
            s->slice_ef, r->sliced.failing);
  fputs("\n    then, among equal scores: ", out);
  fputs(s->weighed ? "if all kinds of evidence counted alike "
                   : "with what its calls return ",
        out);
  put_voice(w->report.suite, s->hint, s->hinted, s->hinter, out);
  fputs("\n    then: the line alone ", out);
  put_score(s->own, out);
  fprintf(out, "; confidence %.3f; a run died here: %s\n", s->confidence,
          s->prior == 1  ? "yes"
          : s->prior > 0 ? "in a call"
                         : "no");
}

static void put_ties(const Why *w, const Account *a, FILE *out) {
  uint32_t ties = a->suspect->rank - a->suspect->rank_best, shown = 0;
  if (!ties) {
    fputs("    nothing ties with it\n", out);
    return;
  }
  fprintf(out, "    %u tie%s with it:", ties, ties == 1 ? "s" : "");
  for (size_t i = 0; i < a->ranking.suspects.len && shown < TIES_SHOWN; i++) {
    const Suspect *s = &a->ranking.suspects.items[i];
    if (s == a->suspect || s->rank != a->suspect->rank)
      continue;
    fputs(shown++ ? ", " : " ", out);
    put_place(w->report.suite, &w->report.suite->entities[s->entity], out);
  }
  if (ties > shown)
    fprintf(out, " and %u more", ties - shown);
  fputc('\n', out);
}

static void put_default(const Why *w, const Account *a, FILE *out) {
  const Suspect *s = a->suspect;
  fprintf(out, "\n  %s: ", method_standard(w->report.suite));
  if (!s) {
    fputs(a->ranking.failing && a->ranking.passing
              ? "not in the ranking: no run of the session executes it\n"
              : "not in the ranking: there is nothing to compare with\n",
          out);
    return;
  }
  Str rank = {0};
  report_rank(s, &rank);
  fprintf(out, "rank %s of %zu\n", str_text(&rank), a->executed);
  str_release(&rank);
  put_steps(w, a, out);
  put_ties(w, a, out);
}

// --- facts, tuples, deaths, tests, methods ----------------------------------

static void put_facts(const Why *w, const Account *a, FILE *out) {
  EvidenceList list = {0};
  why_facts(w, a, &list);
  fputs("\n  what the runs show:\n", out);
  for (size_t i = 0; i < list.len; i++) {
    fputs("    ", out);
    report_escaped(list.items[i].text, out);
    fputc('\n', out);
  }
  evidence_release(&list);
}

static bool is_close(const Suite *suite, const TupleScore *t) {
  return CLOSE_KINDS & 1u << suite->entities[t->entity].kind;
}

static void put_tuple(const TupleScore *t, Str *text, FILE *out) {
  fprintf(out, "    %+.3f  ", t->tells);
  report_escaped(str_text(text), out);
  fputc('\n', out);
  str_release(text);
}

static void put_more(size_t n, FILE *out) {
  if (n)
    fprintf(out, "    and %zu more that tell%s less or nothing\n", n,
            n == 1 ? "s" : "");
}

// A line may have hundreds of pairs.
static void put_tuples(const Why *w, const Account *a, FILE *out) {
  const Suite *suite = w->report.suite;
  size_t close = 0, left_out = 0;
  if (!a->tuples.len)
    return;
  fputs("\n  what separates failing from passing runs (1: all failing and no "
        "passing ones):\n",
        out);
  for (size_t i = 0; i < a->tuples.len; i++) {
    const TupleScore *t = &a->tuples.items[i];
    Str text = {0};
    if (is_close(suite, t) &&
        (close++ >= CLOSE_SHOWN || fabs(t->tells) < TELLS_NOTHING)) {
      left_out++;
      continue;
    }
    if (t->entity == w->statement) {
      str_add(&text, "executing the line: ");
      evidence_runs(&a->ranking, t->ef, t->ep, &text);
    } else {
      evidence_covers(suite, &a->ranking, t->entity, t->ef, t->ep, &text);
    }
    put_tuple(t, &text, out);
  }
  put_more(left_out, out);
}

static void put_uses(const Why *w, const Account *a, FILE *out) {
  size_t n = a->uses.len;
  if (!n)
    return;
  fputs("\n  where the values come from that it uses:\n", out);
  for (size_t i = 0; i < n && i < USES_SHOWN; i++) {
    const TupleScore *t = &a->uses.items[i];
    Str text = {0};
    evidence_use(w->report.suite, &a->ranking, t->entity, t->ef, t->ep, &text);
    put_tuple(t, &text, out);
  }
  put_more(n > USES_SHOWN ? n - USES_SHOWN : 0, out);
}

static void put_deaths(const Why *w, const Account *a, FILE *out) {
  EvidenceList list = {0};
  evidence_deaths(w->report.suite, w->report.deaths, a->failure,
                  &w->report.suite->entities[w->statement], &list);
  for (size_t i = 0; i < list.len; i++) {
    fputs(i ? "  " : "\n  ", out);
    report_escaped(list.items[i].text, out);
    fputc('\n', out);
  }
  evidence_release(&list);
}

static void put_name(const Suite *suite, size_t run, size_t *n, FILE *out) {
  if (*n < NAMES_SHOWN) {
    fputs(*n ? ", " : " ", out);
    report_escaped(suite->runs[run].test, out);
  }
  (*n)++;
}

static void end_names(size_t n, FILE *out) {
  if (!n)
    fputs(" none", out);
  if (n > NAMES_SHOWN)
    fprintf(out, " and %zu more", n - NAMES_SHOWN);
  fputc('\n', out);
}

static void put_tests(const Why *w, const Account *a, FILE *out) {
  const Suite *suite = w->report.suite;
  const FailureGroup *g = &suite->failures[a->failure];
  size_t n = 0;
  fputs("\n  failing tests that execute it:", out);
  for (size_t i = 0; i < g->nruns; i++)
    if (w->covers[g->runs[i]])
      put_name(suite, g->runs[i], &n, out);
  end_names(n, out);
  n = 0;
  for (size_t i = 0; i < suite->nruns; i++)
    n += suite->runs[i].verdict == VERDICT_PASS && w->covers[i];
  fprintf(out, "  passing tests that execute it: %zu%s", n, n ? ":" : "\n");
  n = 0;
  for (size_t i = 0; i < suite->nruns; i++)
    if (suite->runs[i].verdict == VERDICT_PASS && w->covers[i])
      put_name(suite, i, &n, out);
  if (n)
    end_names(n, out);
}

static void put_method(const MethodScore *m, FILE *out) {
  fprintf(out, "    %-16s ", m->method.name);
  if (m->reason) {
    fputs("  -  ", out);
    report_escaped(m->reason, out);
    fputc('\n', out);
    return;
  }
  if (!m->ranked) {
    fputs("  -  not in its ranking\n", out);
    return;
  }
  Str rank = {0};
  report_rank(&(Suspect){.rank = m->rank, .rank_best = m->rank_best}, &rank);
  fprintf(out, "%8s  ", str_text(&rank));
  put_score(m->score, out);
  fputc('\n', out);
  str_release(&rank);
}

static const MethodScore *find_method(const Account *a, const char *name) {
  for (size_t i = 0; i < a->methods.len; i++)
    if (!strcmp(a->methods.items[i].method.name, name))
      return &a->methods.items[i];
  return NULL;
}

static bool ranks_higher(const MethodScore *m, const MethodScore *than) {
  if (!than || !than->ranked || !m->ranked)
    return m->ranked;
  return m->rank < than->rank ||
         (m->rank == than->rank && m->method.experiments &&
          !than->method.experiments);
}

size_t why_methods(const Why *w, const Account *a,
                   const MethodScore *out[WHY_METHODS]) {
  const char *yardstick = strcmp(w->method, WHY_YARDSTICK)
                              ? WHY_YARDSTICK
                              : method_standard(w->report.suite);
  const MethodScore *own = find_method(a, w->method);
  const MethodScore *other = find_method(a, yardstick);
  const MethodScore *best = own && ranks_higher(own, other) ? own : other;
  const MethodScore *highest = best;
  size_t n = 0;
  for (size_t i = 0; i < a->methods.len; i++)
    if (ranks_higher(&a->methods.items[i], highest))
      highest = &a->methods.items[i];
  if (own)
    out[n++] = own;
  if (other)
    out[n++] = other;
  if (highest && highest != best)
    out[n++] = highest;
  return n;
}

static void put_chosen(const Why *w, const Account *a, FILE *out) {
  const MethodScore *chosen[WHY_METHODS];
  size_t n = why_methods(w, a, chosen);
  fputs("\n  rank and score by the main methods (--all: by every method):\n",
        out);
  for (size_t i = 0; i < n; i++)
    put_method(chosen[i], out);
  if (n < WHY_METHODS)
    fputs("    no other method ranks it higher\n", out);
}

static void put_methods(const Why *w, const Account *a, FILE *out) {
  if (!w->all) {
    put_chosen(w, a, out);
    return;
  }
  fputs("\n  rank and score by every method:\n", out);
  for (size_t i = 0; i < a->methods.len; i++)
    put_method(&a->methods.items[i], out);
}

// --- the nearest passing run ------------------------------------------------

const NoteBranch *why_branch(const Why *w, const NearNote *note) {
  const Suite *suite = w->report.suite;
  const Entity *e = &suite->entities[w->statement];
  for (size_t i = 0; i < note->branches.len; i++) {
    const NoteBranch *b = &note->branches.items[i];
    if (b->line == e->line && !strcmp(b->file, suite->sources[e->source].path))
      return b;
  }
  return NULL;
}

static void put_parting(const Why *w, const NearNote *note, FILE *out) {
  const Suite *suite = w->report.suite;
  size_t n = note->branches.len;
  if (!n) {
    fputs("    both runs take the same path; only values differ\n", out);
    return;
  }
  fputs("    the runs diverge at", out);
  for (size_t i = 0; i < n && i < TIES_SHOWN; i++) {
    const NoteBranch *b = &note->branches.items[i];
    fputs(i ? ", " : " ", out);
    report_escaped(suite_shown(suite, b->file), out);
    fprintf(out, ":%u", b->line);
  }
  if (n > TIES_SHOWN)
    fprintf(out, " and %zu more", n - TIES_SHOWN);
  fputc('\n', out);
}

static void put_near(const Why *w, const Account *a, FILE *out) {
  const NearNote *note = w->notes[a->failure];
  if (!note)
    return;
  const NoteBranch *b = why_branch(w, note);
  fputs("\n  the nearest passing run: ", out);
  report_escaped(note->command, out);
  fputc('\n', out);
  if (b) {
    fprintf(out, "    here execution %u", b->instance);
    if (*b->written) {
      fputs(" of `", out);
      report_escaped(b->written, out);
      fputc('`', out);
    }
    fputs(" was ", out);
    report_escaped(b->taken, out);
    fputs(", would have to be ", out);
    report_escaped(b->needed, out);
    fputs(b->decisive ? "\n" : " (tells little)\n", out);
    if (*b->matters) {
      fputs("    ", out);
      report_escaped(b->matters, out);
      fputc('\n', out);
    }
  }
  put_parting(w, note, out);
}

// --- the core of a broken contract ------------------------------------------

const SpecNote *why_core(const Why *w, const Account *a) {
  return notes_find(w->cores, w->report.suite->failures[a->failure].signature);
}

static bool is_here(const Why *w, const char *file, uint32_t line) {
  const Suite *suite = w->report.suite;
  const Entity *e = &suite->entities[w->statement];
  return line == e->line && !strcmp(file, suite->sources[e->source].path);
}

const char *why_clause(const Why *w, const SpecNote *note, size_t k) {
  for (size_t i = 0; i < note->core.len; i++) {
    const SpecCore *c = &note->core.items[i];
    if (is_here(w, c->file, c->line) && !k--)
      return c->clause;
  }
  return NULL;
}

bool why_alone(const Why *w, const SpecNote *note) {
  for (size_t i = 0; i < note->lines.len; i++) {
    const SpecLine *l = &note->lines.items[i];
    if (l->alone && is_here(w, l->file, l->line))
      return true;
  }
  return false;
}

static void put_core(const Why *w, const Account *a, FILE *out) {
  const SpecNote *note = why_core(w, a);
  const char *clause;
  if (!note)
    return;
  fputs("\n  what culprit spec found:\n", out);
  for (size_t k = 0; (clause = why_clause(w, note, k)); k++) {
    fputs("    ", out);
    report_escaped(clause, out);
    fputs(" cannot hold together with this line\n", out);
  }
  if (why_alone(w, note))
    fputs("    changing only this line could satisfy the contract\n", out);
  else if (!why_clause(w, note, 0))
    fputs("    the line is not in the core of the broken contract\n", out);
}

// --- experiments ------------------------------------------------------------

static void put_change(const Why *w, const TryNote *n, const TriedChange *c,
                       FILE *out) {
  Str text = {0};
  tried_sentence(&w->report, n, c, false, &text);
  fputs("    ", out);
  report_escaped(str_text(&text), out);
  fputc('\n', out);
  if (c->diff)
    hints_put_diff(c->diff, 6, w->report.color, out);
  str_release(&text);
}

static void put_tried(const Why *w, const Account *a, FILE *out) {
  const TryNote *n = report_tried(&w->report, a->failure);
  uint32_t tried = n ? tried_at(n, w->statement) : 0;
  ChangeList changes = {0};
  Str text = {0};
  if (!n)
    return;
  tried_list(n, w->statement, &changes);
  fputs("\n  what culprit try found (hints: the tests cannot tell whether a "
        "change is right):\n",
        out);
  for (size_t i = 0; i < changes.len; i++)
    put_change(w, n, changes.items[i], out);
  if (changes.len && tried > changes.len)
    fprintf(out, "    %zu of %u changes tried here repair a failing test\n",
            changes.len, tried);
  if (!changes.len && tried)
    tried_tell_none(tried, &text);
  else if (!changes.len)
    str_add(&text, "no change was tried here");
  if (text.len)
    fprintf(out, "    %s\n", str_text(&text));
  str_release(&text);
  array_release(&changes);
}

static void put_close(const Ranking *r, FILE *out) {
  if (r->close.failing || r->close.passing)
    fprintf(out, "  looked at closely: %u of %u failing and %u of %u %s runs\n",
            r->close.failing, r->failing, r->close.passing, r->passing,
            r->stand_in ? "other failing" : "passing");
}

static void put_failure(const Why *w, const Account *a, FILE *out) {
  const Suite *suite = w->report.suite;
  const FailureGroup *g = &suite->failures[a->failure];
  fprintf(out, "\nFailure %zu of %zu (", a->failure + 1, suite->nfailures);
  report_escaped(g->kind, out);
  fputs("): ", out);
  report_escaped(g->message, out);
  fprintf(out, "\n  %u failing run%s against %u %s\n", a->ranking.failing,
          plural(a->ranking.failing), a->ranking.passing,
          a->ranking.stand_in ? "that fail otherwise" : "passing");
  put_close(&a->ranking, out);
  put_default(w, a, out);
  put_facts(w, a, out);
  put_tuples(w, a, out);
  put_uses(w, a, out);
  put_deaths(w, a, out);
  put_near(w, a, out);
  put_core(w, a, out);
  put_tried(w, a, out);
  put_tests(w, a, out);
  put_methods(w, a, out);
}

void why_text(Why *w, FILE *out) {
  put_head(w, out);
  for (size_t i = 0; i < w->report.suite->nfailures; i++)
    if (!w->only || w->only == i + 1)
      put_failure(w, &w->accounts[i], out);
}
