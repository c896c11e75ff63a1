// Memory that a trace has shown: see seen.h.
#include "replay/seen.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/hashmap.h"
#include "util/mem.h"

enum { PAGE = 4096, RECENT = 64 };

typedef struct {
  uint64_t number;
  uint8_t bytes[PAGE];
  uint8_t known[PAGE / 8]; // a bit per byte
} SeenPage;

struct SeenMemory {
  ARRAY(SeenPage *) pages;
  Hashmap by_number;        // -> place in pages
  SeenPage *recent[RECENT]; // by number
};

SeenMemory *seen_new(void) { return mem_alloc(sizeof(SeenMemory)); }

void seen_free(SeenMemory *s) {
  if (!s)
    return;
  for (size_t i = 0; i < s->pages.len; i++)
    free(s->pages.items[i]);
  array_release(&s->pages);
  hashmap_release(&s->by_number);
  free(s);
}

static SeenPage *find(SeenMemory *s, uint64_t number) {
  SeenPage *p = s->recent[number % RECENT];
  if (p && p->number == number)
    return p;
  uint64_t i;
  if (!hashmap_get(&s->by_number, &number, sizeof number, &i))
    return NULL;
  return s->recent[number % RECENT] = s->pages.items[i];
}

static SeenPage *need(SeenMemory *s, uint64_t number) {
  SeenPage *p = find(s, number);
  if (p)
    return p;
  p = mem_alloc(sizeof *p);
  p->number = number;
  hashmap_put(&s->by_number, &number, sizeof number, s->pages.len);
  array_push(&s->pages, p);
  return p;
}

static void put(SeenPage *p, unsigned at, uint8_t byte) {
  p->bytes[at] = byte;
  p->known[at / 8] |= (uint8_t)(1 << at % 8);
}

void seen_show(SeenMemory *s, uint64_t at, const uint8_t *bytes, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    put(need(s, (at + i) / PAGE), (at + i) % PAGE, bytes[i]);
}

void seen_store(SeenMemory *s, uint64_t at, unsigned n, uint64_t value) {
  for (unsigned i = 0; i < n; i++) {
    SeenPage *p = find(s, (at + i) / PAGE);
    if (p)
      put(p, (at + i) % PAGE, (uint8_t)(value >> 8 * i));
  }
}

void seen_fill(SeenMemory *s, uint64_t at, uint64_t n, uint8_t value) {
  for (uint64_t i = 0; i < n;) {
    uint64_t left = PAGE - (at + i) % PAGE, now = n - i < left ? n - i : left;
    SeenPage *p = find(s, (at + i) / PAGE);
    for (uint64_t k = 0; p && k < now; k++)
      put(p, (at + i + k) % PAGE, value);
    i += now;
  }
}

bool seen_load(SeenMemory *s, uint64_t at, unsigned n, uint64_t *value) {
  uint64_t v = 0;
  for (unsigned i = 0; i < n; i++) {
    const SeenPage *p = find(s, (at + i) / PAGE);
    unsigned k = (at + i) % PAGE;
    if (!p || !(p->known[k / 8] >> k % 8 & 1))
      return false;
    v |= (uint64_t)p->bytes[k] << 8 * i;
  }
  *value = v;
  return true;
}
