// Models of ctype, of numbers read from text, and of the heap: see models.h.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "replay/models.h"
#include "replay/models_text.h"

// --- ctype ------------------------------------------------------------------

static int (*const tests[])(int) = {isalnum, isalpha, isblank, iscntrl,
                                    isdigit, isgraph, islower, isprint,
                                    ispunct, isspace, isupper, isxdigit};
static const char *const test_names[] = {
    "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph",
    "islower", "isprint", "ispunct", "isspace", "isupper", "isxdigit"};

// The function as a table of what it gives for EOF and every byte.
static bool tabulate(Replay *r, ModelCall *c, int (*f)(int)) {
  enum { FIRST = -1, ENTRIES = 257 };
  uint64_t entries[ENTRIES];
  IrValue v = model_arg(c, 0);
  if (!v.expr || c->width != 32)
    return true;
  for (int i = 0; i < ENTRIES; i++)
    entries[i] = (uint32_t)f(FIRST + i);
  ExprTable t = expr_new_table(r->pool, 32, entries, ENTRIES);
  Expr index =
      expr_add(r->pool, replay_bits(r, v, 32), expr_const(r->pool, 32, 1));
  return model_result(r, c, expr_table(r->pool, t, index));
}

bool model_ctype(Replay *r, ModelCall *c) {
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    if (!strcmp(c->name, test_names[i]))
      return tabulate(r, c, tests[i]);
  return false;
}

bool model_case(Replay *r, ModelCall *c) {
  return tabulate(r, c, strcmp(c->name, "toupper") ? tolower : toupper);
}

// Where the tables of the macros are.
bool model_ctype_loc(Replay *r, ModelCall *c) {
  if (!strcmp(c->name, "__ctype_b_loc"))
    r->ctype_b = c->result;
  else if (!strcmp(c->name, "__ctype_tolower_loc"))
    r->ctype_lower = c->result;
  else
    r->ctype_upper = c->result;
  return true;
}

bool model_abs(Replay *r, ModelCall *c) {
  IrValue v = model_arg(c, 0);
  if (!v.expr || !c->width)
    return true;
  Expr e = replay_bits(r, v, c->width);
  Expr negative = expr_slt(r->pool, e, expr_const(r->pool, c->width, 0));
  return model_result(r, c,
                      expr_ite(r->pool, negative, expr_neg(r->pool, e), e));
}

// The functions of math.h that have an operator.
bool model_math(Replay *r, ModelCall *c) {
  static const struct {
    const char *name;
    ExprRounding how;
  } roundings[] = {{"floor", ROUND_DOWN},
                   {"ceil", ROUND_UP},
                   {"trunc", ROUND_ZERO},
                   {"round", ROUND_NEAREST_AWAY},
                   {"rint", ROUND_NEAREST_EVEN}};
  IrValue v = model_arg(c, 0);
  if (!v.expr || !c->width)
    return true;
  Expr x = v.expr;
  if (expr_sort(r->pool, x).kind != SORT_FP)
    return false;
  if (!strncmp(c->name, "sqrt", 4))
    return model_result(r, c, expr_fsqrt(r->pool, x));
  if (!strncmp(c->name, "fabs", 4))
    return model_result(r, c, expr_fabs(r->pool, x));
  for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++)
    if (!strncmp(c->name, roundings[i].name, strlen(roundings[i].name)))
      return model_result(r, c, expr_fround(r->pool, x, roundings[i].how));
  return false;
}

// --- numbers ----------------------------------------------------------------

// atoi, atol, strtol, strtoul, ...: text, [end], [base]
bool model_number(Replay *r, ModelCall *c) {
  bool plain = !strncmp(c->name, "ato", 3);
  TextReader text = {.replay = r, .at = model_fixed(r, c, 0)};
  unsigned base = plain ? 10 : (unsigned)model_fixed(r, c, 2);
  Expr e;
  if (!text_integer(&text, base, 64, &e) || c->width > 64 || !c->width)
    return false;
  uint64_t end;
  uint64_t to = plain ? 0 : model_arg(c, 1).value;
  if (to && shadow_word(r->shadow, to, &end) && text.any && end != text.at)
    return false;
  return model_result(r, c, expr_trunc(r->pool, e, c->width));
}

// strtod, atof: text, [end]
bool model_decimal(Replay *r, ModelCall *c) {
  TextReader text = {.replay = r, .at = model_fixed(r, c, 0)};
  Expr e;
  if (c->width != 64 || !text_decimal(&text, &e))
    return false;
  uint64_t end, to = strcmp(c->name, "atof") ? model_arg(c, 1).value : 0;
  if (to && shadow_word(r->shadow, to, &end) && end != text.at)
    return false;
  return model_result(r, c, e);
}

// --- the heap ---------------------------------------------------------------

bool model_malloc(Replay *r, ModelCall *c) {
  bool aligned = strcmp(c->name, "malloc") != 0;
  uint64_t n = model_fixed(r, c, aligned ? 1 : 0);
  replay_allocated(r, c->result, n);
  return true;
}

bool model_calloc(Replay *r, ModelCall *c) {
  uint64_t n = model_fixed(r, c, 0) * model_fixed(r, c, 1);
  if (!c->result || n > 1 << 28)
    return true;
  replay_allocated(r, c->result, n);
  shadow_fill(r->shadow, c->result, n, 0, 0);
  return true;
}

bool model_realloc(Replay *r, ModelCall *c) {
  uint64_t from = model_arg(c, 0).value, n = model_fixed(r, c, 1);
  if (!strcmp(c->name, "reallocarray"))
    n *= model_fixed(r, c, 2);
  uint64_t had = from ? replay_allocated_size(r, from) : 0;
  if (!c->result)
    return true;
  if (c->result == from) {
    // The same place, of another size: what it holds stays.
    replay_resized(r, from, n);
    return true;
  }
  replay_allocated(r, c->result, n);
  if (from) {
    shadow_copy(r->shadow, c->result, from, had < n ? had : n);
    replay_freed(r, from);
  }
  return true;
}

bool model_free(Replay *r, ModelCall *c) {
  replay_freed(r, model_arg(c, 0).value);
  return true;
}
