// The words of a page: see page_words.h.
#include "try/web/page_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static bool ends_word(char c) { return isspace((unsigned char)c) || c == '<'; }

static bool is_sign(char c) { return c && strchr(".,;:!?()", c) != NULL; }

// Bytes of UTF-8 are letters.
static bool is_letter(char c) {
  return (c & 0x80) || isalpha((unsigned char)c);
}

static void add_word(const char *word, size_t n, PageWords *out) {
  while (n && is_sign(word[n - 1]))
    n--;
  while (n && is_sign(*word)) {
    word++;
    n--;
  }
  for (size_t i = 0; i < n; i++)
    if (!is_letter(word[i]))
      return;
  if (n)
    array_push(out, XXH3_64bits(word, n));
}

static int by_hash(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void page_words(const char *page, size_t size, PageWords *out) {
  for (size_t i = 0; i < size;) {
    size_t from = i;
    if (page[i] == '<') {
      const char *end = memchr(page + i, '>', size - i);
      i = end ? (size_t)(end - page) + 1 : i + 1;
      continue;
    }
    while (i < size && !ends_word(page[i]))
      i++;
    add_word(page + from, i - from, out);
    while (i < size && isspace((unsigned char)page[i]))
      i++;
  }
  if (out->len)
    qsort(out->items, out->len, sizeof *out->items, by_hash);
}

bool page_words_kept(const PageWords *base, const PageWords *page) {
  size_t k = 0;
  for (size_t i = 0; i < base->len; i++) {
    while (k < page->len && page->items[k] < base->items[i])
      k++;
    if (k == page->len || page->items[k++] != base->items[i])
      return false;
  }
  return true;
}
