// Growing arrays of any type.
//
//   ARRAY(int) a = {0};
//   array_push(&a, 7);
//   for (size_t i = 0; i < a.len; i++) use(a.items[i]);
//   array_release(&a);
#ifndef CULPRIT_UTIL_ARRAY_H
#define CULPRIT_UTIL_ARRAY_H

#include <stdlib.h>

#include "util/mem.h"

#define ARRAY(T)                                                               \
  struct {                                                                     \
    T *items;                                                                  \
    size_t len, cap;                                                           \
  }

// Makes room for `n` more items.
#define array_reserve(a, n)                                                    \
  do {                                                                         \
    size_t need_ = (a)->len + (n);                                             \
    if (need_ > (a)->cap) {                                                    \
      size_t cap_ = (a)->cap ? (a)->cap * 2 : 8;                               \
      (a)->cap = cap_ < need_ ? need_ : cap_;                                  \
      (a)->items = mem_realloc((a)->items, (a)->cap * sizeof *(a)->items);     \
    }                                                                          \
  } while (0)

#define array_push(a, ...)                                                     \
  do {                                                                         \
    array_reserve(a, 1);                                                       \
    (a)->items[(a)->len++] = (__VA_ARGS__);                                    \
  } while (0)

typedef ARRAY(const char *) Texts;

#define array_last(a) ((a)->items[(a)->len - 1])

#define array_release(a)                                                       \
  do {                                                                         \
    free((a)->items);                                                          \
    (a)->items = NULL;                                                         \
    (a)->len = (a)->cap = 0;                                                   \
  } while (0)

// Appends the items of a list that ends with NULL.
#define array_push_all(a, list)                                                \
  do                                                                           \
    for (typeof(&*(list)) item_ = (list); *item_; item_++)                     \
      array_push((a), *item_);                                                 \
  while (0)

#endif
