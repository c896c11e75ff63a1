// What is known of one line about one failure, in sentences: see why_facts in
// why.h. Every sentence follows from stored runs; none is a guess.
//
//   every failing run executes it, but so do 199 of 532 passing runs: ...
//   56 lines rank higher; the first is calc.c:506 in nearest (when the
//     condition is true: 3 of 3 failing, 0 of 532 passing runs)
//   exactly the same runs execute 4 other lines, ...: calc.c:805, 807-809
//   line 801 decides whether it is executed: when the condition is true: ...
//   its function parse_head is entered by 3 of 3 failing, 201 of 532 passing
//     runs; of its lines calc.c:806 ranks highest (rank 40)
//   failing test 107 and the passing test nearest to it, 108 (97.3 % ...), ...
#include <string.h>

#include "history/last_changes.h"
#include "model/wrong_byte.h"
#include "report/why.h"
#include "util/str.h"

enum { LINES_SHOWN = 8, GUARDS_SHOWN = 2, OUTCOMES_SHOWN = 3 };

static void add(EvidenceList *out, const char *kind, Str *text) {
  array_push(out, (Evidence){.kind = kind, .text = str_take(text)});
}

static void add_place(const Suite *suite, uint32_t entity, Str *out) {
  const Entity *e = &suite->entities[entity];
  str_addf(out, "%s:%u", suite_path(suite, e->source), e->line);
}

// --- coverage ---------------------------------------------------------------

// What the runs are called that do not show the failure.
static const char *other_runs(const Ranking *r) {
  return r->stand_in ? "other failing" : "passing";
}

static void tell_unexecuted(const Why *w, Str *out) {
  size_t n = 0;
  for (size_t i = 0; i < w->report.suite->nruns; i++)
    n += w->covers[i];
  if (n)
    str_addf(out,
             "no run that is compared here executes it, only %zu other%s of "
             "the session",
             n, plural(n));
  else
    str_add(out, "no run of the session executes it, so what it does cannot "
                 "be the cause; that it is not reached may be");
}

// All failing runs execute it.
static void tell_all_failing(const Ranking *r, uint32_t ep, Str *out) {
  const char *every = r->failing == 1 ? "the failing run executes"
                                      : "every failing run executes";
  if (!r->passing)
    str_addf(out, "%s it; there is no passing run to compare with", every);
  else if (ep == r->passing)
    str_addf(out,
             "every run executes it, %s: its coverage distinguishes nothing",
             r->stand_in ? "whatever its failure" : "failing or passing");
  else if (ep)
    str_addf(out,
             "%s it, but so do%s %u of %u %s runs: executing it does not "
             "suffice to fail",
             every, ep == 1 ? "es" : "", ep, r->passing, other_runs(r));
  else
    str_addf(out, "%s it, and no %s run does", every, other_runs(r));
}

static void tell_some_failing(const Ranking *r, uint32_t ef, uint32_t ep,
                              Str *out) {
  uint32_t rest = r->failing - ef;
  str_addf(out, "%u of %u failing runs execute%s it, ", ef, r->failing,
           ef == 1 ? "s" : "");
  if (!r->passing)
    str_add(out, "and there is no passing run to compare with");
  else if (ep == r->passing)
    str_addf(out, "and every %s run does", other_runs(r));
  else if (ep)
    str_addf(out, "and %u of %u %s runs", ep, r->passing, other_runs(r));
  else
    str_addf(out, "and no %s run does", other_runs(r));
  str_addf(out, ": %u fail%s without it", rest, rest == 1 ? "s" : "");
}

static void tell_coverage(const Why *w, const Account *a, EvidenceList *out) {
  const Ranking *r = &a->ranking;
  uint32_t ef = a->self.ef, ep = a->self.ep;
  Str text = {0};
  if (!ef && !ep)
    tell_unexecuted(w, &text);
  else if (!ef)
    str_addf(&text,
             "no failing run executes it (%u of %u %s runs do%s): what it does "
             "cannot be the cause; that it is not reached may be",
             ep, r->passing, other_runs(r), ep == 1 ? "es" : "");
  else if (ef == r->failing)
    tell_all_failing(r, ep, &text);
  else
    tell_some_failing(r, ef, ep, &text);
  add(out, "coverage", &text);
}

