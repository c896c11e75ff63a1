// Models of mem* and str*: see models.h.
//
// Bytes move with their expressions. Lengths and places that a function found
// are kept concrete; what it found out about each byte on the way is a
// condition of its own: one ITE over all bytes would couple them all.
#include <ctype.h>
#include <string.h>

#include "replay/models.h"
#include "replay/models_text.h"

enum { LONGEST = 1 << 24 };

static bool has(const char *name, const char *part) {
  return strstr(name, part) != NULL;
}

// --- moving -----------------------------------------------------------------

bool model_memcpy(Replay *r, ModelCall *c) {
  uint64_t to = model_fixed(r, c, 0), from = model_fixed(r, c, 1);
  uint64_t n = model_fixed(r, c, 2);
  if (n > 1 << 28)
    return false;
  if (has(c->name, "bcopy"))
    shadow_copy(r->shadow, from, to, n);
  else
    shadow_copy(r->shadow, to, from, n);
  return true;
}

bool model_memset(Replay *r, ModelCall *c) {
  uint64_t to = model_fixed(r, c, 0);
  bool zero = has(c->name, "bzero");
  IrValue byte = zero ? (IrValue){0, 0} : model_arg(c, 1);
  uint64_t n = model_fixed(r, c, zero ? 1 : 2);
  if (n > 1 << 28)
    return false;
  Expr e = byte.expr ? replay_bits(r, byte, 8) : 0;
  shadow_fill(r->shadow, to, n, (uint8_t)byte.value, e);
  return true;
}

bool model_strlen(Replay *r, ModelCall *c) {
  uint64_t at = model_fixed(r, c, 0), n;
  uint64_t most = has(c->name, "nlen") ? model_fixed(r, c, 1) : LONGEST;
  return model_string(r, at, most, &n) && n == c->result;
}

// strcpy, stpcpy, strncpy, stpncpy and their checking variants
bool model_strcpy(Replay *r, ModelCall *c) {
  uint64_t to = model_fixed(r, c, 0), from = model_fixed(r, c, 1), n;
  bool bounded = has(c->name, "ncpy");
  uint64_t most = bounded ? model_fixed(r, c, 2) : LONGEST;
  if (most > LONGEST || !model_string(r, from, most, &n))
    return false;
  shadow_copy(r->shadow, to, from, n < most ? n + 1 : n);
  if (bounded && n < most)
    shadow_fill(r->shadow, to + n, most - n, 0, 0);
  return true;
}

bool model_strcat(Replay *r, ModelCall *c) {
  uint64_t to = model_fixed(r, c, 0), from = model_fixed(r, c, 1), have, n;
  uint64_t most = has(c->name, "ncat") ? model_fixed(r, c, 2) : LONGEST;
  if (!model_string(r, to, LONGEST, &have) ||
      !model_string(r, from, most < LONGEST ? most : LONGEST, &n))
    return false;
  shadow_copy(r->shadow, to + have, from, n);
  shadow_store(r->shadow, to + have + n, 1, 0, 0);
  return true;
}

bool model_dup(Replay *r, ModelCall *c) {
  uint64_t from = model_fixed(r, c, 0), n;
  uint64_t most = has(c->name, "ndup") ? model_fixed(r, c, 1) : LONGEST;
  if (!model_string(r, from, most, &n))
    return false;
  if (!c->result)
    return true;
  replay_allocated(r, c->result, n + 1);
  shadow_copy(r->shadow, c->result, from, n);
  shadow_store(r->shadow, c->result + n, 1, 0, 0);
  return true;
}

// --- comparing --------------------------------------------------------------

typedef struct {
  uint64_t a, b, most;
  bool text; // ends at NUL
  bool fold; // case does not matter
} ByteComparison;

// A byte as it is compared.
static bool side(Replay *r, uint64_t base, uint64_t i, bool fold,
                 uint8_t *value, Expr *e) {
  *value = 0;
  *e = i ? replay_slack(r, base, base + i) : 0;
  if (!*e && !model_byte(r, base + i, value, e))
    return false;
  bool symbolic = *e != 0;
  *value = fold ? (uint8_t)tolower(*value) : *value;
  if (!symbolic) {
    *e = expr_const(r->pool, 8, *value);
  } else if (fold) {
    Expr up = expr_sub(r->pool, *e, expr_const(r->pool, 8, 'A'));
    *e = expr_ite(r->pool, expr_ult(r->pool, up, expr_const(r->pool, 8, 26)),
                  expr_add(r->pool, *e, expr_const(r->pool, 8, 32)), *e);
  }
  return true;
}

