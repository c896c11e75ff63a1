// A hash table from words to numbers: chained, growing and shrinking.

#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

enum { TABLE_MIN = 4 }; // fewest buckets

typedef struct Entry Entry;
struct Entry {
  Entry *next; // in the same bucket
  char *key;   // owned by the entry
  unsigned hash;
  int value;
};

typedef struct {
  Entry **buckets;
  int bucket_count; // a power of two
  int len;
} Table;

void table_init(Table *t);
void table_release(Table *t); // init or nothing may follow
void table_clear(Table *t);

// True if the key is new.
bool table_put(Table *t, const char *key, int value);

// Adds to the value of the key, which starts at 0; the sum.
int table_add(Table *t, const char *key, int amount);
bool table_delete(Table *t, const char *key);
const Entry *table_find(const Table *t, const char *key);

// All entries by key; the caller frees the array, not the entries.
const Entry **table_sorted(const Table *t);

// Adds the values of `other` to those of `t`; `other` is empty afterwards.
void table_merge(Table *t, Table *other);

// NULL, or what is wrong with buckets or length.
const char *table_check(const Table *t);

int table_longest(const Table *t); // entries of the fullest bucket
int table_live(void);              // entries allocated and not freed

#endif
