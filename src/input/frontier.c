// The runs of a search, and the tests that could be made next: see frontier.h.
#include "input/frontier.h"

#include "expr/expr.h"
#include "util/str.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "expr/support.h"
#include "input/frontier_internal.h"
#include "input/made.h"
#include "util/mem.h"

enum {
  CASES_MAX = 64,    // of one switch that are tried
  CUTS = 4,          // sizes of the input that are tried where it is read
  VAIN_MAX = 30,     // candidates of a site without input: it counts as known
  UNKNOWN_COSTS = 8, // of those: one that the solver has spent seconds on
  SAME_MAX = 6,      // other inputs for one whole path
  FLIPS_MAX = 20000, // of one path; a longer one is thinned out
  ALONE_MAX = 6      // inputs of a site that were solved without their paths
};

// So few conflicts that, unless the machine is very busy, they and not the time
// end a query: then the same run makes the same tests again.
static const SolverLimits usual_limits = {.seconds = 2, .conflicts = 5000};

void frontier_init(Frontier *f, const Program *program,
                   const Strategy *strategy) {
  *f = (Frontier){
      .program = program, .strategy = strategy, .limits = usual_limits};
}

static void explored_release(Explored *e) {
  solver_free(e->solver);
  expr_pool_free(e->pool);
  path_release(&e->path);
  inputs_release(&e->inputs);
  bitset_release(&e->names);
  free(e->steps);
}

static void forget(FlipCandidate *c) {
  if (c->model)
    model_release(c->model);
  free(c->model);
  c->model = NULL;
}

void frontier_release(Frontier *f) {
  for (size_t i = 0; i < f->runs.len; i++)
    explored_release(&f->runs.items[i]);
  for (size_t i = 0; i < f->candidates.len; i++)
    forget(&f->candidates.items[i]);
  array_release(&f->runs);
  array_release(&f->candidates);
  bitset_release(&f->covered);
  hashmap_release(&f->paths);
  hashmap_release(&f->whole);
  hashmap_release(&f->inputs);
  hashmap_release(&f->suspects);
  hashmap_release(&f->site_of);
  array_release(&f->sites);
  site_queue_release(&f->queue);
  bitset_release(&f->gone);
  hashmap_release(&f->features);
  hashmap_release(&f->alike);
  array_release(&f->edge_runs);
  array_release(&f->corpus);
  hashmap_release(&f->value_list);
  array_release(&f->values);
}

// --- steps ------------------------------------------------------------------

// Branches have numbers of their own; other conditions go by their place.
static PathStep step_of(const PathEvent *e) {
  if (e->branch != IR_NONE)
    return (PathStep){e->branch, e->edge};
  return (PathStep){0x80000000u | e->place, e->outcome};
}

static PathStep flipped(const Frontier *f, const FlipCandidate *c) {
  if (c->make >= MAKE_OTHER)
    return frontier_own_step(f, c);
  const PathEvent *e = &f->runs.items[c->run].path.events.items[c->event];
  PathStep step = step_of(e);
  step.outcome = e->branch != IR_NONE ? c->edge : !e->outcome;
  return step;
}

static void make_steps(Explored *run) {
  run->nsteps = run->path.events.len;
  run->steps = mem_array(PathStep, run->nsteps);
  for (size_t i = 0; i < run->nsteps; i++)
    run->steps[i] = step_of(&run->path.events.items[i]);
}

static bool is_name_variable(const Explored *run, VarId var) {
  for (size_t i = 0; i < run->path.first_var.len; i++) {
    const InputSource *s = &run->inputs.sources.items[i];
    VarId first = run->path.first_var.items[i];
    if (inputs_named(&run->inputs, s) && var >= first &&
        var <= first + s->size + INPUT_SLACK)
      return true;
  }
  return false;
}

static bool has_name(const Inputs *in) {
  for (size_t i = 0; i < in->sources.len; i++)
    if (inputs_named(in, &in->sources.items[i]))
      return true;
  return false;
}

static void note_names(Explored *run) {
  VarList vars = {0};
  for (size_t i = 0; has_name(&run->inputs) && i < run->nsteps; i++) {
    vars.len = 0;
    support_members(run->pool,
                    expr_support(run->pool, run->path.events.items[i].cond),
                    &vars);
    bool all = vars.len > 0;
    for (size_t k = 0; all && k < vars.len; k++)
      all = is_name_variable(run, vars.items[k]);
    if (all)
      bitset_add(&run->names, (uint32_t)i);
  }
  array_release(&vars);
}

