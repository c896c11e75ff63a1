// The table: an entry hangs in bucket hash % bucket_count. The table doubles
// when it has more than three entries for four buckets, and halves when it
// has fewer than one for eight.

#include "table.h"

#include <stdlib.h>
#include <string.h>

static int live;

static unsigned hash_of(const char *key) {
  unsigned h = 5381;
  for (; *key; key++)
    h = h * 33 ^ (unsigned char)*key;
  return h;
}

static Entry **buckets_new(int count) {
  Entry **buckets = calloc((size_t)count, sizeof *buckets);
  if (!buckets)
    abort();
  return buckets;
}

static Entry *entry_new(const char *key, unsigned hash, int value) {
  size_t size = strlen(key) + 1;
  Entry *e = malloc(sizeof *e);
  if (!e || !(e->key = malloc(size)))
    abort();
  memcpy(e->key, key, size);
  e->next = NULL;
  e->hash = hash;
  e->value = value;
  live++;
  return e;
}

static void entry_free(Entry *e) {
  free(e->key);
  free(e);
  live--;
}

int table_live(void) { return live; }

void table_init(Table *t) {
  t->bucket_count = TABLE_MIN;
  t->buckets = buckets_new(TABLE_MIN);
  t->len = 0;
}

void table_release(Table *t) {
  for (int i = 0; i < t->bucket_count; i++) {
    Entry *e = t->buckets[i];
    while (e) {
      Entry *next = e->next;
      entry_free(e);
      e = next;
    }
  }
  free(t->buckets);
}

void table_clear(Table *t) {
  table_release(t);
  table_init(t);
}

static Entry **bucket_of(const Table *t, unsigned hash) {
  return &t->buckets[hash & (unsigned)(t->bucket_count - 1)];
}

static void resize(Table *t, int count) {
  Entry **old = t->buckets;
  int old_count = t->bucket_count;
  t->buckets = buckets_new(count);
  t->bucket_count = count;
  for (int i = 0; i < old_count; i++) {
    Entry *e = old[i];
    while (e) {
      Entry *next = e->next;
      Entry **to = bucket_of(t, e->hash);
      e->next = *to;
      *to = e;
      e = next;
    }
  }
  free(old);
}

// The link that points to the entry of the key, or to the NULL at the end.
static Entry **find_link(const Table *t, const char *key, unsigned hash) {
  Entry **link = bucket_of(t, hash);
  while (*link && ((*link)->hash != hash || strcmp((*link)->key, key) != 0))
    link = &(*link)->next;
  return link;
}

const Entry *table_find(const Table *t, const char *key) {
  return *find_link(t, key, hash_of(key));
}

// The entry of the key, made with value 0 if need be.
static Entry *find_or_make(Table *t, const char *key, bool *made) {
  unsigned hash = hash_of(key);
  Entry **link = find_link(t, key, hash);
  *made = !*link;
  if (*link)
    return *link;
  Entry *e = entry_new(key, hash, 0);
  *link = e;
  if (++t->len > t->bucket_count * 3 / 4)
    resize(t, t->bucket_count * 2);
  return e;
}

bool table_put(Table *t, const char *key, int value) {
  bool made;
  find_or_make(t, key, &made)->value = value;
  return made;
}

int table_add(Table *t, const char *key, int amount) {
  bool made;
  return find_or_make(t, key, &made)->value += amount;
}

bool table_delete(Table *t, const char *key) {
  Entry **link = find_link(t, key, hash_of(key));
  Entry *e = *link;
  if (!e)
    return false;
  *link = e->next;
  entry_free(e);
  t->len--;
  if (t->bucket_count > TABLE_MIN && t->len < t->bucket_count / 8)
    resize(t, t->bucket_count / 2);
  return true;
}

static int by_key(const void *a, const void *b) {
  const Entry *const *x = a, *const *y = b;
  return strcmp((*x)->key, (*y)->key);
}

const Entry **table_sorted(const Table *t) {
  const Entry **all = malloc(((size_t)t->len + 1) * sizeof *all);
  int n = 0;
  if (!all)
    abort();
  for (int i = 0; i < t->bucket_count; i++)
    for (const Entry *e = t->buckets[i]; e; e = e->next)
      all[n++] = e;
  qsort(all, (size_t)n, sizeof *all, by_key);
  return all;
}

void table_merge(Table *t, Table *other) {
  for (int i = 0; i < other->bucket_count; i++)
    for (const Entry *e = other->buckets[i]; e; e = e->next)
      table_add(t, e->key, e->value);
  table_clear(other);
}

const char *table_check(const Table *t) {
  int len = 0;
  for (int i = 0; i < t->bucket_count; i++) {
    for (Entry *e = t->buckets[i]; e; e = e->next) {
      if (bucket_of(t, e->hash) != &t->buckets[i])
        return "entry in the wrong bucket";
      if (*find_link(t, e->key, e->hash) != e)
        return "key comes twice";
      len++;
    }
  }
  if (len != t->len)
    return "length is wrong";
  if (len > t->bucket_count * 3 / 4)
    return "too full";
  return NULL;
}

int table_longest(const Table *t) {
  int longest = 0;
  for (int i = 0; i < t->bucket_count; i++) {
    int n = 0;
    for (const Entry *e = t->buckets[i]; e; e = e->next)
      n++;
    if (n > longest)
      longest = n;
  }
  return longest;
}