// --- among the others -------------------------------------------------------

static void tell_rank(const Why *w, const Account *a, EvidenceList *out) {
  const Suite *suite = w->report.suite;
  const Suspect *s = a->suspect, *first = a->ranking.suspects.items;
  Str text = {0};
  if (!s)
    return;
  if (s->rank_best == 1) {
    str_add(&text, s->rank == 1 ? "no other line ranks as high"
                                : "no line ranks higher");
    add(out, "rank", &text);
    return;
  }
  str_addf(&text, "%u line%s rank%s higher; the first is ", s->rank_best - 1,
           plural(s->rank_best - 1), s->rank_best == 2 ? "s" : "");
  add_place(suite, first->entity, &text);
  str_add(&text, " (");
  if (first->carried)
    evidence_covers(suite, &a->ranking, first->carrier, first->carrier_ef,
                    first->carrier_ep, &text);
  else
    evidence_runs(&a->ranking, first->ef, first->ep, &text);
  str_add(&text, ")");
  add(out, "rank", &text);
}

// "calc.c:805, 807": files are named once.
static void add_lines(const Suite *suite, const uint32_t *list, size_t n,
                      Str *out) {
  uint32_t source = UINT32_MAX;
  for (size_t i = 0; i < n && i < LINES_SHOWN; i++) {
    const Entity *e = &suite->entities[list[i]];
    str_add(out, i ? ", " : " ");
    if (e->source == source)
      str_addf(out, "%u", e->line);
    else
      add_place(suite, list[i], out);
    source = e->source;
  }
  if (n > LINES_SHOWN)
    str_addf(out, " and %zu more", n - LINES_SHOWN);
}

static void tell_twins(const Why *w, EvidenceList *out) {
  Str text = {0};
  if (w->ntwins) {
    str_addf(&text,
             "exactly the same runs execute %zu other line%s, so coverage "
             "cannot tell %s apart:",
             w->ntwins, plural(w->ntwins), w->ntwins == 1 ? "the two" : "them");
    add_lines(w->report.suite, w->twins, w->ntwins, &text);
  } else {
    str_add(&text, "no other line is executed by exactly the same runs");
  }
  add(out, "twins", &text);
}

// --- the wrong output -------------------------------------------------------

// Of the runs that show the failure and whose slice is known: one whose wrong
// byte depends on the line, else the first.
static const RunInfo *sliced_run(const Why *w, const Account *a, size_t *run) {
  const Suite *suite = w->report.suite;
  const FailureGroup *g = &suite->failures[a->failure];
  const RunInfo *first = NULL;
  for (size_t i = 0; i < g->nruns; i++) {
    const RunInfo *r = &suite->runs[g->runs[i]];
    WrongByte b;
    if (!r->wrong || !wrong_byte_read(r->wrong, &b) || !b.line)
      continue;
    if (!first || (w->sliced[g->runs[i]] && !w->sliced[*run])) {
      first = r;
      *run = g->runs[i];
    }
  }
  return first;
}

// "here", "at line 90", "at other.c:90"
static void add_writer(const Why *w, const WrongByte *b, Str *out) {
  const Suite *suite = w->report.suite;
  const Entity *e = &suite->entities[w->statement];
  bool same = !strcmp(suite->sources[e->source].path, b->source);
  if (same && e->line == b->line)
    str_add(out, "here");
  else if (same)
    str_addf(out, "at line %u", b->line);
  else
    str_addf(out, "at %s:%u", suite_shown(suite, b->source), b->line);
}

static void tell_slice(const Why *w, const Account *a, EvidenceList *out) {
  size_t run = 0;
  WrongByte b;
  const RunInfo *r = w->sliced ? sliced_run(w, a, &run) : NULL;
  if (!r || !wrong_byte_read(r->wrong, &b))
    return;
  Str text = {0};
  bool end = b.printed == BYTE_END;
  str_addf(&text, "the %s of test %s, at offset %llu (",
           end ? "end of the output" : "first wrong byte", r->test,
           (unsigned long long)b.offset);
  wrong_byte_tell(&b, &text);
  str_add(&text, end ? "), is reached " : "), is written ");
  add_writer(w, &b, &text);
  str_add(&text, w->sliced[run] ? " and depends on this line"
                                : " and does not depend on this line");
  add(out, "slice", &text);
}