void explored_prepare(Explored *run) {
  make_steps(run);
  note_names(run);
}

static uint64_t hash_step(uint64_t hash, PathStep step) {
  return XXH3_64bits_withSeed(&step, sizeof step, hash);
}

// --- sites ------------------------------------------------------------------

static uint32_t site_of(Frontier *f, PathStep step) {
  uint64_t fresh = f->sites.len;
  uint64_t at = hashmap_intern(&f->site_of, &step, sizeof step, fresh);
  if (at == fresh)
    array_push(&f->sites, (FlipSite){.step = step, .place = IR_NONE});
  return (uint32_t)at;
}

static void note_sites(Frontier *f, const Explored *run) {
  for (size_t i = 0; i < run->nsteps; i++) {
    uint32_t site = site_of(f, run->steps[i]);
    f->sites.items[site].taken = true;
  }
}

static uint32_t site_of_candidate(Frontier *f, const FlipCandidate *c) {
  uint32_t site = site_of(f, flipped(f, c));
  if (c->make == MAKE_SAME || c->make == MAKE_GROW)
    return site;
  f->sites.items[site].place =
      f->runs.items[c->run].path.events.items[c->event].place;
  return site;
}

bool frontier_is_new(const Frontier *f, const FlipCandidate *c) {
  const FlipSite *site = &f->sites.items[c->site];
  if (c->make > MAKE_CUT || site->vain > VAIN_MAX)
    return false;
  const PathEvent *e = &f->runs.items[c->run].path.events.items[c->event];
  if (e->branch == IR_NONE)
    return !site->taken;
  const IrBranch *b = &f->program->branches.items[e->branch];
  return c->edge < b->nedges &&
         !bitset_has(&f->covered, b->first_edge + c->edge);
}

// --- candidates -------------------------------------------------------------

// Conditions that only say what was made concrete lead nowhere new.
static bool can_flip(const PathEvent *e) {
  return e->kind != PATH_ADDRESS && !e->violated;
}

static bool is_new_path(Frontier *f, uint64_t prefix, PathStep step) {
  uint64_t hash = hash_step(prefix, step), number = f->made;
  return hashmap_intern(&f->paths, &hash, sizeof hash, number) == number;
}

// The step that tells its path from others.
static PathStep last_step(const Frontier *f, const FlipCandidate *c) {
  PathStep step = flipped(f, c);
  if (c->make == MAKE_CUT)
    step.outcome = 2 + c->choice;
  return step;
}

void frontier_push(Frontier *f, FlipCandidates *out, FlipCandidate c,
                   uint64_t prefix) {
  if (c.make != MAKE_SAME && c.make != MAKE_GROW &&
      !is_new_path(f, prefix, last_step(f, &c)))
    return;
  c.number = f->made++;
  c.site = site_of_candidate(f, &c);
  array_push(out, c);
}

static void add_cases(Frontier *f, uint32_t run, uint32_t event,
                      uint64_t prefix, FlipCandidates *out) {
  const PathEvent *e = &f->runs.items[run].path.events.items[event];
  const IrBranch *b = &f->program->branches.items[e->branch];
  for (uint32_t k = 0; k < b->ncases && k < CASES_MAX; k++)
    if (k + 1 != e->edge)
      frontier_push(f, out,
                    (FlipCandidate){.make = MAKE_CASE,
                                    .run = run,
                                    .event = event,
                                    .edge = k + 1,
                                    .choice = k},
                    prefix);
}

// Where many bytes are read at once, no condition says where else the input
// could end, and the flip only makes it a byte shorter.
static void add_cuts(Frontier *f, uint32_t run, uint32_t event, uint64_t prefix,
                     FlipCandidates *out) {
  const Explored *e = &f->runs.items[run];
  const PathEvent *read = &e->path.events.items[event];
  bool more = read->kind == PATH_EOF && read->outcome;
  uint64_t size = more ? expr_value(e->pool, read->subject) : 0;
  for (uint32_t part = 0; size > 1 && part < CUTS; part++)
    frontier_push(f, out,
                  (FlipCandidate){.make = MAKE_CUT,
                                  .run = run,
                                  .event = event,
                                  .choice = (uint32_t)(size * part / CUTS)},
                  prefix);
}

// The other edge of a branch; of a switch its default, or none in particular.
static uint32_t other_edge(const PathEvent *e) {
  return e->kind == PATH_BRANCH ? !e->edge : 0;
}

