// The score of the default method after a closer look: see weigh.h.
#include "tally/weigh.h"

#include <math.h>
#include <string.h>

#include "tally/weights.h"

static bool is_change(const Entity *e) {
  return e->from == RELATION_SAME || e->from == RELATION_CHANGED;
}

static bool is_comparison(const Entity *e) {
  return !e->name || !strcmp(e->name, "compare");
}

bool weigh_takes(const Entity *e) {
  return e->kind != ENTITY_RELATION || is_comparison(e) ||
         (!strcmp(e->name, "store") && !is_change(e));
}

static double cost_of_kind(const Entity *e) {
  switch (e->kind) {
  case ENTITY_CONDITION:
  case ENTITY_RETURN:
    return WEIGHT_CONDITION;
  case ENTITY_PAIR:
    return WEIGHT_PAIR;
  case ENTITY_RELATION:
    if (!is_comparison(e))
      return WEIGHT_STORED;
    return e->from == RELATION_EQUAL ? WEIGHT_EQUAL : WEIGHT_COMPARISON;
  default:
    return WEIGHT_LINE;
  }
}

static double share(double part, double all) {
  return all > 0 ? part / all : 0;
}

Costs weigh_entity(const Comparison *c, uint32_t e) {
  Counts n = comparison_counts(c, e);
  double passing = n.ep + n.np;
  return (Costs){.failing = WEIGHT_FAILING * share(n.nf, n.ef + n.nf),
                 .passing =
                     WEIGHT_PASSING * share(n.ep, passing) +
                     WEIGHT_PASSING_LOG * share(log1p(n.ep), log1p(passing)),
                 .others = WEIGHT_OTHERS * (1 - comparison_others(c, e)),
                 .kind = cost_of_kind(&c->suite->entities[e])};
}

double costs_sum(const Costs *c) {
  return c->failing + c->passing + c->others + c->kind + c->slice + c->death +
         c->steps;
}

// How far the line is from where the failure showed: 0 there, 1/2 a step away,
// 2/3 two steps away, ..., 1 if that does not depend on it.
static double distance(const Suspect *s) {
  return s->steps == STEPS_NONE ? 1 : 1 - 1.0 / (1 + s->steps);
}

static double score_of(const Ranking *r, double cost) {
  return r->failing / (1 + cost);
}

void weigh_lines(const Comparison *c, bool slices, Ranking *r) {
  uint32_t sliced = slices ? c->sliced.failing : 0;
  bool died = false;
  for (size_t i = 0; i < r->suspects.len; i++)
    died |= r->suspects.items[i].prior > 0;
  for (size_t i = 0; i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    s->costs = weigh_entity(c, s->carried ? s->carrier : s->entity);
    s->costs.slice = WEIGHT_SLICE * share(sliced - s->slice_ef, sliced);
    s->costs.death = died ? WEIGHT_DEATH * (1 - s->prior) : 0;
    s->costs.steps = r->checked ? WEIGHT_STEPS * distance(s) : 0;
    double line = s->costs.slice + s->costs.death + s->costs.steps;
    s->weighed = true;
    s->score = score_of(r, line - s->score);
    s->hint = score_of(r, line - s->hint);
    s->own = score_of(r, line - s->own);
  }
}