// How many places can be compared: up to an end that cannot move.
static uint64_t comparable(Replay *r, const ByteComparison *k) {
  uint64_t i;
  for (i = 0; i < k->most && i < LONGEST; i++) {
    uint8_t x, y;
    Expr a, b;
    if (!side(r, k->a, i, k->fold, &x, &a) ||
        !side(r, k->b, i, k->fold, &y, &b))
      return i;
    bool fixed = expr_is_const(r->pool, a) && expr_is_const(r->pool, b);
    bool ends = (x == 0 && expr_is_const(r->pool, a)) ||
                (y == 0 && expr_is_const(r->pool, b));
    if ((fixed && x != y) || (k->text && ends))
      return i + 1;
  }
  return i;
}

// The result has the sign of the first difference; its size is unspecified. So
// it is one choice of three values, decided from the last place
// to the first: "equal" is one question.
bool model_compare(Replay *r, ModelCall *c) {
  ExprPool *p = r->pool;
  ByteComparison k = {model_fixed(r, c, 0), model_fixed(r, c, 1), LONGEST,
                      has(c->name, "str"), has(c->name, "case")};
  if (has(c->name, "ncmp") || has(c->name, "ncase") || !k.text)
    k.most = model_fixed(r, c, 2);
  uint64_t n = comparable(r, &k);
  int32_t result = (int32_t)c->result;
  if (c->width != 32)
    return false;
  if (result)
    replay_note_text(r, k.a, k.b, k.most, k.text);
  // Behind what can be compared: as it was, or equal if nothing is left.
  bool rest = n < k.most && !k.text;
  Expr eq = expr_bool(p, n == k.most || result == 0),
       lt = expr_bool(p, rest && result < 0);
  for (uint64_t i = n; i-- > 0;) {
    uint8_t x, y;
    Expr a, b;
    side(r, k.a, i, k.fold, &x, &a);
    side(r, k.b, i, k.fold, &y, &b);
    Expr same = expr_eq(p, a, b);
    bool may_end =
        k.text && !(expr_is_const(p, a) && x) && !(expr_is_const(p, b) && y);
    Expr ends =
        may_end ? expr_eq(p, a, expr_const(p, 8, 0)) : expr_bool(p, false);
    lt = expr_or(p, expr_ult(p, a, b),
                 expr_and(p, expr_and(p, same, expr_not(p, ends)), lt));
    eq = expr_and(p, same, expr_or(p, ends, eq));
  }
  uint32_t less = result < 0 ? (uint32_t)result : UINT32_MAX;
  uint32_t more = result > 0 ? (uint32_t)result : 1;
  Expr e = expr_ite(
      p, eq, expr_const(p, 32, 0),
      expr_ite(p, lt, expr_const(p, 32, less), expr_const(p, 32, more)));
  return model_result(r, c, e);
}

// --- looking for ------------------------------------------------------------

// The place of a byte from the input in a constant text: strchr(" \t\n", c).
static bool find_in_constant(Replay *r, ModelCall *c, uint64_t at,
                             IrValue wanted) {
  enum { MOST = 64 };
  ExprPool *p = r->pool;
  uint8_t text[MOST];
  uint64_t n = 0;
  for (; n < MOST; n++) {
    Expr e;
    if (!model_byte(r, at + n, &text[n], &e) || e)
      return false;
    if (!text[n])
      break;
  }
  if (n == MOST)
    return false;
  uint64_t places[256] = {0};
  for (uint64_t i = n + 1; i-- > 0;)
    places[text[i]] = at + i;
  ExprTable t = expr_new_table(p, 64, places, 256);
  return model_result(r, c, expr_table(p, t, replay_bits(r, wanted, 8)));
}

// What was found out about the byte at `at`. -1: it is not known; else whether
// it ends the search.
static int look_at(Replay *r, uint64_t at, uint8_t wanted, bool text) {
  ExprPool *p = r->pool;
  uint8_t b;
  Expr e;
  if (!model_byte(r, at, &b, &e))
    return -1;
  if (e) {
    replay_event(r, PATH_LIBC, expr_eq(p, e, expr_const(p, 8, wanted)),
                 b == wanted);
    if (text && wanted)
      replay_event(r, PATH_LIBC, expr_nonzero(p, e), b != 0);
  }
  return b == wanted || (text && !b);
}

// strchr, strchrnul, strrchr, memchr, rawmemchr, memrchr: what each byte on the
// way was, and was not.
bool model_chr(Replay *r, ModelCall *c) {
  uint64_t at = model_fixed(r, c, 0), most = LONGEST;
  IrValue wanted = model_arg(c, 1);
  bool text = !has(c->name, "mem");
  if (wanted.expr && text && !has(c->name, "rrchr") && !has(c->name, "nul") &&
      find_in_constant(r, c, at, wanted))
    return true;
  if (!text && !has(c->name, "raw"))
    most = model_fixed(r, c, 2);
  uint8_t w = (uint8_t)model_fixed(r, c, 1);
  bool to_end = has(c->name, "rrchr"), backwards = has(c->name, "memr");
  for (uint64_t i = 0; i < most && i < LONGEST; i++) {
    int ends = look_at(r, backwards ? at + most - 1 - i : at + i, w, text);
    uint8_t b = 0;
    if (ends < 0)
      return false;
    if (to_end && shadow_byte(r->shadow, at + i, &b) && b)
      continue;
    if (ends)
      return true;
  }
  return true;
}