static void add_flips(Frontier *f, uint32_t run, FlipCandidates *out) {
  const Explored *e = &f->runs.items[run];
  size_t n = e->path.events.len, stride = n / FLIPS_MAX + 1;
  uint64_t prefix = 0;
  for (uint32_t i = 0; i < n; i++) {
    const PathEvent *event = &e->path.events.items[i];
    if (can_flip(event) && i % stride == 0) {
      if (event->kind == PATH_SWITCH && event->subject)
        add_cases(f, run, i, prefix, out);
      add_cuts(f, run, i, prefix, out);
      if (event->kind != PATH_SWITCH || event->edge != 0)
        frontier_push(f, out,
                      (FlipCandidate){.make = MAKE_FLIP,
                                      .run = run,
                                      .event = i,
                                      .edge = other_edge(event)},
                      prefix);
    }
    if (i % stride == 0)
      frontier_make_others(f, run, i, prefix, out);
    prefix = hash_step(prefix, e->steps[i]);
  }
}

// Input bytes that the path depends on, evenly spread.
static void add_same(Frontier *f, uint32_t run, FlipCandidates *out) {
  Explored *e = &f->runs.items[run];
  Support all = SUPPORT_EMPTY;
  VarList vars = {0};
  if (!e->shows || !e->given)
    return;
  for (size_t i = 0; i < e->path.events.len; i++)
    all = support_union(e->pool, all,
                        expr_support(e->pool, e->path.events.items[i].cond));
  support_members(e->pool, all, &vars);
  size_t n = vars.len < SAME_MAX ? vars.len : SAME_MAX;
  for (uint32_t i = 0; i < n; i++)
    frontier_push(
        f, out,
        (FlipCandidate){.make = MAKE_SAME,
                        .run = run,
                        .event = i,
                        .choice = vars.items[vars.len * (i + 1) / n - 1]},
        0);
  array_release(&vars);
}

// --- the heap ---------------------------------------------------------------

static bool comes_before(const FlipCandidate *a, const FlipCandidate *b) {
  return a->score != b->score ? a->score > b->score : a->number < b->number;
}

static void sift_up(Frontier *f, size_t i) {
  FlipCandidate *h = f->candidates.items;
  for (; i && comes_before(&h[i], &h[(i - 1) / 2]); i = (i - 1) / 2) {
    FlipCandidate t = h[i];
    h[i] = h[(i - 1) / 2];
    h[(i - 1) / 2] = t;
  }
}

static void sift_down(Frontier *f, size_t i) {
  FlipCandidate *h = f->candidates.items;
  size_t n = f->candidates.len;
  for (;;) {
    size_t best = i;
    for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < n; k++)
      if (comes_before(&h[k], &h[best]))
        best = k;
    if (best == i)
      return;
    FlipCandidate t = h[i];
    h[i] = h[best];
    h[best] = t;
    i = best;
  }
}

// The best at this moment.
static size_t best_now(Frontier *f) {
  FlipCandidate *c = f->candidates.items;
  size_t best = 0;
  double score = f->strategy->now(f, &c[0]);
  for (size_t i = 1; i < f->candidates.len; i++) {
    double other = f->strategy->now(f, &c[i]);
    if (other > score || (other == score && c[i].number < c[best].number)) {
      best = i;
      score = other;
    }
  }
  return best;
}

// What candidate `best` of the list is, which is taken out.
static void take_out(Frontier *f, size_t best, FlipCandidate *out) {
  *out = f->candidates.items[best];
  f->candidates.items[best] = f->candidates.items[--f->candidates.len];
  if (!f->strategy->now)
    sift_down(f, 0);
}

static size_t best_of_list(Frontier *f) {
  if (!f->strategy->now)
    return 0;
  frontier_rescore(f);
  return best_now(f);
}

// A strategy that compares paths does not take what predicts none.
static bool is_listed(const Frontier *f, const FlipCandidate *c) {
  return !frontier_has_sites(f) ||
         (f->strategy->now && (c->make < MAKE_OTHER || c->make == MAKE_SAME));
}

static bool pop_listed(Frontier *f, FlipCandidate *out) {
  while (f->candidates.len) {
    take_out(f, best_of_list(f), out);
    if (bitset_has(&f->gone, out->number))
      continue;
    if (frontier_has_sites(f))
      bitset_add(&f->gone, out->number);
    return true;
  }
  return false;
}

