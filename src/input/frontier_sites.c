// Which candidate is next by what few runs have reached: see site_queue.h. And
// what runs reach.
#include "input/frontier_internal.h"

#include <math.h>
#include <xxhash.h>

#include "input/made.h"

enum { ALIKE_MAX = 2 }; // runs with the same features that are explored

static uint32_t runs_at(const Frontier *f, const FlipSite *site) {
  uint32_t branch = site->step.condition, own;
  if ((own = frontier_step_costs(site->step)))
    return own;
  if (branch >= f->program->branches.len)
    return site->taken;
  const IrBranch *b = &f->program->branches.items[branch];
  uint32_t edge = b->first_edge + site->step.outcome;
  if (site->step.outcome >= b->nedges || edge >= f->edge_runs.len)
    return site->taken;
  return f->edge_runs.items[edge];
}

// Since the last that brought something new.
static uint32_t attempts_at(const FlipSite *site) {
  enum { TEXT = 8 };
  uint32_t n = site->tried + site->vain - site->paid;
  return frontier_step_costs(site->step) == 1 ? n * TEXT : n;
}

void frontier_reward(Frontier *f, const FlipCandidate *c) {
  FlipSite *site = &f->sites.items[c->site];
  site->paid = site->tried + site->vain;
}

// The number of the cheapest site that has candidates; of equal ones the first.
static size_t cheapest_site(const Frontier *f) {
  size_t best = SIZE_MAX;
  double least = 0;
  for (size_t i = 0; i < f->queue.sites.len; i++) {
    const FlipSite *site = &f->sites.items[i];
    if (!f->queue.sites.items[i].len)
      continue;
    double cost = site_cost(attempts_at(site), runs_at(f, site));
    if (best == SIZE_MAX || cost < least) {
      best = i;
      least = cost;
    }
  }
  return best;
}

// Of those that were not taken out of the list.
bool frontier_pop_by_site(Frontier *f, FlipCandidate *out) {
  size_t site;
  while ((site = cheapest_site(f)) != SIZE_MAX) {
    *out = site_queue_take(&f->queue, site);
    if (bitset_has(&f->gone, out->number))
      continue;
    bitset_add(&f->gone, out->number);
    return true;
  }
  return false;
}

bool frontier_has_sites(const Frontier *f) {
  return f->strategy->sites && (f->parts & PART_SITES);
}

// Is it the turn of the site queue?
bool frontier_by_site(const Frontier *f) {
  return frontier_has_sites(f) && (!f->strategy->now || f->solved % 2);
}

// In runs that brought something new first, in short inputs, where the condition
// is met first; beyond that in no particular order: neighbours on a path have the same
// reason to be infeasible.
double frontier_site_score(const Frontier *f, const FlipCandidate *c) {
  const Explored *e = &f->runs.items[c->run];
  uint32_t instance =
      c->make < MAKE_SAME ? e->path.events.items[c->event].instance : 0;
  uint64_t mixed = XXH3_64bits_withSeed(&c->number, sizeof c->number, 1);
  return 64.0 * e->fresh - floor(log2(1.0 + instance)) -
         log2(1.0 + (double)made_size(&e->inputs)) / 2 -
         (double)(mixed >> 40) / (1 << 24);
}

// --- what runs reach --------------------------------------------------------

// AFL's classes: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more.
static uint32_t class_of(uint32_t n) {
  static const uint32_t least[] = {128, 32, 16, 8, 4, 3, 2, 1};
  for (uint32_t i = 0; i < 8; i++)
    if (n >= least[i])
      return 8 - i;
  return 0;
}

bool frontier_learn(Frontier *f, const uint32_t *counts, size_t n,
                    bool *fresh) {
  uint64_t all = 0;
  *fresh = false;
  while (f->edge_runs.len < n)
    array_push(&f->edge_runs, 0);
  for (uint32_t i = 0; i < n; i++) {
    if (!counts[i])
      continue;
    uint32_t feature[2] = {i, class_of(counts[i])};
    uint64_t here = f->made + 1ull;
    *fresh |= hashmap_intern(&f->features, feature, sizeof feature, 0) == 0;
    hashmap_put(&f->features, feature, sizeof feature, here);
    f->edge_runs.items[i]++;
    all = XXH3_64bits_withSeed(feature, sizeof feature, all);
  }
  uint64_t like = 0;
  hashmap_get(&f->alike, &all, sizeof all, &like);
  hashmap_put(&f->alike, &all, sizeof all, like + 1);
  return like < ALIKE_MAX || !f->strategy->by_coverage ||
         !frontier_has_sites(f);
}
