// The localizers and how they are driven: see localizer.h.
#include "locate/localizer.h"

#include <stdlib.h>
#include <string.h>

#include "locate/outmap.h"
#include "locate/spectrum.h"
#include "tally/lacking.h"
#include "tally/owner.h"
#include "util/mem.h"
#include "util/str.h"

#define KIND(name) (1u << ENTITY_##name)

// --- the list ---------------------------------------------------------------

static const Localizer *const files[] = {
#define LOCALIZERS(file) file##_localizers,
#include "locate/localizers.def"
#undef LOCALIZERS
};
enum { NFILES = sizeof files / sizeof *files };

static const Localizer standard = {
    .name = METHOD_DEFAULT,
    .doc = "op2 of a line and its conditions; after a closer look also its "
           "comparisons, values, pairs and slices, weighed; ties by returns, "
           "by any evidence, the line alone, confidence, deaths",
    .formula = formula_op2,
    .cascade = true};

static const Localizer *special_at(size_t i) {
  for (size_t f = 0; f < NFILES; f++)
    for (const Localizer *m = files[f]; m->name; m++)
      if (!i--)
        return m;
  return NULL;
}

size_t localizer_count(void) {
  size_t n, special = 0;
  formula_table(&n);
  while (special_at(special))
    special++;
  return 1 + n + special;
}

// The default, then the formulas, then the others.
Localizer localizer_at(size_t i) {
  size_t n;
  const FormulaInfo *formulas = formula_table(&n);
  if (i == 0)
    return standard;
  if (i > n)
    return *special_at(i - n - 1);
  const FormulaInfo *f = &formulas[i - 1];
  return (Localizer){.name = f->name, .doc = f->doc, .formula = f->score};
}

bool localizer_find(const char *name, Localizer *out) {
  for (size_t i = 0; i < localizer_count(); i++) {
    *out = localizer_at(i);
    if (!strcmp(out->name, name))
      return true;
  }
  return false;
}

const char *method_standard(const Suite *suite) {
  return is_web_session(suite) ? METHOD_WEB : METHOD_DEFAULT;
}

bool method_others_pass(const Localizer *m, const Suite *suite,
                        OtherFailures asked) {
  bool passes = m->others_pass || (m->experiments && is_web_session(suite));
  return asked == OTHERS_PASS || (asked == OTHERS_DEFAULT && passes);
}

bool localizer_fits(const Localizer *m, const Suite *suite) {
  const char *command = suite->command ? suite->command : "";
  if (m->scope == FOR_ALL)
    return true;
  if (is_web_session(suite))
    return m->scope == FOR_PHP;
  return m->scope == FOR_C && !text_starts(command, "culprit import ");
}

void *localizer_state(const Localizer *m, SessionEvidence *s, Err *err) {
  const void *key = (const void *)(uintptr_t)m->open;
  for (size_t i = 0; i < s->states.len; i++)
    if (s->states.items[i].key == key)
      return s->states.items[i].state;
  LocalizerState new = {mem_alloc(m->state_size), key, m->close};
  if (m->open(new.state, s, err)) {
    m->close(new.state);
    free(new.state);
    return NULL;
  }
  array_push(&s->states, new);
  return new.state;
}

// --- opening ----------------------------------------------------------------

static int lacks(const OpenLocalizer *l, const char *what, const char *remedy,
                 Err *err) {
  return err_set(err, "%s needs %s, which session %lld does not have: %s",
                 l->method.name, what, (long long)l->session->suite->session,
                 remedy);
}

static int lacks_kind(const OpenLocalizer *l, EntityKind kind, Err *err) {
  char *what = mem_printf("%ss", entity_kind_name(kind));
  lacks(l, what, lacking_reason(l->session->suite, kind), err);
  free(what);
  return -1;
}

static int check_kinds(const OpenLocalizer *l, Err *err) {
  unsigned present = l->session->present;
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (l->method.all_kinds & ~present & 1u << k)
      return lacks_kind(l, (EntityKind)k, err);
  for (int k = 0; k < ENTITY_KINDS && !(l->method.any_kind & present); k++)
    if (l->method.any_kind & 1u << k)
      return lacks_kind(l, (EntityKind)k, err);
  return 0;
}

