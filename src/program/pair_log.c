// Definition-use pairs in what a close build left: see pair_log.h.
#include "program/pair_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/close_format.h"

bool is_pair_log(const unsigned char *id) {
  static const unsigned char log[16] = CLOSE_LOG_ID;
  return !memcmp(id, log, sizeof log);
}

void collector_take_pairs(Collector *c, TakePair *take, void *ctx) {
  c->take_pair = take;
  c->pair_ctx = ctx;
}

// --- where things lie -------------------------------------------------------

static int by_begin(const void *a, const void *b) {
  const UnitRange *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static void add_log(CounterRanges *r, const RunUnit *u, uint64_t begin) {
  if (u->counter_size != sizeof(uint64_t))
    return;
  r->log = begin;
  r->log_end = begin + (uint64_t)u->ncounters * u->counter_size;
}

void counter_ranges_read(CounterRanges *r, const Collector *c,
                         const RunHeader *h) {
  const RunUnit *units = (const RunUnit *)(h + 1);
  for (uint32_t i = 0; i < h->nunits; i++) {
    KnownUnit *u = collector_unit(c, units[i].id);
    if (units[i].offset < h->counters)
      continue;
    uint64_t begin = units[i].offset - h->counters;
    if (is_pair_log(units[i].id))
      add_log(r, &units[i], begin);
    if (!u || units[i].ncounters != u->map->ncounters ||
        units[i].counter_size != u->map->counter_size)
      continue;
    uint64_t size = (uint64_t)units[i].ncounters * units[i].counter_size;
    if (begin <= UINT64_MAX - size)
      array_push(&r->ranges, (UnitRange){begin, begin + size, u});
  }
  if (r->ranges.len)
    qsort(r->ranges.items, r->ranges.len, sizeof(UnitRange), by_begin);
}

void counter_ranges_release(CounterRanges *r) { array_release(&r->ranges); }

const UnitRange *counter_range_of(const CounterRanges *r, uint64_t byte) {
  size_t low = 0, high = r->ranges.len;
  while (low < high) {
    size_t mid = (low + high) / 2;
    if (r->ranges.items[mid].end <= byte)
      low = mid + 1;
    else
      high = mid;
  }
  const UnitRange *u = r->ranges.items + low;
  return low < r->ranges.len && u->begin <= byte ? u : NULL;
}

// --- statements -------------------------------------------------------------

// The counter of a statement stands for it alone.
static void index_sites(KnownUnit *u) {
  const UnitMap *m = u->map;
  u->sites = mem_array(uint32_t, m->ncounters + 1);
  memset(u->sites, 0xff, (m->ncounters + 1) * sizeof *u->sites);
  for (size_t i = 0; i < m->unit.nentities; i++)
    if (m->unit.entities[i].kind == ENTITY_STATEMENT &&
        m->first_ref[i] < m->first_ref[i + 1])
      u->sites[m->refs[m->first_ref[i]]] = u->ids[i];
  for (size_t i = 0; i < m->nuse_sites; i++)
    hashmap_put(&u->use_sites, &m->use_sites[i].counter,
                sizeof m->use_sites[i].counter, i);
}

// The unit that the place lies in, and which of its counters it is. NULL: none.
static KnownUnit *unit_of(const CounterRanges *r, uint32_t place,
                          uint32_t *counter) {
  const UnitRange *range = place ? counter_range_of(r, place - 1) : NULL;
  if (!range || range->unit->map->counter_size != COUNTERS_HITS)
    return NULL;
  if (!range->unit->sites)
    index_sites(range->unit);
  *counter = (uint32_t)(place - 1 - range->begin);
  return range->unit;
}

// The suite-wide id of the statement; ENTITY_NONE: no statement has this site.
static uint32_t statement_of(const CounterRanges *r, uint32_t place) {
  uint32_t counter;
  const KnownUnit *u = unit_of(r, place, &counter);
  return u ? u->sites[counter] : ENTITY_NONE;
}

// The statements that have this site together.
static void take_shared(Collector *c, const CounterRanges *r, uint32_t def,
                        uint32_t place) {
  uint32_t counter;
  uint64_t n;
  const KnownUnit *u = unit_of(r, place, &counter);
  if (!u || !hashmap_get(&u->use_sites, &counter, sizeof counter, &n))
    return;
  const UseSite *s = &u->map->use_sites[n];
  for (uint32_t i = 0; i < s->n; i++)
    array_push(&c->pairs, (StatementPair){def, u->ids[s->statements[i]]});
}

void pair_log_take(Collector *c, const CounterRanges *r, uint64_t index,
                   uint64_t word) {
  if (!index) {
    c->pair_flags |= (uint32_t)word;
    c->pairs_lost += word >> 32;
    return;
  }
  uint32_t def = statement_of(r, (uint32_t)(word >> 32));
  uint32_t use = statement_of(r, (uint32_t)word);
  if (def != ENTITY_NONE && use != ENTITY_NONE)
    array_push(&c->pairs, (StatementPair){def, use});
  else if (def != ENTITY_NONE)
    take_shared(c, r, def, (uint32_t)word);
}

void pair_log_read(Collector *c, const RunHeader *h, size_t size) {
  CounterRanges r = {0};
  if (!c->take_pair)
    return;
  counter_ranges_read(&r, c, h);
  uint64_t left = size - h->counters; // the header was checked
  const char *counters = (const char *)h + h->counters;
  for (uint64_t i = 0, at = r.log;
       at < r.log_end && left >= sizeof i && at <= left - sizeof i;
       i++, at += sizeof i) {
    uint64_t word;
    memcpy(&word, counters + at, sizeof word);
    if (word)
      pair_log_take(c, &r, i, word);
  }
  counter_ranges_release(&r);
}

// --- variables --------------------------------------------------------------

static void take_use(Collector *c, const KnownUnit *u, const VariableUse *use) {
  const VariableDefiners *d = &u->map->definers[use->definers];
  const unsigned char *hit = u->hit + use->first + 1;
  for (uint32_t i = 0; i < d->n; i++)
    if (hit[i])
      array_push(&c->pairs,
                 (StatementPair){u->ids[d->statements[i]], u->ids[use->use]});
}

// Pairs that have counters.
static void take_counted(Collector *c) {
  for (size_t i = 0; i < c->units.len; i++) {
    const KnownUnit *u = &c->units.items[i];
    for (size_t k = 0; u->processes && k < u->map->nuses; k++)
      take_use(c, u, &u->map->uses[k]);
  }
}

// --- what is known in the end -----------------------------------------------

static void note_losses(Collector *c, Run *run) {
  char text[128];
  if (c->pair_flags & CLOSE_NO_MEMORY)
    collector_add_note(run, "definitions in memory are not recorded: there is "
                            "no room for their shadow");
  if (c->pair_flags & CLOSE_FORGOT)
    collector_add_note(run, "definitions in memory were forgotten when there "
                            "were too many");
  if (c->pairs_lost) {
    snprintf(text, sizeof text,
             "of its definition-use pairs only the first %zu are recorded",
             c->pairs.len);
    collector_add_note(run, text);
  }
}

void pair_log_translate(Collector *c, Run *run) {
  if (c->take_pair) {
    note_losses(c, run);
    take_counted(c);
  }
  for (size_t i = 0; i < c->pairs.len && c->take_pair; i++) {
    const StatementPair *p = &c->pairs.items[i];
    bitset_add(&run->hits[ENTITY_PAIR],
               c->take_pair(c->pair_ctx, p->def, p->use));
  }
  c->pairs.len = 0;
  c->pair_flags = 0;
  c->pairs_lost = 0;
}
