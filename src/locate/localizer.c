// The table of localizers: see localizer.h.
#include "locate/localizer.h"

#include <stdlib.h>
#include <string.h>

#include "locate/order.h"
#include "locate/owner.h"
#include "util/mem.h"
#include "util/str.h"

// --- a session, ready to be worked on ---------------------------------------

void workbench_init(Workbench *w, Store *store, const Suite *suite) {
  *w = (Workbench){.store = store, .suite = suite};
  for (size_t i = 0; i < suite->nentities; i++)
    w->present |= 1u << suite->entities[i].kind;
  tally_init(&w->tally, suite);
}

void workbench_release(Workbench *w) {
  tally_release(&w->tally);
  deaths_release(&w->deaths);
}

static int load_deaths(Workbench *w, EntityKind by, Err *err) {
  if (w->has_deaths && w->death_by == by)
    return 0;
  deaths_release(&w->deaths);
  w->has_deaths = true;
  w->death_by = by;
  return deaths_load(&w->deaths, w->store, w->suite, by, err);
}

int workbench_load(Workbench *w, unsigned kinds, EntityKind by, Err *err) {
  unsigned missing = kinds & ~w->loaded;
  w->loaded |= missing;
  if (missing && tally_load(&w->tally, w->store, missing, err))
    return -1;
  return load_deaths(w, by, err);
}

// --- methods ----------------------------------------------------------------

#define KIND(name) (1u << ENTITY_##name)

// Beside the formulas. The default comes first.
static const Localizer special[] = {
    {.name = "cascade",
     .doc = "op2 over tuples; ties by own score, confidence, prior (default)",
     .formula = formula_op2,
     .lexicographic = true},
};
enum { NSPECIAL = sizeof special / sizeof *special };

size_t localizer_count(void) {
  size_t n;
  formula_table(&n);
  return NSPECIAL + n;
}

// The default, then the formulas, then the others.
Localizer localizer_at(size_t i) {
  size_t n;
  const FormulaInfo *formulas = formula_table(&n);
  if (i == 0)
    return special[0];
  if (i > n)
    return special[i - n];
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

// --- a method at work -------------------------------------------------------

static const char *remedy(EntityKind kind) {
  return kind == ENTITY_RETURN
             ? "build with CULPRIT_MODE=hits+returns and run the tests again"
             : "build with culprit-cc and run the tests again";
}

static int check_evidence(const Workbench *w, const Localizer *m, Err *err) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (m->kinds & ~w->present & 1u << k)
      return err_set(err, "%s needs %ss, which session %lld does not have: %s",
                     m->name, entity_kind_name((EntityKind)k),
                     (long long)w->suite->session, remedy((EntityKind)k));
  return 0;
}

static int check_options(const Localizer *m, const LocateOptions *o, Err *err) {
  if (m->lists && !(m->lists & 1u << o->by))
    return err_set(err, "%s cannot list --by %s", m->name,
                   entity_kind_name(o->by));
  if (m->rank && o->entities)
    return err_set(err, "%s chooses what it looks at: leave out --entities",
                   m->name);
  return 0;
}

// What scores a statement unless told otherwise: all there is of it.
static unsigned default_entities(const Workbench *w, const Localizer *m,
                                 EntityKind by) {
  if (m->rank)
    return 1u << by;
  bool tuples = by == ENTITY_STATEMENT ||
                (by == ENTITY_FUNCTION && m->lexicographic);
  unsigned all = KIND(STATEMENT) | TUPLE_KINDS;
  return tuples && (w->present & all) ? all & w->present : 1u << by;
}

static SpectrumOptions spectrum_options(const Locator *l) {
  const LocateOptions *o = &l->options;
  return (SpectrumOptions){
      .formula = l->method.formula,
      .by = o->by,
      .entities = o->entities,
      .others_pass = o->others_pass,
      .confidence = o->confidence,
      .lexicographic = l->method.lexicographic,
      .deaths = &l->bench->deaths,
      .filter = o->filter,
  };
}

int locator_open(Locator *l, Workbench *w, const Localizer *method,
                 const LocateOptions *o, Err *err) {
  *l = (Locator){.bench = w, .method = *method, .options = *o};
  if (check_options(method, o, err) || check_evidence(w, method, err))
    return -1;
  if (!o->entities)
    l->options.entities = default_entities(w, method, o->by);
  SpectrumOptions options = spectrum_options(l);
  return spectrum_init(&l->spectrum, w->suite, &options, err);
}

void locator_close(Locator *l) { spectrum_release(&l->spectrum); }

static void note_counts(void *ctx, size_t run, const EntityCount *counts,
                        size_t n) {
  (void)run;
  (void)counts;
  *(bool *)ctx |= n > 0;
}

static int check_counts(const Locator *l, bool *lacking, Err *err) {
  bool any = false;
  if (store_each_counts(l->bench->store, l->bench->suite, note_counts, &any,
                        err))
    return -1;
  *lacking = !any;
  if (*lacking)
    return err_set(err,
                   "%s needs counts, which session %lld does not have: build "
                   "with CULPRIT_MODE=counts and run the tests again",
                   l->method.name, (long long)l->bench->suite->session);
  return 0;
}

int locator_load(Locator *l, bool *lacking, Err *err) {
  *lacking = false;
  if (l->method.counts && check_counts(l, lacking, err))
    return -1;
  return workbench_load(l->bench, spectrum_kinds(&l->spectrum.options),
                        l->options.by, err);
}

size_t locator_executable(const Locator *l) { return l->spectrum.nlisted; }

size_t locator_executed(const Locator *l) {
  return spectrum_executed(&l->spectrum, &l->bench->tally);
}

// --- rankings of other makers -----------------------------------------------

// Leaves out what the filter leaves out. What stays keeps its order and its
// ties.
static void drop_filtered(const Locator *l, Ranking *r) {
  const Suite *suite = l->bench->suite;
  size_t n = 0, before = 0;
  for (size_t i = 0, end; i < r->suspects.len; i = end) {
    size_t first = n;
    end = i;
    while (end < r->suspects.len &&
           r->suspects.items[end].rank == r->suspects.items[i].rank) {
      Suspect *s = &r->suspects.items[end++];
      uint32_t source = suite->entities[s->entity].source;
      if (filter_takes(&l->options.filter, suite_path(suite, source)))
        r->suspects.items[n++] = *s;
      else
        suspect_release(s);
    }
    for (size_t j = first; j < n; j++) {
      r->suspects.items[j].rank_best = (uint32_t)before + 1;
      r->suspects.items[j].rank = (uint32_t)n;
    }
    before = n;
  }
  r->suspects.len = n;
}

int locator_rank(Locator *l, size_t failure, Ranking *out, Err *err) {
  if (!l->method.rank) {
    spectrum_rank(&l->spectrum, &l->bench->tally, failure, out);
    return 0;
  }
  *out = (Ranking){.failure = failure};
  if (l->method.rank(&l->method, l->bench, &l->options, failure, out, err))
    return -1;
  if (l->options.filter.nonly || l->options.filter.nexclude)
    drop_filtered(l, out);
  return 0;
}