bool frontier_pop(Frontier *f, FlipCandidate *out) {
  bool sites = frontier_by_site(f);
  bool got = sites ? frontier_pop_by_site(f, out) : pop_listed(f, out);
  if (!got && frontier_has_sites(f))
    got = sites ? pop_listed(f, out) : frontier_pop_by_site(f, out);
  f->taken += got;
  return got;
}

// --- adding -----------------------------------------------------------------

static void fill_solver(Explored *e, SolverLimits limits) {
  e->solver = solver_new(e->pool, limits);
  for (size_t i = 0; i < e->path.events.len; i++) {
    const PathEvent *event = &e->path.events.items[i];
    solver_add(e->solver, event->cond, event->outcome);
  }
}

void frontier_cover(Frontier *f, const Bitset *edges) {
  size_t before = bitset_count(&f->covered);
  bitset_union(&f->covered, edges);
  f->stale |= bitset_count(&f->covered) != before;
}

static void list(Frontier *f, const FlipCandidate *c) {
  if (frontier_has_sites(f))
    site_queue_add(&f->queue, c, frontier_site_score(f, c));
  if (!is_listed(f, c))
    return;
  array_push(&f->candidates, *c);
  if (!f->strategy->now)
    sift_up(f, f->candidates.len - 1);
}

static bool is_other(Frontier *f, const Explored *run, uint64_t number) {
  uint64_t hash = 0;
  for (size_t i = 0; i < run->nsteps; i++)
    hash = hash_step(hash, run->steps[i]);
  return hashmap_intern(&f->whole, &hash, sizeof hash, number) == number;
}

// A number that no run has.
bool frontier_is_other(Frontier *f, const Explored *run) {
  return is_other(f, run, (1ull << 40) + f->whole.len);
}

bool frontier_add(Frontier *f, Explored *run) {
  uint32_t number = (uint32_t)f->runs.len;
  FlipCandidates fresh = {0};
  uint64_t hash = made_hash(&run->inputs), prefix = 0;
  fill_solver(run, f->limits);
  if (getenv("DBG"))
    for (size_t i = 0; i < run->path.events.len; i++) {
      PathEvent *e = &run->path.events.items[i];
      uint32_t l;
      Str t = {0};
      const char *fl = program_place(f->program, e->place, &l);
      expr_show_outcome(run->pool, e->cond, e->outcome, 300, &t);
      fprintf(stderr, "%zu k%d o%d br%d %s:%u %.300s\n", i, e->kind, e->outcome,
              (int)e->branch, fl, l, str_text(&t));
      str_release(&t);
    }
  array_push(&f->runs, *run);
  hashmap_put(&f->inputs, &hash, sizeof hash, number);
  for (size_t i = 0; i < run->nsteps; i++) {
    prefix = hash_step(prefix, run->steps[i]);
    hashmap_intern(&f->paths, &prefix, sizeof prefix, UINT32_MAX);
  }
  note_sites(f, run);
  if (run->fresh)
    array_push(&f->corpus, number);
  frontier_note_values(f, number);
  add_flips(f, number, &fresh);
  add_same(f, number, &fresh);
  frontier_make_more(f, number, &fresh);
  f->strategy->score(f, number, fresh.items, fresh.len);
  for (size_t i = 0; i < fresh.len; i++)
    list(f, &fresh.items[i]);
  array_release(&fresh);
  return is_other(f, run, number);
}

static int by_run(const void *a, const void *b) {
  const FlipCandidate *x = a, *y = b;
  if (x->run != y->run)
    return x->run < y->run ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

// Rescores everything, or raises the scores for one failing run.
static void score_by_run(Frontier *f, const Explored *failing) {
  FlipCandidate *c = f->candidates.items;
  size_t n = f->candidates.len;
  if (n)
    qsort(c, n, sizeof *c, by_run);
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && c[end].run == c[i].run; end++)
      ;
    if (failing)
      f->strategy->raise(f, c[i].run, c + i, end - i, failing);
    else
      f->strategy->score(f, c[i].run, c + i, end - i);
  }
}

// A run whose failure was taken into account before changes nothing.
static void raise_by_new_runs(Frontier *f) {
  for (; f->raised < f->runs.len; f->raised++)
    if (f->runs.items[f->raised].shows)
      score_by_run(f, &f->runs.items[f->raised]);
}

static void score_one_by_one(Frontier *f) {
  for (size_t i = 0; i < f->candidates.len; i++) {
    FlipCandidate *c = &f->candidates.items[i];
    f->strategy->score(f, c->run, c, 1);
  }
}

