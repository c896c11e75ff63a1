// The table of localizers: see localizer.h.
#include "locate/localizer.h"

#include <stdlib.h>
#include <string.h>

#include "tally/lacking.h"
#include "tally/order.h"
#include "tally/owner.h"
#include "util/mem.h"
#include "util/str.h"

#define KIND(name) (1u << ENTITY_##name)
#define LINES (KIND(STATEMENT) | KIND(FUNCTION))

// --- a session, ready to be worked on ---------------------------------------

void workbench_init(Workbench *w, Store *store, const Suite *suite) {
  *w = (Workbench){
      .store = store, .suite = suite, .present = kinds_present(suite)};
  tally_init(&w->tally, suite);
}

void workbench_release(Workbench *w) {
  if (w->propagation)
    propagation_release(w->propagation);
  if (w->predicates)
    predicates_release(w->predicates);
  if (w->neighbours)
    neighbours_release(w->neighbours);
  if (w->permutations)
    neighbours_release(w->permutations);
  if (w->places)
    output_places_release(w->places);
  if (w->notes)
    near_notes_release(w->notes);
  if (w->cores)
    spec_notes_release(w->cores);
  free(w->cores);
  free(w->notes);
  free(w->places);
  free(w->propagation);
  free(w->predicates);
  free(w->neighbours);
  free(w->permutations);
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

int workbench_places(Workbench *w, Err *err) {
  if (w->places)
    return 0;
  w->places = mem_new(OutputPlaces);
  return output_places_load(w->places, w->store, w->suite, err);
}

int workbench_notes(Workbench *w, Err *err) {
  if (w->notes)
    return 0;
  w->notes = mem_new(NearNotes);
  return near_notes_load(w->notes, store_dir(w->store), w->suite, err);
}

int workbench_cores(Workbench *w, Err *err) {
  if (w->cores)
    return 0;
  w->cores = mem_new(SpecNotes);
  return spec_notes_load(w->cores, store_dir(w->store), w->suite, err);
}

// --- methods that are no formula --------------------------------------------

static ListOptions list_options(const LocateOptions *o) {
  return (ListOptions){.by = o->by,
                       .others_pass = o->others_pass,
                       .confidence = o->confidence,
                       .filter = o->filter,
                       .explain = o->explain};
}

// A failed load releases nothing: the workbench does.
static int load_propagation(Workbench *w, Err *err) {
  if (w->propagation)
    return 0;
  w->propagation = mem_new(Propagation);
  return propagation_load(w->propagation, w->store, w->suite, err);
}

static int load_predicates(Workbench *w, Err *err) {
  if (w->predicates)
    return 0;
  w->predicates = mem_new(Predicates);
  return predicates_load(w->predicates, w->store, w->suite, err);
}

static int load_neighbours(Workbench *w, Err *err) {
  if (w->neighbours || w->permutations)
    return 0;
  w->neighbours = mem_new(Neighbours);
  return neighbours_load(w->neighbours, w->store, w->suite, false, err);
}

static int load_permutations(Workbench *w, Err *err) {
  if (w->permutations)
    return 0;
  w->permutations = mem_new(Neighbours);
  return neighbours_load(w->permutations, w->store, w->suite, true, err);
}

static int load_notes(Workbench *w, Err *err) {
  if (workbench_load(w, KIND(STATEMENT), ENTITY_STATEMENT, err))
    return -1;
  return workbench_notes(w, err);
}

static int load_cores(Workbench *w, Err *err) {
  if (workbench_load(w, KIND(STATEMENT), ENTITY_STATEMENT, err))
    return -1;
  return workbench_cores(w, err);
}

static int load_places(Workbench *w, Err *err) {
  unsigned kinds = KIND(STATEMENT) | (KIND(CONDITION) & w->present);
  if (workbench_load(w, kinds, ENTITY_STATEMENT, err))
    return -1;
  return workbench_places(w, err);
}

static int rank_cp(const Workbench *w, const LocateOptions *o, size_t failure,
                   Ranking *out, Err *err) {
  CpOptions options = {list_options(o), o->exit_score};
  return cp_rank(w->propagation, failure, &options, out, err);
}

static int rank_branch(const Workbench *w, const LocateOptions *o,
                       size_t failure, Ranking *out, Err *err) {
  BranchOptions options = {.list = list_options(o)};
  return branch_rank(w->propagation, failure, &options, out, err);
}

static int rank_cbi(const Workbench *w, const LocateOptions *o, size_t failure,
                    Ranking *out, Err *err) {
  PredicateOptions options = {.list = list_options(o)};
  return cbi_rank(w->predicates, failure, &options, out, err);
}

static int rank_sober(const Workbench *w, const LocateOptions *o,
                      size_t failure, Ranking *out, Err *err) {
  PredicateOptions options = {.list = list_options(o)};
  return sober_rank(w->predicates, failure, &options, out, err);
}

static int rank_neighbour(const Workbench *w, NeighbourMethod method,
                          const LocateOptions *o, size_t failure, Ranking *out,
                          Err *err) {
  ListOptions options = list_options(o);
  const Neighbours *n = w->permutations ? w->permutations : w->neighbours;
  return neighbour_rank(n, method, failure, &options, out, err);
}

static int rank_union(const Workbench *w, const LocateOptions *o,
                      size_t failure, Ranking *out, Err *err) {
  return rank_neighbour(w, REPORT_UNION, o, failure, out, err);
}

static int rank_intersection(const Workbench *w, const LocateOptions *o,
                             size_t failure, Ranking *out, Err *err) {
  return rank_neighbour(w, REPORT_INTERSECTION, o, failure, out, err);
}

static int rank_nn(const Workbench *w, const LocateOptions *o, size_t failure,
                   Ranking *out, Err *err) {
  return rank_neighbour(w, NEAREST_BINARY, o, failure, out, err);
}

static int rank_nn_perm(const Workbench *w, const LocateOptions *o,
                        size_t failure, Ranking *out, Err *err) {
  return rank_neighbour(w, NEAREST_PERMUTATION, o, failure, out, err);
}

static int rank_near(const Workbench *w, const LocateOptions *o, size_t failure,
                     Ranking *out, Err *err) {
  ListOptions options = list_options(o);
  return near_notes_rank(w->notes, &w->tally, failure, &options, out, err);
}

static int rank_spec(const Workbench *w, const LocateOptions *o, size_t failure,
                     Ranking *out, Err *err) {
  ListOptions options = list_options(o);
  return spec_notes_rank(w->cores, &w->tally, failure, &options, out, err);
}

static int rank_apollo(const Workbench *w, Apollo technique,
                       const LocateOptions *o, size_t failure, Ranking *out,
                       Err *err) {
  ListOptions options = list_options(o);
  if (technique == APOLLO_T_O || technique == APOLLO_TC_O)
    options.deaths = &w->deaths;
  return apollo_rank(w->places, &w->tally, technique, failure, &options, out,
                     err);
}

static int rank_apollo_t(const Workbench *w, const LocateOptions *o,
                         size_t failure, Ranking *out, Err *err) {
  return rank_apollo(w, APOLLO_T, o, failure, out, err);
}

static int rank_apollo_o(const Workbench *w, const LocateOptions *o,
                         size_t failure, Ranking *out, Err *err) {
  return rank_apollo(w, APOLLO_O, o, failure, out, err);
}

static int rank_apollo_t_o(const Workbench *w, const LocateOptions *o,
                           size_t failure, Ranking *out, Err *err) {
  return rank_apollo(w, APOLLO_T_O, o, failure, out, err);
}

static int rank_apollo_tc(const Workbench *w, const LocateOptions *o,
                          size_t failure, Ranking *out, Err *err) {
  return rank_apollo(w, APOLLO_TC, o, failure, out, err);
}

static int rank_apollo_tc_o(const Workbench *w, const LocateOptions *o,
                            size_t failure, Ranking *out, Err *err) {
  return rank_apollo(w, APOLLO_TC_O, o, failure, out, err);
}

static int rank_apollo_tc_or_o(const Workbench *w, const LocateOptions *o,
                               size_t failure, Ranking *out, Err *err) {
  return rank_apollo(w, APOLLO_TC_OR_O, o, failure, out, err);
}

// --- the table --------------------------------------------------------------

// Beside the formulas. The default comes first.
static const Localizer special[] = {
    {.name = METHOD_DEFAULT,
     .doc = "op2 of a line and its conditions; ties by its returns, the line "
            "alone, confidence, deaths",
     .formula = formula_op2,
     .cascade = true},
    {.name = "cascade+o",
     .scope = FOR_PHP,
     .doc = "cascade; first the lines that wrote what the oracle blames",
     .all_kinds = KIND(STATEMENT),
     .formula = formula_op2,
     .cascade = true,
     .raise = true},
    {.name = "branch",
     .doc = "ochiai of the best edge into or out of the line's blocks",
     .all_kinds = KIND(STATEMENT) | KIND(EDGE),
     .load = load_propagation,
     .rank = rank_branch,
     .lists = LINES},
    {.name = "cp",
     .doc = "edge scores propagated back over the control flow (--exit-score)",
     .all_kinds = KIND(BLOCK) | KIND(EDGE),
     .load = load_propagation,
     .rank = rank_cp,
     .lists = LINES | KIND(BLOCK) | KIND(EDGE)},
    {.name = "cbi",
     .doc = "importance of the line's best predicate (Liblit 2005)",
     .all_kinds = KIND(STATEMENT),
     .any_kind = TUPLE_KINDS,
     .load = load_predicates,
     .rank = rank_cbi,
     .lists = LINES},
    {.name = "sober",
     .doc = "how far its predicates' bias in failing runs is off (Liu 2005)",
     .all_kinds = KIND(STATEMENT),
     .any_kind = TUPLE_KINDS,
     .counts = true,
     .load = load_predicates,
     .rank = rank_sober,
     .lists = LINES},
    {.name = "set-union",
     .doc = "executed by a failing run and by no passing run",
     .all_kinds = KIND(STATEMENT),
     .load = load_neighbours,
     .rank = rank_union,
     .lists = LINES},
    {.name = "set-intersection",
     .doc = "executed by every passing run, but not by a failing run",
     .all_kinds = KIND(STATEMENT),
     .load = load_neighbours,
     .rank = rank_intersection,
     .lists = LINES},
    {.name = "nn",
     .doc = "executed by a failing run, but not by the nearest passing one",
     .all_kinds = KIND(STATEMENT),
     .load = load_neighbours,
     .rank = rank_nn,
     .lists = LINES},
    {.name = "nn-perm",
     .doc = "the same; near is what was seen equally often",
     .all_kinds = KIND(STATEMENT),
     .counts = true,
     .load = load_permutations,
     .rank = rank_nn_perm,
     .lists = LINES},
    {.name = "near",
     .scope = FOR_C,
     .doc = "branches at which the nearest passing run parts (culprit near)",
     .all_kinds = KIND(STATEMENT),
     .notes = true,
     .load = load_notes,
     .rank = rank_near,
     .lists = LINES},
    {.name = METHOD_SPEC,
     .scope = FOR_C,
     .doc = "the core of a broken contract, and made tests (culprit spec)",
     .all_kinds = KIND(STATEMENT),
     .cores = true,
     .load = load_cores,
     .rank = rank_spec,
     .lists = LINES},
    {.name = "apollo-t",
     .scope = FOR_PHP,
     .doc = "Tarantula of the line (Artzi 2010)",
     .all_kinds = KIND(STATEMENT),
     .load = load_places,
     .rank = rank_apollo_t,
     .lists = LINES},
    {.name = "apollo-o",
     .scope = FOR_PHP,
     .doc = "lines that wrote what the oracle blames in the output",
     .all_kinds = KIND(STATEMENT),
     .load = load_places,
     .output = true,
     .rank = rank_apollo_o,
     .lists = LINES},
    {.name = "apollo-t+o",
     .scope = FOR_PHP,
     .doc = "apollo-t, raised to 1.1 where apollo-o agrees",
     .all_kinds = KIND(STATEMENT),
     .load = load_places,
     .rank = rank_apollo_t_o,
     .lists = LINES},
    {.name = "apollo-tc",
     .scope = FOR_PHP,
     .doc = "apollo-t over the line and the outcomes of its conditions",
     .all_kinds = KIND(STATEMENT),
     .load = load_places,
     .rank = rank_apollo_tc,
     .lists = LINES},
    {.name = "apollo-tc+o",
     .scope = FOR_PHP,
     .doc = "apollo-tc, raised to 1.1 where apollo-o agrees",
     .all_kinds = KIND(STATEMENT),
     .load = load_places,
     .rank = rank_apollo_tc_o,
     .lists = LINES},
    {.name = "apollo-tcoro",
     .scope = FOR_PHP,
     .doc = "apollo-o where the oracle names places, else apollo-tc",
     .all_kinds = KIND(STATEMENT),
     .load = load_places,
     .rank = rank_apollo_tc_or_o,
     .lists = LINES},
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

bool localizer_fits(const Localizer *m, const Suite *suite) {
  const char *command = suite->command ? suite->command : "";
  if (m->scope == FOR_ALL)
    return true;
  if (text_starts(command, "culprit web "))
    return m->scope == FOR_PHP;
  return m->scope == FOR_C && !text_starts(command, "culprit import ");
}

// --- a method at work -------------------------------------------------------

static int lacks(const Workbench *w, const Localizer *m, EntityKind kind,
                 Err *err) {
  return err_set(err, "%s needs %ss, which session %lld does not have: %s",
                 m->name, entity_kind_name(kind), (long long)w->suite->session,
                 lacking_reason(w->suite, kind));
}

static int check_evidence(const Workbench *w, const Localizer *m, Err *err) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (m->all_kinds & ~w->present & 1u << k)
      return lacks(w, m, (EntityKind)k, err);
  for (int k = 0; k < ENTITY_KINDS && !(m->any_kind & w->present); k++)
    if (m->any_kind & 1u << k)
      return lacks(w, m, (EntityKind)k, err);
  return 0;
}

static int check_options(const Localizer *m, const LocateOptions *o, Err *err) {
  if (m->lists && !(m->lists & 1u << o->by))
    return err_set(err, "--method %s has no --by %s", m->name,
                   entity_kind_name(o->by));
  if (m->rank && o->entities)
    return err_set(err, "--entities is for formulas: %s knows what to look at",
                   m->name);
  if (o->exit_score && m->rank != rank_cp)
    return err_set(err, "--exit-score is an option of --method cp");
  return 0;
}

// What scores a statement unless told otherwise: all there is of it.
static unsigned default_entities(const Workbench *w, const Localizer *m,
                                 EntityKind by) {
  if (m->rank)
    return 1u << by;
  bool tuples = by == ENTITY_STATEMENT || (by == ENTITY_FUNCTION && m->cascade);
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
      .hints = l->method.cascade ? o->entities & KIND(RETURN) : 0,
      .lexicographic = l->method.cascade,
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

static int check_output(const Locator *l, bool *lacking, Err *err) {
  *lacking = !l->bench->places->items.len;
  if (!*lacking)
    return 0;
  return err_set(err,
                 "%s needs a failure that names places in the output, which "
                 "session %lld does not have: `culprit web` finds them in "
                 "pages that are no good HTML",
                 l->method.name, (long long)l->bench->suite->session);
}

static int check_notes(const Locator *l, bool *lacking, Err *err) {
  *lacking = !l->bench->notes->items.len;
  if (!*lacking)
    return 0;
  return err_set(err,
                 "%s needs a passing run near a failing one, and none is "
                 "known of the program of session %lld: run `culprit near`",
                 l->method.name, (long long)l->bench->suite->session);
}

static int check_cores(const Locator *l, bool *lacking, Err *err) {
  *lacking = !l->bench->cores->items.len;
  if (!*lacking)
    return 0;
  return err_set(err,
                 "%s needs the core of a broken contract, and none is known "
                 "of the program of session %lld: run `culprit spec`",
                 l->method.name, (long long)l->bench->suite->session);
}

int locator_load(Locator *l, bool *lacking, Err *err) {
  *lacking = false;
  if (l->method.counts && check_counts(l, lacking, err))
    return -1;
  if (l->method.load && l->method.load(l->bench, err))
    return -1;
  if (l->method.raise && workbench_places(l->bench, err))
    return -1;
  if (l->method.output && check_output(l, lacking, err))
    return -1;
  if (l->method.notes && check_notes(l, lacking, err))
    return -1;
  if (l->method.cores && check_cores(l, lacking, err))
    return -1;
  return workbench_load(l->bench, spectrum_kinds(&l->spectrum.options),
                        l->options.by, err);
}

size_t locator_executable(const Locator *l) { return l->spectrum.nlisted; }

size_t locator_executed(const Locator *l) {
  return spectrum_executed(&l->spectrum, &l->bench->tally);
}

static int rank(Locator *l, size_t failure, Ranking *out, Err *err) {
  if (l->method.rank)
    return l->method.rank(l->bench, &l->options, failure, out, err);
  spectrum_rank(&l->spectrum, &l->bench->tally, failure, out);
  if (l->method.raise && l->options.by == ENTITY_STATEMENT) {
    apollo_raise(l->bench->places, l->bench->suite, out);
    spectrum_order(&l->spectrum, out);
    apollo_explain(l->bench->places, l->bench->suite, out, l->options.explain);
  }
  return 0;
}

// Code of tests that would have come before all else.
static void note_tests(const Suite *suite, Ranking *r) {
  const Suspect *s = r->suspects.items, *best = NULL;
  for (size_t i = 0; i < r->suspects.len; i++)
    if (s[i].test && s[i].ef && (!best || s[i].score > best->score))
      best = &s[i];
  if (!best || s[0].test || s[0].score > best->score)
    return;
  const Entity *e = &suite->entities[best->entity];
  ranking_note(r, "tests",
               mem_printf("code of tests comes last: %s:%u would be among the "
                          "first (--tests-alike)",
                          suite_path(suite, e->source), e->line));
}

int locator_rank(Locator *l, size_t failure, Ranking *out, Err *err) {
  int rc = rank(l, failure, out, err);
  if (!rc)
    note_tests(l->bench->suite, out);
  return rc;
}
