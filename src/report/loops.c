// Loops of the source: see loops.h.
//
// The blocks that can be reached from a block and from which it can be reached
// are the outermost loop around it. Without the blocks through which that loop
// is entered, the same question gives the next inner one.
#include "report/loops.h"

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

typedef struct {
  const Cfg *c;
  bool *allowed, *ahead, *behind, *inside; // per block
  uint32_t *stack;
} LoopSearch;

static void search_init(LoopSearch *s, const Cfg *c) {
  *s = (LoopSearch){.c = c};
  bool **sets[] = {&s->allowed, &s->ahead, &s->behind, &s->inside};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    *sets[i] = mem_array(bool, (size_t)c->nblocks + 1);
  s->stack = mem_array(uint32_t, (size_t)c->nblocks + 1);
}

static void search_release(LoopSearch *s) {
  free(s->allowed);
  free(s->ahead);
  free(s->behind);
  free(s->inside);
  free(s->stack);
}

// The block at the other end of an edge, or nblocks.
static uint32_t other_end(const Cfg *c, uint32_t edge, bool forward) {
  const Entity *e = &c->suite->entities[edge];
  uint32_t block = forward ? e->to : e->from;
  uint32_t n = block < c->suite->nentities ? c->number[block] : ENTITY_NONE;
  return n == ENTITY_NONE ? c->nblocks : n;
}

// Marks what can be reached from `from` by at least one edge.
static void reach(LoopSearch *s, uint32_t from, bool forward, bool *seen) {
  const Cfg *c = s->c;
  const uint32_t *first = forward ? c->first_out : c->first_in;
  const uint32_t *edges = forward ? c->out : c->in;
  size_t n = 0;
  memset(seen, 0, c->nblocks);
  s->stack[n++] = from;
  while (n) {
    uint32_t b = s->stack[--n];
    for (uint32_t i = first[b]; i < first[b + 1]; i++) {
      uint32_t to = other_end(c, edges[i], forward);
      if (to == c->nblocks || seen[to] || !s->allowed[to])
        continue;
      seen[to] = true;
      s->stack[n++] = to;
    }
  }
}

static bool enters(const LoopSearch *s, uint32_t block, const bool *loop) {
  const Cfg *c = s->c;
  for (uint32_t i = c->first_in[block]; i < c->first_in[block + 1]; i++) {
    uint32_t from = other_end(c, c->in[i], false);
    if (from == c->nblocks || !loop[from])
      return true;
  }
  return false;
}

// Fills `inside` with the innermost loop around the block, and says how many
// blocks that has; 0: it is in none.
static size_t innermost(LoopSearch *s, uint32_t block) {
  const Cfg *c = s->c;
  size_t size = 0;
  memset(s->allowed, 1, c->nblocks);
  while (s->allowed[block]) {
    reach(s, block, true, s->ahead);
    reach(s, block, false, s->behind);
    if (!s->ahead[block])
      break;
    size = 0;
    for (uint32_t b = 0; b < c->nblocks; b++) {
      s->inside[b] = s->ahead[b] && s->behind[b];
      size += s->inside[b];
    }
    bool entered = false;
    for (uint32_t b = 0; b < c->nblocks; b++) {
      bool head = s->inside[b] && enters(s, b, s->inside);
      s->allowed[b] = s->inside[b] && !head;
      entered |= head;
    }
    if (!entered)
      break;
  }
  return size;
}

typedef struct {
  LoopSearch *search;
  uint32_t statement;
  size_t size; // blocks of the best; 0: none yet
  bool *best;
  SourceLoop *out;
} Around;

static void try_block(void *ctx, uint32_t statement, uint32_t block) {
  Around *a = ctx;
  const Cfg *c = a->search->c;
  if (statement != a->statement || c->number[block] == ENTITY_NONE)
    return;
  size_t size = innermost(a->search, c->number[block]);
  if (!size || (a->size && a->size <= size))
    return;
  a->size = size;
  memcpy(a->best, a->search->inside, c->nblocks);
}

static void add_line(void *ctx, uint32_t statement, uint32_t block) {
  Around *a = ctx;
  const Cfg *c = a->search->c;
  const Entity *e = &c->suite->entities[statement];
  if (c->number[block] == ENTITY_NONE || !a->best[c->number[block]] ||
      e->source != a->out->source)
    return;
  a->out->first = e->line < a->out->first ? e->line : a->out->first;
  a->out->last = e->line > a->out->last ? e->line : a->out->last;
}

static bool can_leave(const Cfg *c, uint32_t block, const bool *loop) {
  for (uint32_t i = c->first_out[block]; i < c->first_out[block + 1]; i++) {
    uint32_t to = other_end(c, c->out[i], true);
    if (to == c->nblocks || !loop[to])
      return true;
  }
  return false;
}

// The conditions that could end it say how often they did not.
static void count_turns(const Around *a, const EntityCount *counts, size_t n) {
  const Cfg *c = a->search->c;
  for (size_t i = 0; i < n; i++) {
    const Entity *e = &c->suite->entities[counts[i].entity];
    uint32_t b = e->to < c->suite->nentities ? c->number[e->to] : ENTITY_NONE;
    if (e->kind == ENTITY_CONDITION && b != ENTITY_NONE && a->best[b] &&
        can_leave(c, b, a->best) && counts[i].count > a->out->turns)
      a->out->turns = counts[i].count;
  }
}

