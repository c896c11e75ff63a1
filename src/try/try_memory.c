// What experiments came to: see try_memory.h.
#include "try/try_memory.h"

#include <string.h>
#include <xxhash.h>

#include "util/fs.h"
#include "util/str.h"

void try_memory_release(TryMemory *m) {
  array_release(&m->records);
  hashmap_release(&m->index);
  *m = (TryMemory){0};
}

static void add_record(TryMemory *m, const TryRecord *r) {
  if (hashmap_intern(&m->index, &r->key, sizeof r->key, m->records.len) ==
      m->records.len)
    array_push(&m->records, *r);
}

int try_memory_parse(TryMemory *m, const void *data, size_t size,
                     uint64_t build) {
  const unsigned char *at = data;
  uint64_t head[2];
  if (size < sizeof head || (size - sizeof head) % sizeof(TryRecord))
    return -1;
  memcpy(head, at, sizeof head);
  if (head[0] != MEMORY_MAGIC)
    return -1;
  m->state = head[1] == build ? MEMORY_TAKEN : MEMORY_OTHER;
  for (at += sizeof head;
       m->state == MEMORY_TAKEN && at < (const unsigned char *)data + size;
       at += sizeof(TryRecord)) {
    TryRecord r;
    memcpy(&r, at, sizeof r);
    if (r.passes > 1 || r.stops >= RUN_STOPS || r.end > END_UNSTARTED)
      return -1;
    add_record(m, &r);
  }
  m->read = m->records.len;
  return 0;
}

int try_memory_read(TryMemory *m, const char *path, uint64_t build, Err *err) {
  Str text = {0};
  int rc = 0;
  if (fs_exists(path)) {
    rc = fs_read(path, 0, &text, err);
    if (!rc && try_memory_parse(m, str_text(&text), text.len, build))
      rc = err_set(err, "%s is damaged; remove it", path);
  }
  str_release(&text);
  return rc;
}

int try_memory_write(const TryMemory *m, const char *path, uint64_t build,
                     Err *err) {
  const uint64_t head[2] = {MEMORY_MAGIC, build};
  Str text = {0};
  str_addn(&text, head, sizeof head);
  if (m->records.len)
    str_addn(&text, m->records.items,
             m->records.len * sizeof *m->records.items);
  int rc = fs_write(path, text.data, text.len, err);
  str_release(&text);
  return rc;
}

uint64_t try_memory_key(const Test *test, const Experiment *e) {
  struct {
    unsigned char unit[16];
    uint64_t site, change;
    int64_t a, b;
  } what;
  memset(&what, 0, sizeof what);
  if (e) {
    memcpy(what.unit, e->unit.bytes, sizeof what.unit);
    what.site = e->site;
    what.change = (uint64_t)e->change;
    what.a = e->a;
    what.b = e->b;
  }
  const char *line = test->line ? test->line : "";
  uint64_t name = XXH3_64bits(test->name, strlen(test->name));
  return XXH3_64bits_withSeed(&what, sizeof what,
                              XXH3_64bits_withSeed(line, strlen(line), name));
}

bool try_memory_find(const TryMemory *m, uint64_t key, TryResult *out,
                     bool *before) {
  uint64_t at;
  if (!hashmap_get(&m->index, &key, sizeof key, &at))
    return false;
  const TryRecord *r = &m->records.items[at];
  *before = at < m->read;
  *out = (TryResult){.ran = true,
                     .passes = r->passes,
                     .end = (End)r->end,
                     .stops = r->stops,
                     .steps = r->steps,
                     .executed = r->executed,
                     .changed = r->changed,
                     .relations = r->relations};
  return true;
}

void try_memory_add(TryMemory *m, uint64_t key, const TryResult *r) {
  TryRecord record = {.key = key,
                      .steps = r->steps,
                      .executed = r->executed,
                      .changed = r->changed,
                      .relations = r->relations,
                      .passes = r->passes,
                      .stops = r->stops,
                      .end = (uint8_t)r->end};
  add_record(m, &record);
}