void frontier_rescore(Frontier *f) {
  if (f->strategy->by_coverage && !f->stale)
    return;
  if (f->strategy->by_coverage)
    score_one_by_one(f);
  else if (f->strategy->raise)
    raise_by_new_runs(f);
  else
    score_by_run(f, NULL);
  f->stale = false;
  for (size_t i = f->candidates.len / 2; !f->strategy->now && i-- > 0;)
    sift_down(f, i);
}

// --- suspects ---------------------------------------------------------------

static char *suspect_key(const char *file, uint32_t line) {
  return mem_printf("%s:%u", file, line);
}

static bool is_suspect(const Frontier *f, uint32_t place) {
  uint32_t line;
  uint64_t ignored;
  if (place == IR_NONE)
    return false;
  const char *file = program_place(f->program, place, &line);
  char *key = suspect_key(file, line);
  bool found = hashmap_get(&f->suspects, key, strlen(key), &ignored);
  free(key);
  return found;
}

void frontier_take_suspects(Frontier *f, const Suite *suite, const Ranking *r) {
  hashmap_release(&f->suspects);
  f->suspects = (Hashmap){0};
  for (size_t i = 0; i < r->suspects.len; i++) {
    const Suspect *s = &r->suspects.items[i];
    const Entity *e = &suite->entities[s->entity];
    if (s->rank_best > 1)
      break;
    char *key = suspect_key(suite->sources[e->source].path, e->line);
    hashmap_put(&f->suspects, key, strlen(key), 1);
    free(key);
  }
  for (size_t i = 0; i < f->sites.len; i++)
    f->sites.items[i].suspect = is_suspect(f, f->sites.items[i].place);
  frontier_rescore(f);
}

// --- solving ----------------------------------------------------------------

static SolverResult solve_case(Frontier *f, Explored *e, const FlipCandidate *c,
                               size_t prefix, Model *model) {
  const PathEvent *event = &e->path.events.items[c->event];
  const IrBranch *b = &f->program->branches.items[event->branch];
  uint32_t operand = f->program->cases.items[b->first_case + c->choice];
  const IrConstant *k =
      &f->program->constants.items[operand & ~(uint32_t)IR_CONST];
  Expr want =
      expr_const_of(e->pool, expr_sort(e->pool, event->subject), k->value);
  Constraint extra = {expr_eq(e->pool, event->subject, want), true};
  return solver_query(e->solver, prefix, &extra, 1, model);
}

static SolverResult solve_cut(Explored *e, const FlipCandidate *c,
                              Model *model) {
  Expr size = e->path.events.items[c->event].subject;
  Expr want = expr_const_of(e->pool, expr_sort(e->pool, size), c->choice);
  Constraint extra = {expr_eq(e->pool, size, want), true};
  return solver_query(e->solver, c->event, &extra, 1, model);
}

static SolverResult solve_same(Explored *e, const FlipCandidate *c,
                               Model *model) {
  Expr var = expr_input(e->pool, c->choice);
  Expr old = expr_const_of(e->pool, expr_sort(e->pool, var),
                           expr_var_value(e->pool, c->choice));
  Constraint extra = {expr_eq(e->pool, var, old), false};
  return solver_query(e->solver, e->path.events.len, &extra, 1, model);
}

static SolverResult solve(Frontier *f, const FlipCandidate *c, Model *model) {
  Explored *e = &f->runs.items[c->run];
  if (!e->solver)
    return SOLVER_UNKNOWN;
  switch (c->make) {
  case MAKE_FLIP:
    return solver_flip(e->solver, c->event, model);
  case MAKE_CASE:
    return solve_case(f, e, c, c->event, model);
  case MAKE_CUT:
    return solve_cut(e, c, model);
  case MAKE_SAME:
    return solve_same(e, c, model);
  case MAKE_OTHER:
    return frontier_solve_other(f, c, model);
  case MAKE_GROW:
  case MAKE_TEXT:
  case MAKE_MUTANT:
    break;
  }
  return SOLVER_UNKNOWN;
}

