// Reads the items of the closer look: see record_close.h.
#include "php/record/record_close.h"

#include <string.h>

#include "php/record/record_format.h"

static PhpSpot counter(uint32_t number) {
  return (PhpSpot){.script = ENTITY_NONE, .entity = number};
}

// NULL: it is empty; "": it is longer than its item.
static const char *text_behind(const unsigned char *item, uint32_t size,
                               size_t at, uint32_t length, Arena *arena) {
  if (length > size - at)
    return "";
  return length ? arena_strndup(arena, (const char *)item + at, length) : NULL;
}

const char *close_list_relation(CloseList *l, const unsigned char *item,
                                uint32_t size, Arena *arena) {
  ItemRelation x;
  memcpy(&x, item, sizeof x);
  if (x.outcome >= RELATION_OUTCOMES || x.kind >= RELATED_KINDS)
    return "a relation is of no known kind";
  const char *text = text_behind(item, size, sizeof x, x.length, arena);
  if (!text || !*text)
    return "a relation has no text";
  array_push(&l->relations, (PhpRelation){.statement = counter(x.statement),
                                          .function = counter(x.function),
                                          .site = x.site,
                                          .outcome = (RelationOutcome)x.outcome,
                                          .kind = x.kind,
                                          .text = text});
  return NULL;
}

const char *close_list_pair(CloseList *l, const unsigned char *item,
                            uint32_t size, Arena *arena) {
  ItemPair x;
  memcpy(&x, item, sizeof x);
  if (x.kind >= PAIR_KINDS)
    return "a pair is of no known kind";
  const char *name = text_behind(item, size, sizeof x, x.length, arena);
  if (name && !*name)
    return "a name is longer than its item";
  array_push(&l->pairs, (PhpPair){.def = counter(x.def),
                                  .use = counter(x.use),
                                  .kind = x.kind,
                                  .name = name});
  return NULL;
}

// --- scripts ----------------------------------------------------------------

static bool find_spot(PhpSpot *spot, const ScriptCounters *scripts, size_t n) {
  size_t lo = 0, hi = n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (scripts[mid].first <= spot->entity)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (!lo || spot->entity - scripts[lo - 1].first >= scripts[lo - 1].n)
    return false;
  spot->script = (uint32_t)lo - 1;
  spot->entity -= (uint32_t)scripts[lo - 1].first;
  return true;
}

void close_list_fill(CloseList *l, const ScriptCounters *scripts, size_t n,
                     PhpRecord *out, Arena *arena) {
  PhpRelation *relations = arena_array(arena, PhpRelation, l->relations.len);
  PhpPair *pairs = arena_array(arena, PhpPair, l->pairs.len);
  for (size_t i = 0; i < l->relations.len; i++) {
    PhpRelation r = l->relations.items[i];
    if (find_spot(&r.statement, scripts, n) &&
        find_spot(&r.function, scripts, n))
      relations[out->nrelations++] = r;
  }
  for (size_t i = 0; i < l->pairs.len; i++) {
    PhpPair p = l->pairs.items[i];
    if (find_spot(&p.def, scripts, n) && find_spot(&p.use, scripts, n))
      pairs[out->npairs++] = p;
  }
  out->relations = relations;
  out->pairs = pairs;
}

void close_list_release(CloseList *l) {
  array_release(&l->relations);
  array_release(&l->pairs);
}