// --- in its function --------------------------------------------------------

static bool same_condition(const Suite *suite, const TupleScore *a,
                           const TupleScore *b) {
  const Entity *x = &suite->entities[a->entity];
  const Entity *y = &suite->entities[b->entity];
  return x->to == y->to && x->index == y->index;
}

// Where the outcomes of the condition end that begin at `i`.
static size_t end_of_condition(const Suite *suite, const Account *a, size_t i) {
  size_t end = i + 1;
  while (end < a->guards.len &&
         same_condition(suite, &a->guards.items[i], &a->guards.items[end]))
    end++;
  return end;
}

// The `n` outcomes of one of `all` conditions.
static void tell_guard(const Why *w, const Account *a, const TupleScore *t,
                       size_t n, size_t all, EvidenceList *out) {
  const Suite *suite = w->report.suite;
  uint32_t seen = 0;
  for (size_t i = 0; i < n; i++)
    seen += t[i].ef + t[i].ep;
  if (!seen) // the runs recorded no conditions
    return;
  Str text = {0};
  str_addf(&text, "line %u ", suite->entities[t->entity].line);
  if (all > 1)
    str_addf(&text, "has one of %zu conditions that decide", all);
  else
    str_add(&text, "decides");
  str_add(&text, " whether it is executed");
  for (size_t i = 0; i < n && i < OUTCOMES_SHOWN; i++) {
    str_add(&text, i ? "; " : ": ");
    evidence_covers(suite, &a->ranking, t[i].entity, t[i].ef, t[i].ep, &text);
  }
  if (n > OUTCOMES_SHOWN)
    str_addf(&text, "; %zu more outcome%s", n - OUTCOMES_SHOWN,
             plural(n - OUTCOMES_SHOWN));
  add(out, "guard", &text);
}

// A function may also be left in the middle of a call: exit, longjmp, death.
static void tell_always(const Why *w, const Account *a, EvidenceList *out) {
  const Suite *suite = w->report.suite;
  const char *name = report_function(suite, &suite->entities[w->statement]);
  const TupleScore *s = &a->self, *f = &a->function;
  if (f->entity == ENTITY_NONE || !*name || !(f->ef || f->ep))
    return;
  Str text = {0};
  str_addf(&text, "no condition of %s decides whether it is executed", name);
  if (s->ef == f->ef && s->ep == f->ep)
    str_add(&text, ": every run that enters it gets here");
  else if (s->ef <= f->ef && s->ep <= f->ep)
    str_addf(&text, "; runs that end before it: %u failing, %u %s",
             f->ef - s->ef, f->ep - s->ep, other_runs(&a->ranking));
  add(out, "guard", &text);
}

static void tell_guards(const Why *w, const Account *a, EvidenceList *out) {
  const Suite *suite = w->report.suite;
  size_t all = 0, shown = 0, end;
  for (size_t i = 0; i < a->guards.len; i = end_of_condition(suite, a, i))
    all++;
  for (size_t i = 0; i < a->guards.len && shown < GUARDS_SHOWN; i = end) {
    end = end_of_condition(suite, a, i);
    tell_guard(w, a, &a->guards.items[i], end - i, all, out);
    shown++;
  }
  if (a->always)
    tell_always(w, a, out);
}

// The best of the suspects in that function.
static const Suspect *best_of(const Suite *suite, const Ranking *r,
                              uint32_t function) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (suite->entities[r->suspects.items[i].entity].function == function)
      return &r->suspects.items[i];
  return NULL;
}