// The question of a flip alone, without the conditions before it: where they
// contradict it, another way may lead there all the same (QSYM).
static SolverResult solve_alone(Frontier *f, FlipCandidate *c, Model *model) {
  Explored *e = &f->runs.items[c->run];
  FlipSite *site = &f->sites.items[c->site];
  bool new = c->make < MAKE_CUT &&frontier_is_new(f, c);
  if (!(f->parts & PART_OPTIMISTIC) || !frontier_by_site(f) || !e->solver ||
      !new || site->alone >= ALONE_MAX)
    return SOLVER_UNSAT;
  SolverResult result =
      c->make == MAKE_CASE
          ? solve_case(f, e, c, 0, model)
          : solver_query(e->solver, 0,
                         &(Constraint){e->path.events.items[c->event].cond,
                                       !e->path.events.items[c->event].outcome},
                         1, model);
  c->alone = result == SOLVER_SAT;
  site->alone += c->alone;
  return result;
}

SolverResult frontier_solve_ahead(Frontier *f, FlipCandidate *c) {
  if (c->model)
    return SOLVER_SAT;
  c->model = mem_new(Model);
  SolverResult result = solve(f, c, c->model);
  if (result != SOLVER_SAT)
    forget(c);
  return result;
}

void frontier_preview(const Frontier *f, const FlipCandidate *c, Inputs *out) {
  const Explored *e = &f->runs.items[c->run];
  path_apply(&e->path, &e->inputs, c->model, out);
}

// Of what had no input on its path. The answer stays if there is none either.
static SolverResult alone_too(Frontier *f, FlipCandidate *c,
                              SolverResult before) {
  c->model = mem_new(Model);
  if (solve_alone(f, c, c->model) == SOLVER_SAT)
    return SOLVER_SAT;
  forget(c);
  return before;
}

SolverResult frontier_solve(Frontier *f, FlipCandidate *c, Inputs *out) {
  bool direct = c->make > MAKE_SAME;
  SolverResult result = direct ? SOLVER_SAT : frontier_solve_ahead(f, c);
  if (result != SOLVER_SAT)
    result = alone_too(f, c, result);
  if (direct)
    frontier_build(f, c, out);
  else if (result == SOLVER_SAT)
    frontier_preview(f, c, out);
  forget(c);
  FlipSite *site = &f->sites.items[c->site];
  site->vain += result == SOLVER_UNKNOWN ? UNKNOWN_COSTS : result != SOLVER_SAT;
  if (result != SOLVER_SAT)
    return result;
  uint64_t hash = made_hash(out), number = c->number + (1ull << 32);
  if (hashmap_intern(&f->inputs, &hash, sizeof hash, number) == number) {
    site->tried++;
    f->solved++;
    return result;
  }
  inputs_release(out);
  site->vain++;
  return SOLVER_UNSAT;
}

bool frontier_predicts(const FlipCandidate *c) {
  return c->make <= MAKE_SAME && !c->alone;
}

static bool same_step(PathStep a, PathStep b) {
  return a.condition == b.condition && a.outcome == b.outcome;
}

// A flipped switch may go to any other case.
static bool goes_there(const Frontier *f, const FlipCandidate *c,
                       PathStep got) {
  const Explored *from = &f->runs.items[c->run];
  PathStep old = from->steps[c->event], want = flipped(f, c);
  if (c->make == MAKE_FLIP &&
      from->path.events.items[c->event].kind == PATH_SWITCH)
    return got.condition == old.condition && got.outcome != old.outcome;
  return same_step(got, want);
}

// The next branch on the path from `at` on; the end: events.len.
static size_t next_branch(const Explored *run, size_t at, bool names) {
  const Path *p = &run->path;
  while (at < p->events.len &&
         (p->events.items[at].branch == IR_NONE ||
          (!names && bitset_has(&run->names, (uint32_t)at))))
    at++;
  return at;
}

// Branches are what is predicted. How library calls, sizes and addresses are
// noted between them may differ with the input; and where a changed file's name
// is looked at, it is another one.
bool frontier_confirms(const Frontier *f, const FlipCandidate *c,
                       const Explored *run, size_t *at) {
  const Explored *from = &f->runs.items[c->run];
  bool same = c->make == MAKE_SAME;
  bool names = !same && bitset_has(&from->names, c->event);
  size_t n = same ? from->nsteps : c->event;
  size_t old = next_branch(from, 0, names);
  for (*at = next_branch(run, 0, names); old < n;
       old = next_branch(from, old + 1, names),
      *at = next_branch(run, *at + 1, names))
    if (*at >= run->nsteps || !same_step(from->steps[old], run->steps[*at]))
      return false;
  if (same || from->path.events.items[c->event].branch == IR_NONE)
    return true;
  return *at < run->nsteps && goes_there(f, c, run->steps[*at]);
}
