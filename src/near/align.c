// Events of runs, their alignment and distance: see align.h.
#include "near/align.h"

#include <assert.h>
#include <stdlib.h>
#include <xxhash.h>

#include "util/mem.h"

// --- events -----------------------------------------------------------------

uint64_t event_key(uint64_t key, uint32_t branch) {
  return XXH3_64bits_withSeed(&branch, sizeof branch, key);
}

void events_init(Events *e) {
  *e = (Events){0};
  array_push(&e->items, (Event){.edge = IR_NONE});
}

void events_release(Events *e) {
  array_release(&e->items);
  bitset_release(&e->echoes);
  free(e->slots);
  *e = (Events){0};
}

uint32_t events_add(Events *e, uint64_t key, uint32_t parent, uint32_t branch,
                    uint32_t edge) {
  assert(!e->slots && parent < e->items.len);
  array_push(&e->items, (Event){event_key(key, branch), parent, edge});
  return (uint32_t)e->items.len - 1;
}

uint32_t *events_ends(const Events *e) {
  uint32_t *ends = mem_array(uint32_t, e->items.len);
  for (uint32_t i = 0; i < e->items.len; i++)
    ends[i] = i;
  for (size_t i = e->items.len; i-- > 1;) {
    uint32_t parent = e->items.items[i].parent;
    if (ends[parent] < ends[i])
      ends[parent] = ends[i];
  }
  return ends;
}

// --- the table of keys ------------------------------------------------------

// Slots hold event numbers, 0: free. The keys are hashes already.
static size_t find_slot(const Events *e, uint64_t key) {
  size_t i = key & (e->nslots - 1);
  while (e->slots[i] && e->items.items[e->slots[i]].key != key)
    i = (i + 1) & (e->nslots - 1);
  return i;
}

static void fill_slots(Events *e) {
  e->nslots = 16;
  while (e->nslots < e->items.len + e->items.len / 2)
    e->nslots *= 2;
  e->slots = mem_array(uint32_t, e->nslots);
  for (uint32_t i = 1; i < e->items.len; i++) {
    size_t slot = find_slot(e, e->items.items[i].key);
    if (!e->slots[slot])
      e->slots[slot] = i;
  }
}

// The event with that key, 0: none. Those from `expected` on are looked at
// first.
static uint32_t find_event(Events *e, uint64_t key, uint32_t expected) {
  enum { NEXT = 8 };
  for (uint32_t i = expected; i < e->items.len && i - expected < NEXT; i++)
    if (e->items.items[i].key == key)
      return i;
  if (!e->slots)
    fill_slots(e);
  return e->slots[find_slot(e, key)];
}

uint32_t events_find(Events *e, uint64_t key) { return find_event(e, key, 0); }

// --- distance ---------------------------------------------------------------

static int by_event(const void *a, const void *b) {
  uint32_t x = ((const BranchDifference *)a)->event,
           y = ((const BranchDifference *)b)->event;
  return (x > y) - (x < y);
}

static void drop_repeated(Distance *d) {
  size_t n = 1;
  for (size_t i = 1; i < d->len; i++)
    if (d->items[i].event != d->items[n - 1].event)
      d->items[n++] = d->items[i];
  d->len = n;
}

void align_distance(Events *f, const Events *p, Distance *out) {
  uint32_t last = 0;
  Bitset strange = {0}; // events of p that are not aligned
  out->len = 0;
  for (uint32_t i = 1; i < p->items.len; i++) {
    const Event *e = &p->items.items[i];
    uint32_t found =
        bitset_has(&strange, e->parent) ? 0 : find_event(f, e->key, last + 1);
    if (!found) {
      bitset_add(&strange, i);
      continue;
    }
    last = found;
    if (f->items.items[found].edge != e->edge &&
        !bitset_has(&f->echoes, found) && !bitset_has(&p->echoes, i))
      array_push(out, (BranchDifference){found, e->edge});
  }
  if (!out->len)
    array_push(out, (BranchDifference){0, IR_NONE});
  qsort(out->items, out->len, sizeof *out->items, by_event);
  drop_repeated(out);
  bitset_release(&strange);
}

int distance_compare(const Distance *a, const Distance *b) {
  size_t i = a->len, k = b->len;
  while (i && k) {
    uint32_t x = a->items[--i].event, y = b->items[--k].event;
    if (x != y)
      return x > y ? -1 : 1;
  }
  return i ? 1 : k ? -1 : 0;
}

// --- enumeration ------------------------------------------------------------

typedef struct {
  const uint32_t *ends, *events;
  size_t most;
  FlipVisit *visit;
  void *context;
  ARRAY(uint32_t) chosen; // the latest first
  ARRAY(uint32_t) flips;  // the same in order
} Enumeration;

static FlipAnswer visit_chosen(Enumeration *e) {
  e->flips.len = 0;
  for (size_t i = e->chosen.len; i-- > 0;)
    array_push(&e->flips, e->chosen.items[i]);
  return e->visit(e->context, e->flips.items, e->flips.len);
}

// Does a chosen event depend on this one, which comes before them?
static bool decides(const Enumeration *e, uint32_t event) {
  return e->chosen.len && array_last(&e->chosen) <= e->ends[event];
}

// All sets that go on with what is chosen and begin before number n.
static bool choose(Enumeration *e, size_t n) {
  while (n-- > 0) {
    uint32_t event = e->events[n];
    if (decides(e, event))
      continue;
    array_push(&e->chosen, event);
    FlipAnswer answer = visit_chosen(e);
    bool deeper = answer == FLIP_ON && e->chosen.len < e->most;
    bool more = answer != FLIP_STOP && (!deeper || choose(e, n));
    e->chosen.len--;
    if (!more)
      return false;
  }
  return true;
}

bool flips_enumerate(const uint32_t *ends, const uint32_t *events, size_t n,
                     size_t most, FlipVisit *visit, void *context) {
  Enumeration e = {.ends = ends,
                   .events = events,
                   .most = most,
                   .visit = visit,
                   .context = context};
  bool all = !most || choose(&e, n);
  array_release(&e.chosen);
  array_release(&e.flips);
  return all;
}