static int check_options(const Localizer *m, const LocateOptions *o, Err *err) {
  if (m->lists && !(m->lists & 1u << o->by))
    return err_set(err, "--method %s does not support --by %s", m->name,
                   entity_kind_name(o->by));
  if (m->rank && o->entities)
    return err_set(
        err, "--entities applies only to formulas; %s chooses its own entities",
        m->name);
  if (o->exit_score && strcmp(m->name, "cp"))
    return err_set(err, "--exit-score is an option of --method cp");
  return 0;
}

// --- what enters the score --------------------------------------------------

// The default method: what takes part in the maximum that is the score of a
// line, and what only breaks ties (spectrum.h says in which order, weigh.h how
// it is scored after a closer look). A session without some kind is ranked by
// the others. Formulas take the line, its conditions and returns alike, unless
// the user asks for more.
#define CASCADE_MAXIMUM                                                        \
  (KIND(STATEMENT) | KIND(CONDITION) | KIND(RELATION) | KIND(PAIR))
#define CASCADE_TIES (KIND(RETURN) | KIND(SLICE))
#define FORMULA_MAXIMUM (KIND(STATEMENT) | TUPLE_KINDS)

// What scores a statement unless the user says otherwise.
static unsigned default_entities(const OpenLocalizer *l) {
  EntityKind by = l->options.by;
  bool cascade = l->method.cascade;
  bool tuples = by == ENTITY_STATEMENT || (by == ENTITY_FUNCTION && cascade);
  unsigned all = (cascade ? CASCADE_MAXIMUM | CASCADE_TIES : FORMULA_MAXIMUM) &
                 l->session->present;
  return !l->method.rank && tuples && all ? all : 1u << by;
}

// Those of them that only break ties, if there are others.
static unsigned hints_of(const OpenLocalizer *l) {
  unsigned entities = l->options.entities;
  return l->method.cascade && entities & ~CASCADE_TIES ? entities & CASCADE_TIES
                                                       : 0;
}

static SpectrumOptions spectrum_options(const OpenLocalizer *l) {
  const LocateOptions *o = &l->options;
  return (SpectrumOptions){
      .formula = l->method.formula,
      .by = o->by,
      .entities = o->entities,
      .others_pass = o->others_pass,
      .confidence = o->confidence,
      .hints = hints_of(l),
      .weigh = l->method.cascade && o->entities & ~CLOSE_KINDS,
      .steps = l->method.cascade && !is_web_session(l->session->suite),
      .lexicographic = l->method.cascade,
      .deaths = &l->session->deaths,
      .filter = o->filter,
  };
}

int localizer_open(OpenLocalizer *l, SessionEvidence *s,
                   const Localizer *method, const LocateOptions *o, Err *err) {
  *l = (OpenLocalizer){.session = s, .method = *method, .options = *o};
  if (check_options(method, o, err) || check_kinds(l, err))
    return -1;
  if (!o->entities)
    l->options.entities = default_entities(l);
  l->options.others_pass = method_others_pass(method, s->suite, o->others);
  SpectrumOptions options = spectrum_options(l);
  l->spectrum = mem_new(Spectrum);
  return spectrum_init(l->spectrum, s->suite, &options, err);
}

void localizer_close(OpenLocalizer *l) {
  if (l->spectrum)
    spectrum_release(l->spectrum);
  free(l->spectrum);
}

static void note_counts(void *ctx, size_t run, const EntityCount *counts,
                        size_t n) {
  (void)run;
  (void)counts;
  *(bool *)ctx |= n > 0;
}

static int check_counts(const OpenLocalizer *l, bool *lacking, Err *err) {
  bool any = !l->method.counts;
  if (!any && store_each_counts(l->session->store, l->session->suite,
                                note_counts, &any, err))
    return -1;
  *lacking = !any;
  return any ? 0
             : lacks(l, "counts",
                     "build with CULPRIT_MODE=counts and run the tests again",
                     err);
}

static int open_state(OpenLocalizer *l, bool *lacking, Err *err) {
  const Localizer *m = &l->method;
  if (!m->open)
    return 0;
  l->state = localizer_state(m, l->session, err);
  if (!l->state)
    return -1;
  *lacking = m->has && !m->has(l->state);
  return *lacking ? lacks(l, m->needs, m->remedy, err) : 0;
}