static bool find(LoopSearch *s, uint32_t statement, const EntityCount *counts,
                 size_t n, SourceLoop *out) {
  const Entity *e = &s->c->suite->entities[statement];
  *out = (SourceLoop){.source = e->source, .first = e->line, .last = e->line};
  Around a = {.search = s,
              .statement = statement,
              .best = mem_array(bool, (size_t)s->c->nblocks + 1),
              .out = out};
  cfg_each_standing(s->c, try_block, &a);
  if (a.size) {
    cfg_each_standing(s->c, add_line, &a);
    count_turns(&a, counts, n);
  }
  free(a.best);
  return a.size > 0;
}

// --- of a run that hangs ----------------------------------------------------

typedef struct {
  uint32_t run;
  ARRAY(EntityCount) items;
} CountsOf;

static void keep_counts(void *ctx, size_t run, const EntityCount *counts,
                        size_t n) {
  CountsOf *c = ctx;
  for (size_t i = 0; run == c->run && i < n; i++)
    array_push(&c->items, counts[i]);
}

static uint32_t statement_on(const Suite *suite, uint32_t source,
                             uint32_t line) {
  for (uint32_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == ENTITY_STATEMENT && e->source == source && e->line == line)
      return i;
  }
  return ENTITY_NONE;
}

static SourceLoop *same_loop(const SourceLoops *all, const SourceLoop *l) {
  for (size_t i = 0; i < all->len; i++)
    if (all->items[i].source == l->source && all->items[i].first == l->first &&
        all->items[i].last == l->last)
      return &all->items[i];
  return NULL;
}

static void add_loop(SourceLoops *out, const SourceLoop *l) {
  SourceLoop *same = same_loop(out, l);
  if (!same)
    array_push(out, *l);
  else if (l->turns > same->turns)
    *same = *l;
}

// The first run that shows the failure and hangs; UINT32_MAX: none does.
static uint32_t hanging_run(const Suite *suite, const Deaths *d,
                            size_t failure) {
  uint32_t run = UINT32_MAX;
  for (size_t i = 0; i < d->items.len; i++) {
    const DeathAt *at = &d->items.items[i];
    if (!strcmp(at->how, "timeout") && at->run < run &&
        run_shows(suite, failure, at->run))
      run = at->run;
  }
  return run;
}

// What the process came back to is in loops that turn.
static void add_watched(LoopSearch *s, const char *turns, SourceLoops *out) {
  const Suite *suite = s->c->suite;
  DeathCaller t;
  while (death_caller(&turns, &t)) {
    uint32_t source = 0;
    SourceLoop loop;
    while (source < suite->nsources &&
           (strlen(suite->sources[source].path) != t.file_size ||
            memcmp(suite->sources[source].path, t.file, t.file_size) != 0))
      source++;
    uint32_t statement = statement_on(suite, source, t.line);
    if (statement == ENTITY_NONE || !find(s, statement, NULL, 0, &loop))
      continue;
    SourceLoop *known = same_loop(out, &loop);
    if (known && known->turns && !known->watched)
      continue; // counted, which is better
    loop.turns = strtoull(t.function, NULL, 10);
    loop.watched = true;
    add_loop(out, &loop);
  }
}

int loops_running(const Suite *suite, const Deaths *d, Store *store,
                  size_t failure, SourceLoops *out, Err *err) {
  enum { DEPTH = 64 };
  CountsOf counts = {.run = hanging_run(suite, d, failure)};
  if (counts.run == UINT32_MAX)
    return 0;
  if (store_each_counts(store, suite, keep_counts, &counts, err))
    return -1;
  Cfg c;
  LoopSearch s;
  const char *turns = NULL;
  cfg_init(&c, suite);
  search_init(&s, &c);
  for (uint32_t depth = 0; depth < DEPTH; depth++)
    for (size_t i = 0; i < d->items.len; i++) {
      const DeathAt *at = &d->items.items[i];
      SourceLoop loop;
      if (at->run != counts.run || at->depth != depth)
        continue;
      turns = turns ? turns : at->turns;
      uint32_t statement = statement_on(suite, at->source, at->line);
      if (statement != ENTITY_NONE &&
          find(&s, statement, counts.items.items, counts.items.len, &loop))
        add_loop(out, &loop);
    }
  add_watched(&s, turns, out);
  search_release(&s);
  cfg_release(&c);
  array_release(&counts.items);
  return 0;
}

void loop_describe(const Suite *suite, const SourceLoop *l, Str *out) {
  unsigned long long n = l->turns;
  str_addf(out, "still in the loop at %s:%u", suite_path(suite, l->source),
           l->first);
  if (l->last != l->first)
    str_addf(out, "-%u", l->last);
  if (n && l->watched)
    str_addf(out, ", which turned at least %llu time%s in %g s", n, plural(n),
             TURNS_SECONDS);
  else if (n)
    str_addf(out, " after %llu turn%s", n, plural(n));
}
