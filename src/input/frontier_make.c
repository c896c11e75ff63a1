// FlipCandidates that do not negate a condition: see frontier_internal.h.
#include "input/frontier_internal.h"

#include <string.h>
#include <xxhash.h>

#include "util/mem.h"
#include "util/str.h"

// Conditions of steps that are no conditions. Branches are below them; other
// events have the highest bit (frontier.c).
enum { STEP_OTHER = 0x40000000, STEP_WHOLE = -1 };
static const uint32_t step_text = 0xC0000000u;

PathStep frontier_own_step(const Frontier *f, const FlipCandidate *c) {
  const Explored *e = &f->runs.items[c->run];
  const PathText *t;
  switch (c->make) {
  case MAKE_OTHER:
    return (PathStep){STEP_OTHER | e->path.events.items[c->event].place, 0};
  case MAKE_TEXT:
    t = &e->path.texts.items[c->choice];
    return (PathStep){step_text | t->place,
                      (uint32_t)XXH3_64bits(t->text, t->len)};
  case MAKE_GROW:
    return (PathStep){(uint32_t)STEP_WHOLE, 1 + c->choice};
  default: // all other inputs for a whole path are one site
    return (PathStep){(uint32_t)STEP_WHOLE, 0};
  }
}

uint32_t frontier_step_costs(PathStep step) {
  enum { WHOLE = 8, TEXT = 1 };
  if (step.condition == (uint32_t)STEP_WHOLE)
    return WHOLE;
  return (step.condition & step_text) == step_text ? TEXT : 0;
}

// --- places in tables -------------------------------------------------------

// A place as a small number: the state of an automaton, an index.
static bool is_place(const Frontier *f, const Explored *e, uint32_t event) {
  enum { MOST = 1 << 16 };
  const PathEvent *at = &e->path.events.items[event];
  return (f->parts & PART_TABLES) && f->strategy->sites &&
         at->kind == PATH_ADDRESS && at->subject && !at->violated &&
         expr_value(e->pool, at->subject) < MOST;
}

static PinnedValues *values_at(Frontier *f, uint32_t place) {
  uint64_t fresh = f->values.len;
  uint64_t at = hashmap_intern(&f->value_list, &place, sizeof place, fresh);
  if (at == fresh)
    array_push(&f->values, (PinnedValues){0});
  return &f->values.items[at];
}

static bool is_seen(const PinnedValues *v, uint64_t value) {
  for (uint32_t i = 0; i < v->len; i++)
    if (v->items[i] == value)
      return true;
  return false;
}

void frontier_note_values(Frontier *f, uint32_t run) {
  const Explored *e = &f->runs.items[run];
  for (uint32_t i = 0; i < e->path.events.len; i++) {
    if (!is_place(f, e, i))
      continue;
    const PathEvent *at = &e->path.events.items[i];
    PinnedValues *v = values_at(f, at->place);
    uint64_t value = expr_value(e->pool, at->subject);
    if (v->len < PINNED_MOST && !is_seen(v, value))
      v->items[v->len++] = value;
  }
}

void frontier_make_others(Frontier *f, uint32_t run, uint32_t event,
                          uint64_t prefix, FlipCandidates *out) {
  const Explored *e = &f->runs.items[run];
  if (!is_place(f, e, event) ||
      values_at(f, e->path.events.items[event].place)->len == PINNED_MOST)
    return;
  frontier_push(f, out,
                (FlipCandidate){.make = MAKE_OTHER, .run = run, .event = event},
                prefix);
}

SolverResult frontier_solve_other(Frontier *f, const FlipCandidate *c,
                                  Model *model) {
  Explored *e = &f->runs.items[c->run];
  const PathEvent *at = &e->path.events.items[c->event];
  const PinnedValues *v = values_at(f, at->place);
  Constraint not[PINNED_MOST];
  unsigned width = expr_width(e->pool, at->subject);
  if (v->len == PINNED_MOST)
    return SOLVER_UNSAT;
  for (uint32_t i = 0; i < v->len; i++) {
    Expr value = expr_const(e->pool, width, v->items[i]);
    not[i] = (Constraint){expr_eq(e->pool, at->subject, value), false};
  }
  return solver_query(e->solver, c->event, not, v->len, model);
}

// --- longer inputs and texts ------------------------------------------------

static bool can_grow(const Inputs *in, const InputSource *s) {
  enum { LONGEST = 1 << 16 };
  return s->kind != INPUT_ENV && s->size < LONGEST && !inputs_named(in, s);
}

static void make_longer(Frontier *f, uint32_t run, FlipCandidates *out) {
  const Inputs *in = &f->runs.items[run].inputs;
  for (uint32_t i = 0; i < in->sources.len; i++)
    if (can_grow(in, &in->sources.items[i]))
      for (uint32_t way = 0; way < 2; way++)
        frontier_push(
            f, out,
            (FlipCandidate){
                .make = MAKE_GROW, .run = run, .event = way, .choice = i},
            0);
}

void frontier_make_more(Frontier *f, uint32_t run, FlipCandidates *out) {
  const Explored *e = &f->runs.items[run];
  if (!f->strategy->sites || !(f->parts & PART_SITES))
    return;
  if ((f->parts & PART_GROW) && e->fresh)
    make_longer(f, run, out);
  for (uint32_t i = 0; (f->parts & PART_TEXTS) && i < e->path.texts.len; i++) {
    uint32_t where[2] = {run, e->path.texts.items[i].at};
    frontier_push(f, out,
                  (FlipCandidate){.make = MAKE_TEXT, .run = run, .choice = i},
                  XXH3_64bits(where, sizeof where));
  }
}

// By zeros, or by what it ends with.
static void build_longer(const FlipCandidate *c, Inputs *out) {
  enum { MORE = 8 };
  InputSource *s = &out->sources.items[c->choice];
  size_t old = s->size, n = old < MORE ? old : MORE;
  if (c->event == 0 || !n) {
    inputs_resize(out, c->choice, old + MORE, '0');
    return;
  }
  inputs_resize(out, c->choice, old + n, '0');
  s = &out->sources.items[c->choice];
  memcpy(s->bytes + old, s->bytes + old - n, n);
}

void frontier_build(const Frontier *f, const FlipCandidate *c, Inputs *out) {
  const Explored *e = &f->runs.items[c->run];
  inputs_copy(out, &e->inputs);
  if (c->make == MAKE_GROW) {
    build_longer(c, out);
    return;
  }
  const PathText *t = &e->path.texts.items[c->choice];
  const InputSource *s = &e->inputs.sources.items[t->source];
  Str bytes = {0};
  str_addn(&bytes, s->bytes, t->at);
  str_addn(&bytes, t->text, t->len);
  str_addn(&bytes, s->bytes + t->at + t->size, s->size - t->at - t->size);
  inputs_set(out, t->source, str_text(&bytes), bytes.len);
  str_release(&bytes);
}

// --- the list of parts ------------------------------------------------------

static const SearchPart parts[] = {
    {"sites", "the rarest outcome of a condition is next", PART_SITES},
    {"optimistic", "conditions are negated without their paths, too",
     PART_OPTIMISTIC},
    {"grow", "inputs get longer", PART_GROW},
    {"texts", "texts that the program compares with are put in", PART_TEXTS},
    {"tables", "places in tables stay open", PART_TABLES},
    {"mutate", "mutated inputs that reach something new", PART_MUTATE},
};

const SearchPart *search_part_at(size_t i) {
  return i < sizeof parts / sizeof *parts ? &parts[i] : NULL;
}