int localizer_load(OpenLocalizer *l, bool *lacking, Err *err) {
  *lacking = false;
  if (check_counts(l, lacking, err) || open_state(l, lacking, err))
    return -1;
  unsigned kinds = spectrum_kinds(&l->spectrum->options) |
                   (l->method.loads & l->session->present);
  if (kinds & CLOSE_KINDS) // what is listed is shown with its own counts
    kinds |= 1u << l->options.by;
  return session_evidence_load(l->session, kinds, l->options.by, err);
}

size_t localizer_executable(const OpenLocalizer *l) {
  return l->spectrum->nlisted;
}

size_t localizer_executed(const OpenLocalizer *l) {
  return spectrum_executed(l->spectrum, &l->session->tally);
}

// --- ranking ----------------------------------------------------------------

static int rank_scores(const OpenLocalizer *l, size_t failure, Ranking *out,
                       Err *err) {
  Scoring s = {.state = l->state,
               .variant = l->method.variant,
               .session = l->session,
               .options = &l->options,
               .failure = failure};
  l->method.rank(&s);
  int rc = listing_rank(&s, out, err);
  if (!rc && l->method.explain)
    l->method.explain(&s, out);
  scoring_release(&s);
  return rc;
}

// Code of tests, or of tools, that would have come before all else.
static void note_last(const Suite *suite, Ranking *r) {
  const Suspect *s = r->suspects.items, *best = NULL;
  for (size_t i = 0; i < r->suspects.len; i++)
    if (s[i].test && s[i].ef && (!best || s[i].score > best->score))
      best = &s[i];
  if (!best || s[0].test || s[0].score > best->score)
    return;
  const Entity *e = &suite->entities[best->entity];
  bool test = suite->sources[e->source].test;
  if (suite->sources[e->source].outside) {
    ranking_note(r, "outside",
                 mem_printf("code outside of %s is ranked last; otherwise "
                            "%s:%u would be among the first",
                            suite->root, suite_path(suite, e->source),
                            e->line));
    return;
  }
  ranking_note(r, test ? "tests" : "generated",
               mem_printf("%s code is ranked last; otherwise %s:%u would be "
                          "among the first (--%s-alike)",
                          test ? "test" : "generated",
                          suite_path(suite, e->source), e->line,
                          test ? "tests" : "generated"));
}

// Of a failing page or query: the exact lines.
static int set_lines(const OpenLocalizer *l, Ranking *r, Err *err) {
  const Suite *suite = l->session->suite;
  if (!is_web_session(suite) || l->options.by != ENTITY_STATEMENT)
    return 0;
  const OutputPlaces *places = outmap_places(l->session, err);
  if (places)
    outmap_lines(places, suite, r);
  return places ? 0 : -1;
}

int localizer_rank(const OpenLocalizer *l, size_t failure, Ranking *out,
                   Err *err) {
  if (l->method.rank) {
    if (rank_scores(l, failure, out, err))
      return -1;
  } else {
    spectrum_rank(l->spectrum, &l->session->tally, failure, out);
    if (l->method.adjust)
      l->method.adjust(l, out);
  }
  note_last(l->session->suite, out);
  return set_lines(l, out, err);
}

// --- the ranking of a session as it stands -----------------------------------

int current_ranking_make(CurrentRanking *s, Store *store, int64_t session,
                         const char *method, Err *err) {
  *s = (CurrentRanking){0};
  if (store_load(store, session, &s->suite, err))
    return -1;
  session_evidence_init(&s->evidence, store, &s->suite);
  LocateOptions options = {.by = ENTITY_STATEMENT};
  if (!method)
    method = method_standard(&s->suite);
  Localizer localizer;
  bool lacking;
  Err ignored;
  s->ranked = s->suite.nfailures && localizer_find(method, &localizer) &&
              !localizer_open(&s->localizer, &s->evidence, &localizer, &options,
                              &ignored) &&
              !localizer_load(&s->localizer, &lacking, &ignored) &&
              !localizer_rank(&s->localizer, 0, &s->ranking, &ignored);
  return 0;
}

void current_ranking_release(CurrentRanking *s) {
  ranking_release(&s->ranking);
  localizer_close(&s->localizer);
  session_evidence_release(&s->evidence);
  suite_release(&s->suite);
}
