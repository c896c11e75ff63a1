// What requests to changed scripts came to: see web_memory.h.
#include "try/web/web_memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/fs.h"
#include "util/leb.h"
#include "util/mem.h"
#include "util/str.h"

void web_memory_release(WebMemory *m) {
  for (size_t i = 0; i < m->words.len; i++)
    array_release(&m->words.items[i]);
  for (size_t i = 0; i < m->texts.len; i++)
    free(m->texts.items[i]);
  array_release(&m->words);
  array_release(&m->texts);
  array_release(&m->records);
  array_release(&m->signatures);
  hashmap_release(&m->index);
  hashmap_release(&m->words_index);
  hashmap_release(&m->texts_index);
  *m = (WebMemory){0};
}

// --- adding -----------------------------------------------------------------

static uint64_t hash_words(const PageWords *w) {
  return XXH3_64bits_withSeed(w->items, w->len * sizeof *w->items, w->len);
}

// Takes over the list.
static uint32_t intern_words(WebMemory *m, PageWords *w) {
  uint64_t hash = hash_words(w);
  uint64_t at =
      hashmap_intern(&m->words_index, &hash, sizeof hash, m->words.len);
  if (at == m->words.len)
    array_push(&m->words, *w);
  else
    array_release(w);
  return (uint32_t)at;
}

static uint32_t intern_text(WebMemory *m, const char *text) {
  uint64_t at =
      hashmap_intern(&m->texts_index, text, strlen(text), m->texts.len);
  if (at == m->texts.len)
    array_push(&m->texts, mem_strdup(text));
  return (uint32_t)at;
}

static bool is_new(WebMemory *m, uint64_t key) {
  return hashmap_intern(&m->index, &key, sizeof key, m->records.len) ==
         m->records.len;
}

void web_memory_add(WebMemory *m, uint64_t key, const WebOutcome *o) {
  PageWords words = {0};
  if (!is_new(m, key))
    return;
  for (size_t i = 0; i < o->words.len; i++)
    array_push(&words, o->words.items[i]);
  WebRecord r = {.key = key,
                 .words = intern_words(m, &words),
                 .first = (uint32_t)m->signatures.len,
                 .nsigs = (uint32_t)o->signatures.len,
                 .status = o->status,
                 .stops = o->stops,
                 .size = o->size,
                 .steps = o->steps};
  for (size_t i = 0; i < o->signatures.len; i++)
    array_push(&m->signatures, intern_text(m, o->signatures.items[i]));
  array_push(&m->records, r);
}

bool web_memory_find(const WebMemory *m, uint64_t key, WebOutcome *out,
                     bool *before) {
  uint64_t at;
  if (!hashmap_get(&m->index, &key, sizeof key, &at))
    return false;
  const WebRecord *r = &m->records.items[at];
  const PageWords *w = &m->words.items[r->words];
  *before = at < m->read;
  *out = (WebOutcome){.ran = true,
                      .status = r->status,
                      .size = r->size,
                      .steps = r->steps,
                      .stops = r->stops};
  for (size_t i = 0; i < w->len; i++)
    array_push(&out->words, w->items[i]);
  for (uint32_t i = 0; i < r->nsigs; i++)
    array_push(&out->signatures,
               mem_strdup(m->texts.items[m->signatures.items[r->first + i]]));
  return true;
}

uint64_t web_memory_key(const char *test, const PhpChange *c, bool visitor) {
  const uint64_t words[] = {XXH3_64bits(test, strlen(test)),
                            XXH3_64bits(c->path, strlen(c->path)),
                            c->hash,
                            c->offset,
                            c->length,
                            XXH3_64bits(c->with, strlen(c->with)),
                            visitor};
  return XXH3_64bits(words, sizeof words);
}

// --- writing ----------------------------------------------------------------

static void put_words(Str *out, const PageWords *w) {
  uint64_t last = 0;
  leb_put(out, w->len);
  for (size_t i = 0; i < w->len; last = w->items[i++])
    leb_put(out, w->items[i] - last);
}

static void put_record(Str *out, const WebMemory *m, const WebRecord *r) {
  leb_put(out, r->key);
  leb_put(out, r->words);
  leb_put(out, (uint64_t)r->status);
  leb_put(out, r->stops);
  leb_put(out, r->size);
  leb_put(out, r->steps);
  leb_put(out, r->nsigs);
  for (uint32_t i = 0; i < r->nsigs; i++)
    leb_put(out, m->signatures.items[r->first + i]);
}

