// The outcomes of comparisons: see outcome_goals.h.
#include "explore/outcome_goals.h"

#include <string.h>
#include <xxhash.h>

#include "explore/solve/request_solver.h"

// --- comparisons ------------------------------------------------------------

static uint32_t sides_of(OutcomeGoals *g, uint64_t compare) {
  uint64_t fresh = g->sides.len;
  uint64_t n = hashmap_intern(&g->index, &compare, sizeof compare, fresh);
  if (n == fresh)
    array_push(&g->sides, (ComparedSides){.compare = compare});
  return (uint32_t)n;
}

bool outcome_goals_show(OutcomeGoals *g, const PhpCompare *c) {
  size_t before = g->sides.len;
  uint32_t n = sides_of(g, compare_hash(c));
  g->sides.items[n].shown |= 1u << c->held;
  return g->sides.len > before;
}

bool outcome_goals_one_sided(const OutcomeGoals *g, const PhpCompare *c) {
  uint64_t key = compare_hash(c), n;
  return !hashmap_get(&g->index, &key, sizeof key, &n) ||
         g->sides.items[n].shown != 3;
}

void outcome_goals_add_sides(OutcomeGoals *g, uint64_t compare,
                             uint32_t shown) {
  uint32_t n = sides_of(g, compare);
  g->sides.items[n].shown = shown;
}

// --- goals ------------------------------------------------------------------

static uint32_t place_of(OutcomeGoals *g, const char *file, uint32_t line) {
  uint64_t key = XXH3_64bits_withSeed(file, strlen(file), line);
  uint64_t fresh = g->barren.len;
  uint64_t n = hashmap_intern(&g->places, &key, sizeof key, fresh);
  if (n == fresh)
    array_push(&g->barren, 0);
  return (uint32_t)n;
}

void outcome_goals_add(OutcomeGoals *g, const OutcomeGoal *like,
                       uint32_t barren) {
  OutcomeGoal goal = *like;
  goal.file = arena_strdup(&g->arena, like->file);
  goal.text =
      arena_strndup(&g->arena, like->text, strnlen(like->text, GOAL_TEXT));
  goal.place = place_of(g, like->file, like->line);
  g->barren.items[goal.place] = barren;
  array_push(&g->goals, goal);
  g->sides.items[goal.sides].goals[goal.outcome] = (uint32_t)g->goals.len;
}

uint32_t outcome_goals_aim(OutcomeGoals *g, const PhpCompare *c) {
  uint32_t n = sides_of(g, compare_hash(c));
  const ComparedSides *s = &g->sides.items[n];
  bool outcome = !c->held;
  if (s->shown >> outcome & 1)
    return 0;
  if (s->goals[outcome])
    return s->goals[outcome];
  OutcomeGoal like = {.sides = n,
                      .outcome = outcome,
                      .file = c->file,
                      .line = c->line,
                      .text = c->right};
  uint32_t place = place_of(g, c->file, c->line);
  outcome_goals_add(g, &like, g->barren.items[place]);
  return (uint32_t)g->goals.len;
}

bool outcome_goals_is_open(const OutcomeGoals *g, uint32_t goal) {
  if (!g || !goal)
    return false;
  const OutcomeGoal *o = &g->goals.items[goal - 1];
  return !(g->sides.items[o->sides].shown >> o->outcome & 1);
}

bool outcome_goals_comes_first(const OutcomeGoals *g, uint32_t goal) {
  if (!outcome_goals_is_open(g, goal))
    return false;
  const OutcomeGoal *o = &g->goals.items[goal - 1];
  return o->tries < GOAL_TRIES && g->barren.items[o->place] < GOAL_BARREN;
}

void outcome_goals_try(OutcomeGoals *g, uint32_t goal) {
  if (g && goal)
    g->goals.items[goal - 1].tries++;
}

void outcome_goals_learn(OutcomeGoals *g, uint32_t goal, size_t news) {
  if (!goal)
    return;
  uint32_t *barren = &g->barren.items[g->goals.items[goal - 1].place];
  *barren = news ? 0 : *barren + 1;
}

void outcome_goals_release(OutcomeGoals *g) {
  array_release(&g->sides);
  array_release(&g->goals);
  array_release(&g->barren);
  hashmap_release(&g->index);
  hashmap_release(&g->places);
  arena_release(&g->arena);
}
