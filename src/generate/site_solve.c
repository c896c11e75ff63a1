// Input that decides comparisons the other way: see site_solve.h.
#include "generate/site_solve.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "php/record_format.h"

enum { ABSENT_MOST = 40, CONTAINED_LEAST = 3 };

// --- outcomes ---------------------------------------------------------------

static void outcome_key(const PhpCompare *c, Str *key) {
  str_addf(key, "%s:%u:%u:%s", c->file, c->line, c->kind, c->right);
}

void seen_add(Seen *s, const PhpCompare *c) {
  Str key = {0};
  uint64_t bits = 0;
  outcome_key(c, &key);
  hashmap_get(&s->outcomes, key.data, key.len, &bits);
  hashmap_put(&s->outcomes, key.data, key.len, bits | 1u << c->held);
  str_release(&key);
}

bool seen_one_way(const Seen *s, const PhpCompare *c) {
  Str key = {0};
  uint64_t bits = 0;
  outcome_key(c, &key);
  hashmap_get(&s->outcomes, key.data, key.len, &bits);
  str_release(&key);
  return bits != 3;
}

void seen_release(Seen *s) { hashmap_release(&s->outcomes); }

// --- values -----------------------------------------------------------------

typedef struct {
  const char *text;
  size_t len;
} Piece;

static Piece trim(const char *text) {
  size_t n = strlen(text);
  while (n && isspace((unsigned char)*text))
    text++, n--;
  while (n && isspace((unsigned char)text[n - 1]))
    n--;
  return (Piece){text, n};
}

static bool is_same(const char *a, const char *b) {
  Piece x = trim(a), y = trim(b);
  return x.len == y.len && !strncasecmp(x.text, y.text, x.len);
}

// The compared text is made of the value and something around it: what the
// value must be so that all of it is `want`; NULL: nothing will do.
static const char *inside(const char *text, const char *value, const char *want,
                          Arena *arena) {
  Piece v = trim(value);
  const char *core = arena_strndup(arena, v.text, v.len);
  const char *at = v.len < CONTAINED_LEAST ? NULL : strcasestr(text, core);
  if (!at)
    return NULL;
  size_t before = (size_t)(at - text), after = strlen(at + v.len);
  size_t n = strlen(want);
  if (n < before + after || strncmp(want, text, before) != 0 ||
      strcmp(want + n - after, at + v.len) != 0)
    return NULL;
  return arena_strndup(arena, want + before, n - before - after);
}

typedef struct {
  const char *items[4];
  size_t len;
} Values;

static void add_value(Values *v, const char *value) {
  if (v->len < sizeof v->items / sizeof *v->items)
    v->items[v->len++] = value;
}

static void add_neighbours(Values *v, const char *bound, Arena *arena) {
  char *end;
  errno = 0;
  long n = strtol(bound, &end, 10);
  add_value(v, bound);
  if (end == bound || *end || errno || n == LONG_MIN || n == LONG_MAX)
    return;
  add_value(v, arena_printf(arena, "%ld", n - 1));
  add_value(v, arena_printf(arena, "%ld", n + 1));
}

// What to try instead of `p`, whose value the comparison saw as c->left.
static void find_values(const PhpCompare *c, const Param *p, Values *v,
                        Arena *arena) {
  switch ((CompareKind)c->kind) {
  case COMPARE_EQUAL:
    if (c->held)
      add_value(v, ask_guess(p->name, false, arena));
    else
      add_value(v, c->right);
    break;
  case COMPARE_LESS:
  case COMPARE_GREATER:
    add_neighbours(v, c->right, arena);
    break;
  case COMPARE_STARTS:
    add_value(v, c->right);
    add_value(v, arena_printf(arena, "%s%s", c->right, p->value));
    break;
  case COMPARE_CONTAINS:
  case COMPARE_ENDS:
    add_value(v, c->right);
    add_value(v, arena_printf(arena, "%s%s", p->value, c->right));
    break;
  case COMPARE_ABSENT:
  case COMPARE_KINDS:
    break;
  }
}

void solve_compare(const PhpCompare *c, const Ask *a, Asks *out, Arena *arena) {
  if (c->kind == COMPARE_ABSENT)
    return;
  for (size_t i = 0; i < a->nparams; i++) {
    const Param *p = &a->params[i];
    const char *part;
    Values v = {0};
    if (!trim(p->value).len) // could be any of the empty ones
      continue;
    if (is_same(p->value, c->left))
      find_values(c, p, &v, arena);
    else if ((part = inside(c->left, p->value, c->right, arena)))
      add_value(&v, part);
    for (size_t k = 0; k < v.len; k++)
      array_push(out, ask_with(a, p->place, p->name,
                               arena_strdup(arena, v.items[k]), arena));
  }
}

// --- keys -------------------------------------------------------------------

// False: the array is none that a visitor fills.
static bool place_of(const PhpCompare *c, const Ask *a, ParamPlace *place) {
  if (c->kind != COMPARE_ABSENT || !*c->right)
    return false;
  if (!strcmp(c->left, "_GET"))
    *place = IN_QUERY;
  else if (!strcmp(c->left, "_POST"))
    *place = IN_BODY;
  else if (!strcmp(c->left, "_REQUEST"))
    *place = a->post ? IN_BODY : IN_QUERY;
  else
    *place = IN_COOKIE;
  return !strcmp(c->left, "_COOKIE") || *place != IN_COOKIE;
}

void solve_absent(const PhpRecord *record, const Ask *a, Asks *out,
                  Arena *arena) {
  Ask all = *a;
  size_t n = 0;
  ParamPlace place;
  for (size_t i = 0; i < record->ncompares && n < ABSENT_MOST; i++) {
    const PhpCompare *c = &record->compares[i];
    if (!place_of(c, a, &place))
      continue;
    const char *name = arena_strdup(arena, c->right);
    const char *value = ask_guess(name, false, arena);
    all = ask_with(&all, place, name, value, arena);
    array_push(out, ask_with(a, place, name, value, arena));
    n++;
  }
  if (n > 1)
    array_push(out, all);
}
