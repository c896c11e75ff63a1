// A string that grows. Always NUL-terminated once anything was added;
// str_text() gives "" for an empty one.
#ifndef CULPRIT_UTIL_STR_H
#define CULPRIT_UTIL_STR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  char *data;
  size_t len, cap;
} Str;

void str_add(Str *s, const char *text);
void str_addn(Str *s, const void *bytes, size_t n);
void str_addc(Str *s, char c);
void str_addf(Str *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void str_clear(Str *s); // keeps the memory
// Each number becomes 0, where only the shape of a text counts: points[17].x is
// points[0].x.
void str_squeeze_digits(Str *s);
void str_release(Str *s);
char *str_take(Str *s); // caller frees; s is empty afterwards
const char *str_text(const Str *s);

bool text_starts(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);
// The value of a hexadecimal digit; -1: it is none.
int text_hex(char c);
// Does it hold one of the words, in capitals or not? The list ends with NULL.
bool text_holds_any(const char *text, const char *const *words);
// Is it one of the words, does it start with one of them? Lists end with NULL.
bool text_is_one_of(const char *text, const char *const *words);
bool text_starts_one_of(const char *text, const char *const *words);
// Does `function` stand in it as a whole name before a parenthesis?
bool text_calls(const char *text, const char *function);

// Endings that agree with a number: "1 run fails", "2 runs fail" is
// "%zu run%s fail%s", n, plural(n), verb_s(n).
const char *plural(size_t n); // "" for 1, else "s"
const char *verb_s(size_t n); // "s" for 1, else ""

// The edit distance: how many letters to insert, delete, replace or swap with
// their neighbour to turn one word into the other. For words of more than 63
// letters, the longer length.
size_t text_distance(const char *a, const char *b);
// Is `word` so close to `known` that it may be a typing error?
bool text_is_slip(const char *word, const char *known);

#endif
