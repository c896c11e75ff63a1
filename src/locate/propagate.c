// Localization over control flow: see propagate.h.
//
// The unknowns of the system are not the scores but y(k) = BR(k) / D(k), with
// D(k) the sum of d over the edges into k (1e-10 if that is 0):
//
//   D(j) * y(j) = sum over the edges j->k of d(j->k) * y(k)
//
// which is the same, but keeps the numbers between -1 and 1 where W would be a
// million: it has nothing to do with how the program is built, only with two
// edges nearly cancelling each other. An exit block has y = 1.
#include "locate/propagate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "locate/linear_system.h"
#include "locate/localizer.h"
#include "tally/deaths.h"
#include "util/mem.h"

#define NO_SUM 1e-10    // instead of a sum that is 0
#define CANCELLED 1e-12 // relative: a sum below this is 0

// --- runs -------------------------------------------------------------------

typedef struct {
  uint32_t source, line;
} LineKey;

void propagation_init(Propagation *p, const Suite *suite) {
  *p = (Propagation){.suite = suite};
  cfg_init(&p->cfg, suite);
  tally_init(&p->tally, suite);
  tally_init(&p->ends, suite);
  p->left = mem_array(uint32_t, p->cfg.nblocks);
  for (size_t i = 0; i < suite->nsources; i++)
    hashmap_put(&p->paths, suite->sources[i].path,
                strlen(suite->sources[i].path), i);
  for (size_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    LineKey key = {e->source, e->line};
    if (e->kind == ENTITY_STATEMENT)
      hashmap_put(&p->lines, &key, sizeof key, i);
  }
}

void propagation_release(void *state) {
  Propagation *p = state;
  cfg_release(&p->cfg);
  tally_release(&p->tally);
  tally_release(&p->ends);
  bitset_release(&p->lost);
  free(p->left);
  hashmap_release(&p->paths);
  hashmap_release(&p->lines);
  array_release(&p->deaths);
  *p = (Propagation){0};
}

void propagation_add_death(void *state, size_t run, const Death *death) {
  Propagation *p = state;
  uint64_t source, statement;
  DeathOf d = {(uint32_t)run, ENTITY_NONE};
  if (hashmap_get(&p->paths, death->file, strlen(death->file), &source)) {
    LineKey key = {(uint32_t)source, death->line};
    if (hashmap_get(&p->lines, &key, sizeof key, &statement))
      d.statement = (uint32_t)statement;
  }
  array_push(&p->deaths, d);
}

static bool has_successor(const Cfg *cfg, uint32_t b) {
  return cfg->first_out[b] < cfg->first_out[b + 1];
}

// The blocks this run executed without taking an edge out of them.
static Bitset find_ends(Propagation *p, size_t run, const Spectra *spectra) {
  const Cfg *cfg = &p->cfg;
  Bitset ends = {0};
  const Bitset *edges = &spectra->hits[ENTITY_EDGE];
  const Bitset *blocks = &spectra->hits[ENTITY_BLOCK];
  for (uint32_t e = 0; bitset_next(edges, &e); e++) {
    uint32_t from = p->suite->entities[e].from;
    if (from < p->suite->nentities && cfg->number[from] != ENTITY_NONE)
      p->left[cfg->number[from]] = (uint32_t)run + 1;
  }
  for (uint32_t e = 0; bitset_next(blocks, &e); e++) {
    uint32_t b = cfg->number[e];
    if (has_successor(cfg, b) && p->left[b] != run + 1)
      bitset_add(&ends, e);
  }
  return ends;
}