static void tell_function(const Why *w, const Account *a, EvidenceList *out) {
  const Suite *suite = w->report.suite;
  const TupleScore *f = &a->function;
  const char *name = report_function(suite, &suite->entities[w->statement]);
  if (f->entity == ENTITY_NONE || !*name || !(f->ef || f->ep))
    return;
  Str text = {0};
  str_addf(&text, "its function %s is entered by ", name);
  evidence_runs(&a->ranking, f->ef, f->ep, &text);
  const Suspect *best = best_of(suite, &a->ranking, f->entity);
  if (best && a->suspect && best->rank_best < a->suspect->rank_best) {
    Str rank = {0};
    report_rank(best, &rank);
    str_add(&text, "; of its lines ");
    add_place(suite, best->entity, &text);
    str_addf(&text, " ranks highest (%s)", str_text(&rank));
    str_release(&rank);
  } else if (a->suspect) {
    str_add(&text, "; none of its lines ranks higher");
  }
  add(out, "function", &text);
}

// --- other runs -------------------------------------------------------------

static void tell_nearest(const Why *w, const Account *a, EvidenceList *out) {
  const Suite *suite = w->report.suite;
  const NearTest *n = w->report.nearest ? &w->report.nearest[a->failure] : NULL;
  if (!n || !n->found)
    return;
  bool f = w->covers[n->failing], p = w->covers[n->passing];
  Str text = {0};
  str_addf(&text,
           "of failing test %s and the passing test nearest to it, %s (%.1f %% "
           "of their lines in common), ",
           suite->runs[n->failing].test, suite->runs[n->passing].test,
           100 * n->similarity);
  str_add(&text, f && p ? "both execute it"
                 : f    ? "only the failing one executes it"
                 : p    ? "only the passing one executes it"
                        : "neither executes it");
  add(out, "nearest", &text);
}

// Where runs that show the failure died, if it was not here.
static void tell_deaths(const Why *w, const Account *a, EvidenceList *out) {
  const Suite *suite = w->report.suite;
  const Deaths *d = w->report.deaths;
  if (deaths_nearness(d, suite, a->failure, w->statement) == 1)
    return;
  for (size_t i = 0; i < d->items.len; i++) {
    const DeathAt *at = &d->items.items[i];
    if (at->depth || !death_of(suite, a->failure, at))
      continue;
    Str text = {0};
    str_addf(&text, "test %s died %s %s:%u (%s), no failing run died here",
             suite->runs[at->run].test, at->exact ? "at" : "close to",
             suite_path(suite, at->source), at->line, at->how);
    add(out, "death", &text);
    return;
  }
}

// Of a page: what of it that is blamed this line wrote.
static void tell_output(const Why *w, const Account *a, EvidenceList *out) {
  PlaceList places = {0};
  report_places(&w->report, a->failure, &places);
  for (size_t i = 0; i < places.len; i++) {
    const PlaceAt *p = places.items[i];
    if (p->statement != w->statement)
      continue;
    Str text = {0};
    bool printed = p->role < PLACE_NEAR;
    if (printed)
      str_addf(&text, "it wrote what is wrong in the output, %s: %s", p->what,
               p->excerpt);
    else
      str_addf(&text, *p->excerpt ? "it holds this, %s: %s" : "%s%s",
               *p->excerpt ? p->what : "it ",
               *p->excerpt ? p->excerpt : p->what);
    add(out, printed ? "output" : "query", &text);
  }
  array_release(&places);
}

static void tell_compiled(const Why *w, EvidenceList *out) {
  const Suite *suite = w->report.suite;
  const char *at = suite_compiled(suite, &suite->entities[w->statement]);
  Str text = {0};
  if (!at)
    return;
  str_addf(&text, "this line of a template was compiled to %s", at);
  add(out, "compiled", &text);
}

static void tell_change(const Why *w, EvidenceList *out) {
  Str text = {0};
  if (!w->change)
    return;
  str_add(&text, w->change);
  add(out, EVIDENCE_CHANGE, &text);
}

void why_facts(const Why *w, const Account *a, EvidenceList *out) {
  tell_coverage(w, a, out);
  tell_rank(w, a, out);
  tell_compiled(w, out);
  tell_output(w, a, out);
  tell_guards(w, a, out);
  tell_slice(w, a, out);
  tell_function(w, a, out);
  if (a->self.ef || a->self.ep)
    tell_twins(w, out);
  tell_nearest(w, a, out);
  tell_deaths(w, a, out);
  tell_change(w, out);
}
