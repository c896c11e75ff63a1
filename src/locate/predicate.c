// Localization over predicates: see predicate.h.
#include "locate/predicate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "locate/localizer.h"
#include "model/condition.h"
#include "tally/deaths.h"
#include "tally/owner.h"
#include "util/mem.h"

#define LEAST_DEVIATION 1e-6
#define CONFIDENCE_95 1.96
#define UNOBSERVED 0.5 // the bias where nothing speaks for or against

// --- sites ------------------------------------------------------------------

static bool is_predicate(const Entity *e) {
  return e->kind == ENTITY_CONDITION || e->kind == ENTITY_RETURN;
}

static int compare(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int compare_sites(const Entity *x, const Entity *y) {
  int c = compare(x->function, y->function);
  if (!c)
    c = compare(x->to, y->to); // a function may be in several units
  if (!c)
    c = compare(x->kind, y->kind);
  if (!c)
    c = compare(x->index, y->index);
  if (!c)
    c = compare(x->source, y->source);
  return c ? c : compare(x->line, y->line);
}

static int by_site(const void *a, const void *b, void *ctx) {
  const Suite *suite = ctx;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  int c = compare_sites(&suite->entities[i], &suite->entities[j]);
  return c ? c : compare(i, j);
}

static void find_sites(Predicates *p) {
  const Suite *suite = p->suite;
  p->members = mem_array(uint32_t, suite->nentities);
  p->site = mem_array(uint32_t, suite->nentities);
  p->first = mem_array(uint32_t, suite->nentities);
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (is_predicate(&suite->entities[i]))
      p->members[p->nmembers++] = i;
  qsort_r(p->members, p->nmembers, sizeof *p->members, by_site, (void *)suite);
  for (uint32_t i = 0; i < p->nmembers; i++) {
    uint32_t e = p->members[i], before = i ? p->members[i - 1] : e;
    bool same =
        i && !compare_sites(&suite->entities[e], &suite->entities[before]);
    p->site[e] = same ? p->site[before] : e;
    p->first[e] = same ? p->first[before] : i;
  }
}

// The end of the site that starts at members[first].
static uint32_t site_end(const Predicates *p, uint32_t first) {
  uint32_t end = first;
  while (end < p->nmembers && p->first[p->members[end]] == first)
    end++;
  return end;
}

// --- runs -------------------------------------------------------------------

void predicates_init(Predicates *p, const Suite *suite) {
  *p = (Predicates){.suite = suite};
  p->owner = owners_find(suite, ENTITY_STATEMENT, TUPLE_KINDS);
  find_sites(p);
  tally_init(&p->tally, suite);
  tally_init(&p->sites, suite);
  p->observed = mem_array(uint32_t, suite->nentities);
  p->sum = mem_array(double, suite->nentities);
  p->squares = mem_array(double, suite->nentities);
  p->count = mem_array(uint64_t, suite->nentities);
  p->biases = mem_array(BiasList, suite->nruns);
  p->by_hits = mem_array(bool, suite->nruns);
}

void predicates_release(void *state) {
  Predicates *p = state;
  free(p->owner);
  free(p->site);
  free(p->members);
  free(p->first);
  tally_release(&p->tally);
  tally_release(&p->sites);
  free(p->observed);
  free(p->sum);
  free(p->squares);
  free(p->count);
  for (size_t i = 0; p->suite && i < p->suite->nruns; i++)
    array_release(&p->biases[i]);
  free(p->biases);
  free(p->by_hits);
  *p = (Predicates){0};
}

// The run that is being added.
typedef struct {
  Predicates *p;
  size_t run;
  const Spectra *spectra;
} Adding;

static bool was_true(const Adding *a, uint32_t predicate) {
  EntityKind kind = a->p->suite->entities[predicate].kind;
  return bitset_has(&a->spectra->hits[kind], predicate);
}

// Two classes that no value is in at once.
static bool exclude(uint32_t a, uint32_t b) {
  static const unsigned char pairs[][2] = {
      {RETURN_NULL, RETURN_NON_NULL},
      {RETURN_ZERO, RETURN_NON_ZERO},
      {RETURN_ZERO, RETURN_NEGATIVE},
      {RETURN_NAN, RETURN_ZERO},
      {RETURN_NAN, RETURN_NON_ZERO},
      {RETURN_NAN, RETURN_NEGATIVE},
      {RETURN_TRUE, RETURN_FALSE},
      {RETURN_EMPTY, RETURN_NON_EMPTY},
      {RETURN_CONSTANT, RETURN_NON_CONSTANT},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if ((pairs[i][0] == a && pairs[i][1] == b) ||
        (pairs[i][0] == b && pairs[i][1] == a))
      return true;
  return false;
}

static bool contradicts(const Entity *a, const Entity *b) {
  return a->kind == ENTITY_CONDITION ? a != b : exclude(a->from, b->from);
}

static double bias_by_hits(const Adding *a, uint32_t predicate, uint32_t first,
                           uint32_t end) {
  const Predicates *p = a->p;
  const Entity *e = &p->suite->entities[predicate];
  bool seen_false = false;
  for (uint32_t i = first; i < end && !seen_false; i++)
    seen_false = was_true(a, p->members[i]) &&
                 contradicts(e, &p->suite->entities[p->members[i]]);
  if (!was_true(a, predicate))
    return 0; // the site was observed: something else was true there
  return seen_false ? 0.5 : 1;
}

// How often a site was evaluated. Every value is in one class of a group: of
// the groups that are told apart here the largest sum is the number of calls.
static double evaluations(const Adding *a, uint32_t first, uint32_t end) {
  enum { GROUPS = 4 };
  static const unsigned char group_of[RETURN_CLASSES] = {
      [RETURN_NULL] = 1,     [RETURN_NON_NULL] = 1, [RETURN_ZERO] = 2,
      [RETURN_NON_ZERO] = 2, [RETURN_NAN] = 2,      [RETURN_TRUE] = 3,
      [RETURN_FALSE] = 3,    [RETURN_EMPTY] = 4,    [RETURN_NON_EMPTY] = 4,
  };
  double sums[GROUPS + 1] = {0}, most = 0;
  for (uint32_t i = first; i < end; i++) {
    const Entity *e = &a->p->suite->entities[a->p->members[i]];
    double count = (double)a->p->count[a->p->members[i]];
    bool class = e->kind == ENTITY_RETURN && e->from < RETURN_CLASSES;
    unsigned group = e->kind == ENTITY_CONDITION ? 1
                     : class                     ? group_of[e->from]
                                                 : 0;
    sums[group] += group ? count : 0;
    most = fmax(most, fmax(count, sums[group]));
  }
  return most;
}

static bool has_counts(const Entity *e) {
  return e->kind == ENTITY_CONDITION || e->from < RETURN_CONSTANT;
}

static void add_bias(const Adding *a, uint32_t predicate, double bias) {
  Predicates *p = a->p;
  Verdict verdict = p->suite->runs[a->run].verdict;
  if (verdict == VERDICT_FAIL)
    array_push(&p->biases[a->run], (Bias){predicate, bias});
  if (verdict != VERDICT_PASS)
    return;
  p->observed[predicate]++;
  p->sum[predicate] += bias;
  p->squares[predicate] += bias * bias;
}

static void add_site(const Adding *a, uint32_t first) {
  Predicates *p = a->p;
  uint32_t end = site_end(p, first);
  double n = evaluations(a, first, end);
  for (uint32_t i = first; i < end; i++) {
    uint32_t e = p->members[i];
    bool counted = has_counts(&p->suite->entities[e]);
    if (n > 0 && counted) {
      add_bias(a, e, (double)p->count[e] / n);
    } else {
      add_bias(a, e, bias_by_hits(a, e, first, end));
      p->by_hits[a->run] |= counted;
    }
  }
}

static void observe(const Adding *a, const Bitset *hits, Bitset *sites) {
  Predicates *p = a->p;
  for (uint32_t e = 0; bitset_next(hits, &e); e++) {
    if (bitset_has(sites, p->site[e]))
      continue;
    bitset_add(sites, p->site[e]);
    add_site(a, p->first[e]);
  }
}

void predicates_add_run(void *state, size_t run, const Spectra *spectra) {
  Predicates *p = state;
  Adding a = {p, run, spectra};
  Bitset sites = {0};
  for (size_t i = 0; i < spectra->ncounts; i++)
    p->count[spectra->counts[i].entity] = spectra->counts[i].count;
  observe(&a, &spectra->hits[ENTITY_CONDITION], &sites);
  observe(&a, &spectra->hits[ENTITY_RETURN], &sites);
  for (size_t i = 0; i < spectra->ncounts; i++)
    p->count[spectra->counts[i].entity] = 0;
  tally_add(&p->tally, run, &spectra->hits[ENTITY_STATEMENT]);
  tally_add(&p->tally, run, &spectra->hits[ENTITY_CONDITION]);
  tally_add(&p->tally, run, &spectra->hits[ENTITY_RETURN]);
  tally_add(&p->sites, run, &sites);
  bitset_release(&sites);
}

// --- what both have in common -----------------------------------------------

static void describe(const Entity *e, Str *out) {
  if (e->kind == ENTITY_RETURN)
    str_addf(out, "%s returns %s", e->name ? e->name : "the call",
             e->from < RETURN_CLASSES ? return_class_name((ReturnClass)e->from)
                                      : "another class");
  else
    condition_add(e, (Which){0}, out);
}

// Statements take the best of their predicates; of equally good ones one that
// is true more often where it fails (`more`, per entity; NULL: not known).
static void offer_predicates(Scoring *s, const bool *more) {
  const Predicates *p = s->state;
  for (int first = 1; first >= 0; first--)
    for (uint32_t i = 0; i < p->nmembers; i++) {
      uint32_t e = p->members[i];
      if (p->owner[e] != ENTITY_NONE && !isnan(s->scores.score[e]) &&
          (!more || more[e] == first))
        scores_offer(&s->scores, p->owner[e], s->scores.score[e], e);
    }
}

// The predicate a suspect owes its score to, or ENTITY_NONE.
static uint32_t predicate_of(const Scoring *from, const Suspect *s) {
  const Entity *entities = from->suite->entities;
  uint32_t e = s->carried ? s->carrier : s->entity;
  if (entities[e].kind == ENTITY_STATEMENT)
    e = from->scores.carrier[e];
  return e != ENTITY_NONE && is_predicate(&entities[e]) ? e : ENTITY_NONE;
}

// --- CBI --------------------------------------------------------------------

static double share(double part, double rest) {
  return part + rest > 0 ? part / (part + rest) : 0;
}

// Of the mean of n values that are 0 or 1.
static double variance(double part, double rest) {
  double n = part + rest, x = share(part, rest);
  return n > 0 ? x * (1 - x) / n : 0;
}

double cbi_increase(PredicateCounts c) {
  return share(c.f, c.s) - share(c.f_observed, c.s_observed);
}

double cbi_importance(PredicateCounts c) {
  double increase = cbi_increase(c);
  double error =
      sqrt(variance(c.f, c.s) + variance(c.f_observed, c.s_observed));
  if (!c.f || increase - CONFIDENCE_95 * error <= 0)
    return 0;
  double sensitivity = c.failing > 1 ? log(c.f) / log(c.failing) : 1;
  if (sensitivity <= 0)
    return 0;
  return 2 / (1 / increase + 1 / sensitivity);
}

static PredicateCounts predicate_counts(const Scoring *s, uint32_t e) {
  const Predicates *p = s->state;
  uint32_t site = p->site[e];
  return (PredicateCounts){s->runs.ef[e], s->runs.ep[e], s->more.ef[site],
                           s->more.ep[site], s->runs.failing};
}

static void explain_importance(const Scoring *from, uint32_t e, Suspect *s) {
  PredicateCounts c = predicate_counts(from, e);
  Str text = {0};
  str_add(&text, "when ");
  describe(&from->suite->entities[e], &text);
  str_addf(&text,
           ": %u of %u failing, %u of %u passing runs that come there; "
           "increase %.3g, importance %.3g",
           c.f, c.f_observed, c.s, c.s_observed, cbi_increase(c),
           cbi_importance(c));
  suspect_explain(s, "predicate", str_take(&text));
}

static void rank_cbi(Scoring *s) {
  const Predicates *p = s->state;
  scoring_begin(s, &p->tally);
  scoring_clear(s);
  comparison_init(&s->more, &p->sites, s->failure, s->options->others_pass);
  for (uint32_t i = 0; i < p->nmembers; i++)
    s->scores.score[p->members[i]] =
        cbi_importance(predicate_counts(s, p->members[i]));
  offer_predicates(s, NULL);
}

static void explain_cbi(const Scoring *s, Ranking *r) {
  for (size_t i = 0; i < r->suspects.len && i < s->options->explain; i++) {
    uint32_t e = predicate_of(s, &r->suspects.items[i]);
    if (e != ENTITY_NONE)
      explain_importance(s, e, &r->suspects.items[i]);
  }
}

// --- SOBER ------------------------------------------------------------------

double sober_score(double x, double m, double u, double s) {
  s = fmax(s, LEAST_DEVIATION);
  double z = (x - u) / (s / sqrt(m));
  return log(s / sqrt(m)) + z * z / 2 + log(2 * M_PI) / 2;
}

// Sums over the runs of one side, per predicate.
typedef struct {
  uint32_t runs; // all of them
  uint32_t *observed;
  double *sum, *squares;
} Sample;

static void sample_init(Sample *s, size_t size, Arena *arena) {
  s->observed = arena_array(arena, uint32_t, size);
  s->sum = arena_array(arena, double, size);
  s->squares = arena_array(arena, double, size);
}

static void sample_add(Sample *s, const BiasList *biases) {
  s->runs++;
  for (size_t i = 0; i < biases->len; i++) {
    const Bias *b = &biases->items[i];
    s->observed[b->predicate]++;
    s->sum[b->predicate] += b->bias;
    s->squares[b->predicate] += b->bias * b->bias;
  }
}

static double sample_mean(const Sample *s, uint32_t e) {
  double unseen = (double)s->runs - s->observed[e];
  return (s->sum[e] + UNOBSERVED * unseen) / s->runs;
}

static double sample_deviation(const Sample *s, uint32_t e) {
  double unseen = (double)s->runs - s->observed[e], mean = sample_mean(s, e);
  double squares = s->squares[e] + UNOBSERVED * UNOBSERVED * unseen;
  return sqrt(fmax(squares / s->runs - mean * mean, 0));
}

static bool fails(const RunInfo *run) {
  return run->has_spectrum && run->verdict == VERDICT_FAIL;
}

typedef struct {
  Sample failing, passing;
  uint32_t by_hits; // compared runs without all counts
} Samples;

static Samples *make_samples(Scoring *from) {
  const Predicates *p = from->state;
  const Suite *suite = p->suite;
  size_t size = suite->nentities;
  Samples *s = arena_new(&from->arena, Samples);
  sample_init(&s->failing, size, &from->arena);
  sample_init(&s->passing, size, &from->arena);
  memcpy(s->passing.observed, p->observed, size * sizeof *p->observed);
  memcpy(s->passing.sum, p->sum, size * sizeof *p->sum);
  memcpy(s->passing.squares, p->squares, size * sizeof *p->squares);
  s->passing.runs = p->tally.npass;
  for (uint32_t run = 0; run < suite->nruns; run++) {
    bool failed = fails(&suite->runs[run]);
    bool shows = failed && run_shows(suite, from->failure, run);
    bool other =
        failed && !shows && (from->options->others_pass || from->runs.stand_in);
    if (shows)
      sample_add(&s->failing, &p->biases[run]);
    if (other)
      sample_add(&s->passing, &p->biases[run]);
    if (shows || other || suite->runs[run].verdict == VERDICT_PASS)
      s->by_hits += p->by_hits[run];
  }
  return s;
}

static void explain_bias(const Scoring *from, uint32_t e, Suspect *suspect) {
  const Samples *s = from->work;
  Str text = {0};
  describe(&from->suite->entities[e], &text);
  str_addf(&text,
           ": on average in %.3g %% of its evaluations in failing runs, in "
           "%.3g %% in passing ones (deviation %.3g)",
           100 * sample_mean(&s->failing, e), 100 * sample_mean(&s->passing, e),
           100 * sample_deviation(&s->passing, e));
  suspect_explain(suspect, "predicate", str_take(&text));
}

static void rank_sober(Scoring *s) {
  const Predicates *p = s->state;
  scoring_begin(s, &p->tally);
  const Samples *samples = s->work = make_samples(s);
  bool *more = arena_array(&s->arena, bool, s->suite->nentities);
  if (!s->runs.failing || !s->runs.passing)
    return;
  for (uint32_t i = 0; i < p->nmembers; i++) {
    uint32_t e = p->members[i];
    double x = sample_mean(&samples->failing, e);
    double u = sample_mean(&samples->passing, e);
    s->scores.score[e] = sober_score(x, samples->failing.runs, u,
                                     sample_deviation(&samples->passing, e));
    more[e] = x > u;
  }
  offer_predicates(s, more);
}

static void explain_sober(const Scoring *s, Ranking *r) {
  const Samples *samples = s->work;
  for (size_t i = 0; i < r->suspects.len && i < s->options->explain; i++) {
    uint32_t e = predicate_of(s, &r->suspects.items[i]);
    if (e != ENTITY_NONE)
      explain_bias(s, e, &r->suspects.items[i]);
  }
  if (samples->by_hits)
    ranking_note(
        r, "hits",
        mem_printf("%u of %u runs do not tell how often a condition was true: "
                   "only whether it was ever; CULPRIT_MODE=counts makes a "
                   "program that does",
                   samples->by_hits, r->failing + r->passing));
}

// --- the localizers ---------------------------------------------------------

static int open_predicates(void *state, SessionEvidence *s, Err *err) {
  const unsigned what = 1u << ENTITY_STATEMENT | TUPLE_KINDS | STORE_COUNTS;
  predicates_init(state, s->suite);
  return store_each_spectra(s->store, s->suite, what, predicates_add_run, state,
                            err);
}

#define PREDICATES                                                             \
  .all_kinds = 1u << ENTITY_STATEMENT, .any_kind = TUPLE_KINDS,                \
  .lists = LIST_LINES, .state_size = sizeof(Predicates),                       \
  .open = open_predicates, .close = predicates_release

const Localizer predicate_localizers[] = {
    {.name = "cbi",
     .doc = "importance of the line's best predicate (Liblit 2005)",
     PREDICATES,
     .rank = rank_cbi,
     .explain = explain_cbi},
    {.name = "sober",
     .doc = "how far its predicates' bias in failing runs is off (Liu 2005)",
     .counts = true,
     PREDICATES,
     .rank = rank_sober,
     .explain = explain_sober},
    {0}};