int web_memory_write(const WebMemory *m, const char *path, uint64_t app,
                     Err *err) {
  const uint64_t head[2] = {WEB_MEMORY_MAGIC, app};
  Str text = {0};
  str_addn(&text, head, sizeof head);
  leb_put(&text, m->words.len);
  for (size_t i = 0; i < m->words.len; i++)
    put_words(&text, &m->words.items[i]);
  leb_put(&text, m->texts.len);
  for (size_t i = 0; i < m->texts.len; i++) {
    size_t n = strlen(m->texts.items[i]);
    leb_put(&text, n);
    str_addn(&text, m->texts.items[i], n);
  }
  leb_put(&text, m->records.len);
  for (size_t i = 0; i < m->records.len; i++)
    put_record(&text, m, &m->records.items[i]);
  int rc = fs_write(path, text.data, text.len, err);
  str_release(&text);
  return rc;
}

// --- reading ----------------------------------------------------------------

typedef struct {
  const unsigned char *at, *end;
  bool bad; // damaged: everything read from now on is 0
} MemoryReader;

static uint64_t get(MemoryReader *r, uint64_t most) {
  uint64_t v = 0;
  if (r->bad || !leb_get(&r->at, r->end, &v) || v > most)
    r->bad = true;
  return r->bad ? 0 : v;
}

// How many things of at least a byte follow.
static size_t get_count(MemoryReader *r) {
  return get(r, (uint64_t)(r->end - r->at));
}

// As an index below `n`.
static uint32_t get_index(MemoryReader *r, size_t n) {
  if (!n)
    r->bad = true;
  return (uint32_t)get(r, n ? n - 1 : 0);
}

static void get_words(MemoryReader *r, WebMemory *m) {
  PageWords words = {0};
  uint64_t last = 0;
  for (size_t n = get_count(r); n && !r->bad; n--) {
    last += get(r, UINT64_MAX - last);
    array_push(&words, last);
  }
  // Two that are the same are one: what refers to them would be wrong.
  if (intern_words(m, &words) + 1 != m->words.len)
    r->bad = true;
}

static void get_text(MemoryReader *r, WebMemory *m) {
  size_t n = get_count(r);
  r->bad |= n && memchr(r->at, '\0', n);
  char *text = mem_printf("%.*s", r->bad ? 0 : (int)n, (const char *)r->at);
  r->at += r->bad ? 0 : n;
  if (intern_text(m, text) + 1 != m->texts.len)
    r->bad = true;
  free(text);
}

static void get_record(MemoryReader *r, WebMemory *m) {
  WebRecord v = {.first = (uint32_t)m->signatures.len};
  v.key = get(r, UINT64_MAX);
  v.words = get_index(r, m->words.len);
  v.status = (int)get(r, INT_MAX);
  v.stops = (uint8_t)get(r, RUN_STOPS - 1);
  v.size = get(r, SIZE_MAX);
  v.steps = get(r, UINT64_MAX);
  v.nsigs = (uint32_t)get_count(r);
  for (uint32_t i = 0; i < v.nsigs && !r->bad; i++)
    array_push(&m->signatures, get_index(r, m->texts.len));
  r->bad |= !is_new(m, v.key);
  if (!r->bad)
    array_push(&m->records, v);
}

int web_memory_parse(WebMemory *m, const void *data, size_t size,
                     uint64_t app) {
  uint64_t head[2];
  MemoryReader r = {.at = data, .end = (const unsigned char *)data + size};
  if (size < sizeof head)
    return -1;
  memcpy(head, data, sizeof head);
  r.at += sizeof head;
  if (head[0] != WEB_MEMORY_MAGIC)
    return -1;
  m->state = head[1] == app ? MEMORY_TAKEN : MEMORY_OTHER;
  if (m->state == MEMORY_OTHER)
    return 0;
  for (size_t n = get_count(&r); n && !r.bad; n--)
    get_words(&r, m);
  for (size_t n = get_count(&r); n && !r.bad; n--)
    get_text(&r, m);
  for (size_t n = get_count(&r); n && !r.bad; n--)
    get_record(&r, m);
  m->read = m->records.len;
  return r.bad || r.at != r.end ? -1 : 0;
}

int web_memory_read(WebMemory *m, const char *path, uint64_t app, Err *err) {
  Str text = {0};
  int rc = 0;
  if (fs_exists(path)) {
    rc = fs_read(path, 0, &text, err);
    if (!rc && web_memory_parse(m, str_text(&text), text.len, app))
      rc = err_set(err, "%s is damaged; remove it", path);
  }
  str_release(&text);
  return rc;
}
