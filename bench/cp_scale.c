// Times CP on generated control flow.
//
//   bench_cp_scale        one line per case: name, blocks, edges, seconds
//
// One function of 50,000 blocks in several shapes, and 2,700 functions with
// 52,000 blocks in total, as in sqlite. 200 runs, of which every tenth fails.
// The probability that a run takes an edge is random, and differs for failing
// runs. Only the ranking is timed: reading spectra costs the same for every
// method.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "locate/localizer.h"
#include "locate/propagate.h"
#include "util/mem.h"

enum { RUNS = 200, FAILING = 10, LARGE = 50000, FUNCTIONS = 2700 };

typedef enum {
  STRUCTURED, // ifs and small loops
  SWITCH,     // one switch over all blocks, in a loop
  NESTED,     // loops five deep
  GOTOS,      // jumps within a window, all in one loop
  SHAPES
} Shape;

typedef struct {
  Suite suite;
  ARRAY(Entity) entities;
  ARRAY(Standing) standings;
  FailureGroup failure;
  uint32_t line, function;
  uint64_t random;
} World;

// splitmix64
static uint32_t draw(World *w, uint32_t below) {
  uint64_t z = w->random += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// --- control flow -----------------------------------------------------------

// A block with one statement; returns its entity.
static uint32_t add_block(World *w, uint32_t index) {
  uint32_t statement = (uint32_t)w->entities.len;
  w->line++;
  array_push(&w->entities, (Entity){.kind = ENTITY_STATEMENT,
                                    .line = w->line,
                                    .function = w->function,
                                    .to = ENTITY_NONE});
  array_push(&w->entities, (Entity){.kind = ENTITY_BLOCK,
                                    .line = w->line,
                                    .function = w->function,
                                    .index = index});
  array_push(&w->standings, (Standing){statement, statement + 1});
  return statement + 1;
}

static void add_edge(World *w, uint32_t from, uint32_t to) {
  array_push(&w->entities, (Entity){.kind = ENTITY_EDGE,
                                    .function = w->function,
                                    .from = from,
                                    .to = to});
}

// The edges out of block i of n besides that to the next.
static void add_structured(World *w, const uint32_t *b, uint32_t i,
                           uint32_t n) {
  if (draw(w, 2)) {
    uint32_t to = i + 2 + draw(w, 5);
    add_edge(w, b[i], b[to < n ? to : n - 1]);
  }
  if (!draw(w, 6)) {
    uint32_t back = draw(w, 8);
    add_edge(w, b[i], b[back < i ? i - back : 0]);
  }
}

static void add_nested(World *w, const uint32_t *b, uint32_t i) {
  if (i % 3 == 2)
    add_edge(w, b[i], b[i - 2]);
  for (uint32_t size = 10; size <= 10000; size *= 10)
    if (i % size == size - 1)
      add_edge(w, b[i], b[i - (size - 1)]);
}

static void add_goto(World *w, const uint32_t *b, uint32_t i, uint32_t n) {
  uint32_t to = i + draw(w, 100);
  to = to > 50 ? to - 50 : 0;
  add_edge(w, b[i], b[to < n ? to : n - 1]);
}

static void add_switch(World *w, const uint32_t *b, uint32_t n) {
  add_edge(w, b[0], b[1]);
  for (uint32_t i = 2; i < n - 1; i++) {
    add_edge(w, b[1], b[i]);
    add_edge(w, b[i], b[1]);
  }
  add_edge(w, b[1], b[n - 1]);
}

static void add_chain(World *w, const uint32_t *b, uint32_t n, Shape shape) {
  for (uint32_t i = 0; i + 1 < n; i++) {
    add_edge(w, b[i], b[i + 1]);
    if (shape == STRUCTURED)
      add_structured(w, b, i, n);
    else if (shape == NESTED)
      add_nested(w, b, i);
    else
      add_goto(w, b, i, n);
  }
  if (shape != STRUCTURED)
    add_edge(w, b[n - 2], b[0]);
}

static void add_function(World *w, uint32_t n, Shape shape) {
  w->function = (uint32_t)w->entities.len;
  array_push(&w->entities, (Entity){.kind = ENTITY_FUNCTION,
                                    .line = ++w->line,
                                    .name = "f",
                                    .function = w->function});
  uint32_t *blocks = mem_array(uint32_t, n);
  for (uint32_t i = 0; i < n; i++)
    blocks[i] = add_block(w, i);
  add_edge(w, ENTITY_NONE, blocks[0]);
  if (shape == SWITCH)
    add_switch(w, blocks, n);
  else
    add_chain(w, blocks, n, shape);
  free(blocks);
}

// --- runs -------------------------------------------------------------------

static bool fails(uint32_t run) { return run % FAILING == 0; }

static void make_suite(World *w) {
  static Source source = {.path = "/made-up.c"};
  Suite *s = &w->suite;
  *s = (Suite){.cwd = "/", .sources = &source, .nsources = 1};
  s->entities = w->entities.items;
  s->nentities = w->entities.len;
  s->standings = w->standings.items;
  s->nstandings = w->standings.len;
  s->runs = mem_array(RunInfo, RUNS);
  s->nruns = RUNS;
  w->failure = (FailureGroup){.kind = "exit",
                              .signature = "made up",
                              .runs = mem_array(uint32_t, RUNS)};
  for (uint32_t i = 0; i < RUNS; i++) {
    s->runs[i] = (RunInfo){.test = "t", .has_spectrum = true};
    s->runs[i].verdict = fails(i) ? VERDICT_FAIL : VERDICT_PASS;
    if (fails(i))
      w->failure.runs[w->failure.nruns++] = i;
  }
  s->failures = &w->failure;
  s->nfailures = 1;
}

// Per cent of the runs that take entity e: [e] of passing, [n + e] of failing.
static unsigned char *draw_shares(World *w) {
  size_t n = 2 * w->entities.len;
  unsigned char *shares = mem_array(unsigned char, n);
  for (size_t i = 0; i < n; i++)
    shares[i] = (unsigned char)(5 + draw(w, 95));
  return shares;
}

static void add_runs(World *w, Propagation *p) {
  unsigned char *shares = draw_shares(w);
  size_t n = w->entities.len;
  for (uint32_t run = 0; run < RUNS; run++) {
    Spectra spectra = {0};
    const unsigned char *share = shares + (fails(run) ? n : 0);
    for (uint32_t e = 0; e < n; e++)
      if (draw(w, 100) < share[e])
        bitset_add(&spectra.hits[w->entities.items[e].kind], e);
    propagation_add_run(p, run, &spectra);
    for (int kind = 0; kind < ENTITY_KINDS; kind++)
      bitset_release(&spectra.hits[kind]);
  }
  free(shares);
}

// --- a case -----------------------------------------------------------------

// Ranks and prints; -1 if a score is not finite.
static int time_case(World *w, const char *name) {
  Propagation p;
  Ranking ranking;
  Err err = {0};
  make_suite(w);
  propagation_init(&p, &w->suite);
  add_runs(w, &p);
  SessionEvidence evidence = {.suite = &w->suite};
  OpenLocalizer l = {.session = &evidence,
                     .state = &p,
                     .options = {.by = ENTITY_STATEMENT, .explain = 10}};
  localizer_find("cp", &l.method);
  double start = now();
  if (localizer_rank(&l, 0, &ranking, &err)) {
    fprintf(stderr, "%s: %s\n", name, err.text);
    return -1;
  }
  printf("%s\t%u\t%u\t%.3f\n", name, p.cfg.nblocks, p.cfg.nedges,
         now() - start);
  int bad = 0;
  for (size_t i = 0; i < ranking.suspects.len; i++)
    bad |= !isfinite(ranking.suspects.items[i].score);
  ranking_release(&ranking);
  propagation_release(&p);
  free(w->suite.runs);
  free(w->failure.runs);
  w->entities.len = w->standings.len = w->line = 0;
  return bad ? -1 : 0;
}

int main(void) {
  static const char *const names[SHAPES] = {
      "ifs and loops", "a switch in a loop", "nested loops", "gotos"};
  World w = {.random = 42};
  int status = 0;
  for (Shape shape = 0; shape < SHAPES; shape++) {
    add_function(&w, LARGE, shape);
    status |= time_case(&w, names[shape]);
  }
  for (uint32_t i = 0; i < FUNCTIONS; i++)
    add_function(&w, 10 + draw(&w, 19), i % SHAPES);
  status |= time_case(&w, "2,700 functions");
  array_release(&w.entities);
  array_release(&w.standings);
  return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