// The first of the statement's standings.
static size_t first_standing(const Suite *suite, uint32_t statement) {
  size_t lo = 0, hi = suite->nstandings;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (suite->standings[mid].statement < statement)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

// Adds the block the run died in to those it ended inside, unless it is there
// already. False if it cannot be told which one it is.
static bool place_death(const Suite *suite, uint32_t statement,
                        const Spectra *spectra, Bitset *ends) {
  uint32_t found = ENTITY_NONE;
  size_t n = 0;
  if (statement == ENTITY_NONE)
    return false;
  for (size_t i = first_standing(suite, statement);
       i < suite->nstandings && suite->standings[i].statement == statement;
       i++) {
    uint32_t block = suite->standings[i].block;
    if (bitset_has(ends, block))
      return true;
    if (bitset_has(&spectra->hits[ENTITY_BLOCK], block) && found != block) {
      found = block;
      n++;
    }
  }
  if (n == 1)
    bitset_add(ends, found);
  return n == 1;
}

void propagation_add_run(void *state, size_t run, const Spectra *spectra) {
  Propagation *p = state;
  const RunInfo *info = &p->suite->runs[run];
  tally_add(&p->tally, run, &spectra->hits[ENTITY_STATEMENT]);
  tally_add(&p->tally, run, &spectra->hits[ENTITY_BLOCK]);
  tally_add(&p->tally, run, &spectra->hits[ENTITY_EDGE]);
  Bitset ends = find_ends(p, run, spectra);
  bool dead = info->status < 0 || info->imprecise;
  bool placed = bitset_count(&ends) > 0, lost = false;
  for (size_t i = 0; i < p->deaths.len; i++)
    if (p->deaths.items[i].run == run) {
      placed = true;
      lost |=
          !place_death(p->suite, p->deaths.items[i].statement, spectra, &ends);
    }
  if (lost || (dead && !placed))
    bitset_add(&p->lost, (uint32_t)run);
  tally_add(&p->ends, run, &ends);
  bitset_release(&ends);
}

// --- CP ---------------------------------------------------------------------

typedef enum {
  UNSEEN, // by no compared run
  EXIT,   // of its function
  FLOW,   // its score is what flows back
  LOOP,   // in a loop without an answer
} BlockRule;

// All for one failure.
typedef struct {
  const Propagation *p;
  Scoring *s;          // scores: of edges, blocks and statements; more: ends
  unsigned char *rule; // per block number, as the following
  double *sum;         // of d over the edges into it; NO_SUM if that is 0
  double *given;       // what flows back from exit nodes and is known
  double *y;
} Cp;

// (f - p) / (f + p), without dividing twice.
static double edge_score(Counts c) {
  double f = (double)c.ef * ((double)c.ep + c.np);
  double p = (double)c.ep * ((double)c.ef + c.nf);
  return f + p > 0 ? (f - p) / (f + p) : 0;
}

static bool is_taken(const Comparison *c, uint32_t e) {
  return c->ef[e] || c->ep[e];
}

static double weight(const Cp *cp, uint32_t edge) {
  return is_taken(&cp->s->runs, edge) ? cp->s->scores.score[edge] : 0;
}

static void score_edges(Cp *cp) {
  const Suite *suite = cp->p->suite;
  for (uint32_t e = 0; e < suite->nentities; e++)
    if (suite->entities[e].kind == ENTITY_EDGE && is_taken(&cp->s->runs, e))
      cp->s->scores.score[e] = edge_score(comparison_counts(&cp->s->runs, e));
}

static double sum_into(const Cp *cp, uint32_t b) {
  const Cfg *cfg = &cp->p->cfg;
  double sum = 0, size = 0;
  for (uint32_t i = cfg->first_in[b]; i < cfg->first_in[b + 1]; i++) {
    double d = weight(cp, cfg->in[i]);
    sum += d;
    size += fabs(d);
  }
  return fabs(sum) <= CANCELLED * size ? 0 : sum;
}

// What flows back over an edge to an exit node of its own, whose only edge it
// is: all of its score, unless d is 0 and so is its share.
static double from_exit_node(const Cp *cp, Counts c) {
  double d = edge_score(c);
  if (d == 0)
    return 0;
  return cp->s->options->exit_score ? cp->s->options->exit_score(c) : d;
}

static uint32_t target(const Cfg *cfg, uint32_t edge) {
  uint32_t to = cfg->suite->entities[edge].to;
  return to < cfg->suite->nentities ? cfg->number[to] : ENTITY_NONE;
}

static bool is_exit(const Cfg *cfg, uint32_t b) {
  for (uint32_t i = cfg->first_out[b]; i < cfg->first_out[b + 1]; i++)
    if (target(cfg, cfg->out[i]) != ENTITY_NONE)
      return false;
  return true;
}

static BlockRule rule_of(const Cp *cp, uint32_t b) {
  const Cfg *cfg = &cp->p->cfg;
  bool seen = is_taken(&cp->s->runs, cfg->block[b]);
  for (uint32_t i = cfg->first_in[b]; i < cfg->first_in[b + 1] && !seen; i++)
    seen = is_taken(&cp->s->runs, cfg->in[i]);
  return !seen ? UNSEEN : is_exit(cfg, b) ? EXIT : FLOW;
}

static double given(const Cp *cp, uint32_t b) {
  const Cfg *cfg = &cp->p->cfg;
  double sum =
      from_exit_node(cp, comparison_counts(&cp->s->more, cfg->block[b]));
  for (uint32_t i = cfg->first_out[b]; i < cfg->first_out[b + 1]; i++)
    if (target(cfg, cfg->out[i]) == ENTITY_NONE)
      sum += from_exit_node(cp, comparison_counts(&cp->s->runs, cfg->out[i]));
  return sum;
}

// The score of a block as an exit block.
static double exit_score(const Cp *cp, uint32_t b) {
  if (cp->s->options->exit_score)
    return cp->s->options->exit_score(
        comparison_counts(&cp->s->runs, cp->p->cfg.block[b]));
  return cp->sum[b] == NO_SUM ? 0 : cp->sum[b];
}

static void prepare_blocks(Cp *cp) {
  uint32_t n = cp->p->cfg.nblocks;
  cp->rule = arena_array(&cp->s->arena, unsigned char, n);
  cp->sum = arena_array(&cp->s->arena, double, n);
  cp->given = arena_array(&cp->s->arena, double, n);
  cp->y = arena_array(&cp->s->arena, double, n);
  for (uint32_t b = 0; b < n; b++) {
    cp->rule[b] = (unsigned char)rule_of(cp, b);
    double sum = sum_into(cp, b);
    cp->sum[b] = sum == 0 ? NO_SUM : sum;
    cp->given[b] = given(cp, b);
  }
}

// The system as linear_system.h wants it.
typedef struct {
  uint32_t *first, *to, nedges;
  double *weight, *own, *given, *instead;
  uint32_t *at; // per block: the edge to it from the block at hand
} System;

// The edges out of block b. Those that lead to the same block are one: they may
// cancel each other, and must do so before they are blown up.
static void add_edges(System *s, const Cp *cp, uint32_t b) {
  const Cfg *cfg = &cp->p->cfg;
  for (uint32_t i = cfg->first_out[b]; i < cfg->first_out[b + 1]; i++) {
    uint32_t k = target(cfg, cfg->out[i]);
    if (k == ENTITY_NONE)
      continue;
    bool known =
        s->at[k] >= s->first[b] && s->at[k] < s->nedges && s->to[s->at[k]] == k;
    if (!known) {
      s->at[k] = s->nedges;
      s->to[s->nedges++] = k;
    }
    s->weight[s->at[k]] += weight(cp, cfg->out[i]);
  }
}

static void system_init(System *s, const Cp *cp) {
  const Cfg *cfg = &cp->p->cfg;
  uint32_t n = cfg->nblocks;
  *s = (System){0};
  Arena *arena = &cp->s->arena;
  s->first = arena_array(arena, uint32_t, (size_t)n + 1);
  s->to = arena_array(arena, uint32_t, cfg->nedges);
  s->weight = arena_array(arena, double, cfg->nedges);
  s->own = arena_array(arena, double, n);
  s->given = arena_array(arena, double, n);
  s->instead = arena_array(arena, double, n);
  s->at = arena_array(arena, uint32_t, n);
  for (uint32_t b = 0; b < n; b++) {
    bool flows = cp->rule[b] == FLOW;
    s->first[b] = s->nedges;
    if (flows)
      add_edges(s, cp, b);
    s->instead[b] = exit_score(cp, b) / cp->sum[b];
    s->own[b] = flows ? cp->sum[b] : 1;
    s->given[b] = flows ? cp->given[b] : s->instead[b];
  }
  s->first[n] = s->nedges;
}

static void solve_blocks(Cp *cp) {
  uint32_t n = cp->p->cfg.nblocks;
  System s;
  bool *solved = arena_array(&cp->s->arena, bool, n);
  system_init(&s, cp);
  graph_solve(
      &(GraphSystem){n, s.first, s.to, s.weight, s.own, s.given, s.instead},
      cp->y, solved);
  for (uint32_t b = 0; b < n; b++)
    if (!solved[b])
      cp->rule[b] = LOOP;
}

// What flows back to a block over one of its edges.
static double flows_back(const Cp *cp, uint32_t edge) {
  uint32_t k = target(&cp->p->cfg, edge);
  return k == ENTITY_NONE ? 0 : weight(cp, edge) * cp->y[k];
}

static double block_score(const Cp *cp, uint32_t b) {
  return cp->rule[b] == FLOW ? cp->sum[b] * cp->y[b] : exit_score(cp, b);
}

static void offer_block(void *ctx, uint32_t statement, uint32_t block) {
  Scores *s = ctx;
  if (!isnan(s->score[block]))
    scores_offer(s, statement, s->score[block], block);
}

static void rank_cp(Scoring *s) {
  const Propagation *p = s->state;
  Cp *cp = arena_new(&s->arena, Cp);
  *cp = (Cp){.p = p, .s = s};
  s->work = cp;
  scoring_begin(s, &p->tally);
  comparison_init(&s->more, &p->ends, s->failure, s->options->others_pass);
  score_edges(cp);
  prepare_blocks(cp);
  solve_blocks(cp);
  for (uint32_t b = 0; b < p->cfg.nblocks; b++)
    if (cp->rule[b] != UNSEEN)
      s->scores.score[p->cfg.block[b]] = block_score(cp, b);
  cfg_each_standing(&p->cfg, offer_block, &s->scores);
}

// --- why --------------------------------------------------------------------

static char *place_of(const Suite *suite, uint32_t e) {
  return mem_printf("%s:%u", suite_path(suite, suite->entities[e].source),
                    suite->entities[e].line);
}

// Equation (3) of the paper: how likely a run is to fail that takes this edge.
static double probability(const Comparison *c, uint32_t e) {
  return (double)c->ef[e] / fmax((double)c->ef[e] + c->ep[e], 1);
}

static void explain_edge(const Cp *cp, Suspect *s, uint32_t edge) {
  const Comparison *c = &cp->s->runs;
  suspect_explain(s, "edge",
                  mem_printf("edge score %.3g: %u of %u failing, %u of %u "
                             "passing runs take it, which fail with "
                             "probability %.3g",
                             cp->s->scores.score[edge], c->ef[edge], c->failing,
                             c->ep[edge], c->passing, probability(c, edge)));
}

static void explain_flow(const Cp *cp, Suspect *s, uint32_t b) {
  const Cfg *cfg = &cp->p->cfg;
  const Suite *suite = cfg->suite;
  uint32_t best = ENTITY_NONE;
  for (uint32_t i = cfg->first_out[b]; i < cfg->first_out[b + 1]; i++) {
    uint32_t e = cfg->out[i];
    if (is_taken(&cp->s->runs, e) && target(cfg, e) != ENTITY_NONE &&
        (best == ENTITY_NONE || flows_back(cp, e) > flows_back(cp, best)))
      best = e;
  }
  if (best == ENTITY_NONE || flows_back(cp, best) == 0) {
    suspect_explain(s, "propagation",
                    mem_strdup("nothing of what follows flows back to its "
                               "block"));
    return;
  }
  char *to = place_of(suite, suite->entities[best].to);
  suspect_explain(s, "propagation",
                  mem_printf("%.3g of its block's score flows back from the "
                             "block at %s",
                             flows_back(cp, best), to));
  free(to);
  explain_edge(cp, s, best);
}

static void explain_block(const Cp *cp, Suspect *s, uint32_t block) {
  uint32_t b = cp->p->cfg.number[block];
  double exit = exit_score(cp, b);
  if (cp->rule[b] == FLOW)
    explain_flow(cp, s, b);
  if (cp->rule[b] == EXIT)
    suspect_explain(s, "exit",
                    mem_printf("its block leaves the function: an exit score "
                               "of %.3g",
                               exit));
  if (cp->rule[b] == LOOP)
    suspect_explain(s, "loop",
                    mem_printf("the equations of this loop have no single "
                               "solution: its blocks are scored as exits, this "
                               "one %.3g",
                               exit));
  uint32_t ef = cp->s->more.ef[block], ep = cp->s->more.ep[block];
  if (ef || ep)
    suspect_explain(s, "end",
                    mem_printf("%u failing and %u passing run%s ended inside "
                               "this block",
                               ef, ep, plural(ep)));
}

// What the score of this suspect goes back to: a block, an edge, or nothing.
static uint32_t source_of(const Cp *cp, const Suspect *s) {
  const Suite *suite = cp->p->suite;
  uint32_t e = s->entity;
  if (suite->entities[e].kind == ENTITY_FUNCTION && s->carried)
    e = s->carrier;
  return suite->entities[e].kind == ENTITY_STATEMENT ? cp->s->scores.carrier[e]
                                                     : e;
}

static void explain_suspect(const Cp *cp, Suspect *s) {
  uint32_t e = source_of(cp, s);
  if (e == ENTITY_NONE || isnan(cp->s->scores.score[e]))
    suspect_explain(s, "block",
                    mem_strdup("it stands in no block that a "
                               "compared run executed"));
  else if (cp->p->suite->entities[e].kind == ENTITY_EDGE)
    explain_edge(cp, s, e);
  else
    explain_block(cp, s, e);
}

static void note_lost(const Cp *cp, size_t failure, Ranking *r) {
  const Propagation *p = cp->p;
  size_t lost = 0;
  for (uint32_t run = 0; bitset_next(&p->lost, &run); run++)
    lost += run_shows(p->suite, failure, run);
  if (lost)
    ranking_note(r, "end",
                 mem_printf("%zu of %u failing runs ended where it cannot be "
                            "told from what they executed: the edges they left "
                            "by are missing",
                            lost, r->failing));
}

static void note_loops(const Cp *cp, Ranking *r) {
  size_t n = 0;
  for (uint32_t b = 0; b < cp->p->cfg.nblocks; b++)
    n += cp->rule[b] == LOOP;
  if (n)
    ranking_note(r, "loop",
                 mem_printf("%zu block%s in loops whose equations have no "
                            "single solution: scored as %s",
                            n, n == 1 ? " lies" : "s lie",
                            n == 1 ? "an exit" : "exits"));
}

static void explain_cp(const Scoring *s, Ranking *r) {
  const Cp *cp = s->work;
  for (size_t i = 0; i < r->suspects.len && i < s->options->explain; i++)
    explain_suspect(cp, &r->suspects.items[i]);
  if (!r->suspects.len)
    return;
  note_lost(cp, s->failure, r);
  note_loops(cp, r);
}

// --- Branch -----------------------------------------------------------------

// Blocks and statements owe their score to an edge.
static void offer_edge(void *ctx, uint32_t statement, uint32_t block) {
  Scores *s = ctx;
  if (!isnan(s->score[block]))
    scores_offer(s, statement, s->score[block], s->carrier[block]);
}

static void rank_branch(Scoring *s) {
  const Propagation *p = s->state;
  scoring_begin(s, &p->tally);
  for (uint32_t e = 0; e < s->suite->nentities; e++) {
    const Entity *edge = &s->suite->entities[e];
    if (edge->kind != ENTITY_EDGE || !is_taken(&s->runs, e))
      continue;
    double score = formula_ochiai(comparison_counts(&s->runs, e));
    if (edge->from < s->suite->nentities)
      scores_offer(&s->scores, edge->from, score, e);
    if (edge->to < s->suite->nentities)
      scores_offer(&s->scores, edge->to, score, e);
  }
  cfg_each_standing(&p->cfg, offer_edge, &s->scores);
}

static char *end_of(const Suite *suite, uint32_t block, const char *nowhere) {
  return block < suite->nentities ? place_of(suite, block)
                                  : mem_strdup(nowhere);
}

static void explain_edge_of(const Scoring *from, Suspect *s) {
  const Suite *suite = from->suite;
  const Comparison *c = &from->runs;
  uint32_t e = s->carried ? s->carrier : ENTITY_NONE;
  if (e != ENTITY_NONE && suite->entities[e].kind == ENTITY_STATEMENT)
    e = from->scores.carrier[e]; // a function owes its score to a statement
  if (e == ENTITY_NONE)
    return;
  char *start = end_of(suite, suite->entities[e].from, "the entry");
  char *end = end_of(suite, suite->entities[e].to, "the exit");
  suspect_explain(s, "edge",
                  mem_printf("%u of %u failing, %u of %u passing runs take the "
                             "edge from %s to %s",
                             c->ef[e], c->failing, c->ep[e], c->passing, start,
                             end));
  free(start);
  free(end);
}

static void explain_branch(const Scoring *s, Ranking *r) {
  for (size_t i = 0; i < r->suspects.len && i < s->options->explain; i++)
    explain_edge_of(s, &r->suspects.items[i]);
}

// --- the localizers ---------------------------------------------------------

static int open_propagation(void *state, SessionEvidence *s, Err *err) {
  const unsigned kinds =
      1u << ENTITY_STATEMENT | 1u << ENTITY_BLOCK | 1u << ENTITY_EDGE;
  propagation_init(state, s->suite);
  if (store_each_death(s->store, s->suite, propagation_add_death, state, err))
    return -1;
  return store_each_spectra(s->store, s->suite, kinds, propagation_add_run,
                            state, err);
}

#define PROPAGATION                                                            \
  .state_size = sizeof(Propagation), .open = open_propagation,                 \
  .close = propagation_release

const Localizer propagate_localizers[] = {
    {.name = "branch",
     .doc = "ochiai of the best edge into or out of the line's blocks",
     .all_kinds = 1u << ENTITY_STATEMENT | 1u << ENTITY_EDGE,
     .lists = LIST_LINES,
     PROPAGATION,
     .rank = rank_branch,
     .explain = explain_branch},
    {.name = "cp",
     .doc = "edge scores propagated back over the control flow (--exit-score)",
     .all_kinds = 1u << ENTITY_BLOCK | 1u << ENTITY_EDGE,
     .lists = LIST_LINES | 1u << ENTITY_BLOCK | 1u << ENTITY_EDGE,
     PROPAGATION,
     .rank = rank_cp,
     .explain = explain_cp},
    {0}};