static Expr is_match(Replay *r, uint64_t at, uint64_t needle, uint64_t n,
                     bool fold) {
  Expr all = expr_bool(r->pool, true);
  for (uint64_t i = 0; i < n; i++) {
    uint8_t x, y;
    Expr a, b;
    if (!side(r, at, i, fold, &x, &a) || !side(r, needle, i, fold, &y, &b))
      return expr_bool(r->pool, false);
    all = expr_and(r->pool, all, expr_eq(r->pool, a, b));
    if (expr_is_const(r->pool, all) && !expr_value(r->pool, all))
      break;
  }
  return all;
}

// strstr, strcasestr: text, needle; memmem: memory, size, needle, size
bool model_str(Replay *r, ModelCall *c) {
  bool memory = has(c->name, "mem"), fold = has(c->name, "case");
  uint64_t at = model_fixed(r, c, 0), n, m;
  uint64_t needle = model_fixed(r, c, memory ? 2 : 1);
  if (memory) {
    n = model_fixed(r, c, 1);
    m = model_fixed(r, c, 3);
  } else if (!model_string(r, needle, LONGEST, &m) ||
             !model_string(r, at, LONGEST, &n)) {
    return false;
  }
  if (n > LONGEST || m > LONGEST || n * m > 1 << 22)
    return false;
  if (!c->result)
    replay_note_text(r, at, needle, m, false);
  for (uint64_t i = 0; i + m <= n; i++) {
    Expr e = is_match(r, at + i, needle, m, fold);
    bool found = expr_value(r->pool, e) != 0;
    replay_event(r, PATH_LIBC, e, found);
    if (found)
      return c->result == at + i;
  }
  return c->result == 0;
}

// A set of bytes given as a string; false: it is not constant.
static bool read_set(Replay *r, uint64_t at, bool set[256]) {
  memset(set, 0, 256);
  for (uint64_t i = 0; i < 256; i++) {
    uint8_t b;
    Expr e;
    if (!model_byte(r, at + i, &b, &e) || e)
      return false;
    if (!b)
      return true;
    set[b] = true;
  }
  return false;
}

// strspn, strcspn, strpbrk: each byte is in the set, or is not. The end is not.
bool model_span(Replay *r, ModelCall *c) {
  bool set[256], within = has(c->name, "strspn");
  TextReader t = {.replay = r, .at = model_fixed(r, c, 0)};
  if (!read_set(r, model_fixed(r, c, 1), set))
    return false;
  set[0] = !within;
  uint64_t first = t.at;
  while (t.at - first < LONGEST && text_is(&t, set) == within && !t.unknown)
    text_next(&t);
  return !t.unknown;
}

// strtok, strtok_r: text (or NULL: go on), delimiters. The text is cut.
bool model_strtok(Replay *r, ModelCall *c) {
  bool set[256];
  TextReader t = {.replay = r, .at = model_fixed(r, c, 0)};
  uint64_t key = c->nargs > 2 ? model_arg(c, 2).value : 0;
  if (!t.at && (!r->token_at || r->token_key != key))
    return false;
  t.at = t.at ? t.at : r->token_at;
  r->token_at = 0;
  if (!read_set(r, model_fixed(r, c, 1), set))
    return false;
  while (text_is(&t, set))
    text_next(&t);
  Expr e;
  int b = text_peek(&t, &e);
  if (t.unknown || c->result != (b ? t.at : 0))
    return false;
  set[0] = true;
  while (!t.unknown && !text_is(&t, set))
    text_next(&t);
  if (text_peek(&t, &e)) {
    shadow_store(r->shadow, t.at, 1, 0, 0);
    text_next(&t);
  }
  r->token_at = t.at;
  r->token_key = key;
  if (key)
    shadow_store(r->shadow, key, 8, t.at, 0);
  return !t.unknown;
}

// strsep: where the text is, delimiters. It returned the text, and cut it.
bool model_strsep(Replay *r, ModelCall *c) {
  bool set[256];
  TextReader t = {.replay = r, .at = c->result};
  Expr e;
  if (!t.at)
    return true;
  if (!read_set(r, model_fixed(r, c, 1), set))
    return false;
  set[0] = true;
  while (!t.unknown && !text_is(&t, set))
    text_next(&t);
  if (text_peek(&t, &e))
    shadow_store(r->shadow, t.at, 1, 0, 0);
  return !t.unknown;
}
