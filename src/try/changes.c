// Which changes can be made at a site: see changes.h.
#include "try/changes.h"

#include <string.h>

#include "patch/edit.h"

static const char *const compares[OP_COMPARES] = {
    [OP_LT] = "<",  [OP_EQ] = "==", [OP_GT] = ">",
    [OP_GE] = ">=", [OP_NE] = "!=", [OP_LE] = "<="};

static const char *const ariths[OP_ARITHS] = {
    [OP_ADD] = "+",  [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/",
    [OP_REM] = "%",  [OP_AND] = "&", [OP_OR] = "|",  [OP_XOR] = "^",
    [OP_SHL] = "<<", [OP_SHR] = ">>"};

const char *compare_text(TryCompare op) {
  return op < OP_COMPARES ? compares[op] : "?";
}

static void add(Changes *out, const Site *s, TryChange change, int64_t a,
                unsigned cost) {
  array_push(out, (Change){.site = s, .change = change, .a = a, .cost = cost});
}

// --- truth values -----------------------------------------------------------

// The comparison that differs only where both sides are equal.
static const TryCompare boundary[OP_COMPARES] = {
    [OP_LT] = OP_LE, [OP_LE] = OP_LT, [OP_GT] = OP_GE,
    [OP_GE] = OP_GT, [OP_EQ] = OP_GE, [OP_NE] = OP_GT};

static TryCompare negation(TryCompare op) {
  return (TryCompare)((op + 3) % OP_COMPARES);
}

static void add_truths(const Site *s, Changes *out) {
  add(out, s, CHANGE_NEGATE, 0, 1);
  add(out, s, CHANGE_FORCE, 0, 2);
  add(out, s, CHANGE_FORCE, 1, 2);
}

static void add_compares(const Site *s, Changes *out) {
  bool order = !(s->flags & (SITE_POINTER | SITE_IMPLICIT));
  for (int op = 0; order && op < OP_COMPARES; op++)
    if (op != s->op && op != (int)negation(s->op))
      add(out, s, CHANGE_COMPARE, op, op == (int)boundary[s->op] ? 0 : 4);
  // Of an unsigned one `v > 0` is `v != 0`.
  if ((s->flags & SITE_IMPLICIT) &&
      !(s->flags & (SITE_POINTER | SITE_UNSIGNED)))
    add(out, s, CHANGE_COMPARE, OP_GT, 4);
  add_truths(s, out);
}

// --- numbers ----------------------------------------------------------------

static const struct {
  TryArith from, to;
  unsigned cost;
} siblings[] = {
    {OP_ADD, OP_SUB, 1}, {OP_SUB, OP_ADD, 1}, {OP_MUL, OP_DIV, 2},
    {OP_DIV, OP_MUL, 2}, {OP_MUL, OP_ADD, 3}, {OP_ADD, OP_MUL, 3},
    {OP_DIV, OP_REM, 3}, {OP_REM, OP_DIV, 2}, {OP_SUB, OP_MUL, 5},
    {OP_AND, OP_OR, 1},  {OP_OR, OP_AND, 1},  {OP_XOR, OP_OR, 2},
    {OP_XOR, OP_AND, 3}, {OP_AND, OP_XOR, 4}, {OP_OR, OP_XOR, 3},
    {OP_SHL, OP_SHR, 2}, {OP_SHR, OP_SHL, 2}, {OP_MUL, OP_SUB, 5},
    {OP_OR, OP_ADD, 5},  {OP_ADD, OP_OR, 5},
};

static void add_ariths(const Site *s, Changes *out) {
  bool real = s->flags & SITE_REAL;
  for (size_t i = 0; i < sizeof siblings / sizeof *siblings; i++)
    if (siblings[i].from == s->op && (!real || siblings[i].to <= OP_DIV))
      add(out, s, CHANGE_ARITH, siblings[i].to, siblings[i].cost);
  add(out, s, CHANGE_LEFT, 0, 4);
  add(out, s, CHANGE_RIGHT, 0, 4);
  add(out, s, CHANGE_ADD, 1, 4);
  add(out, s, CHANGE_ADD, -1, 4);
}

static void add_neighbours(const Site *s, unsigned cost, Changes *out) {
  add(out, s, CHANGE_ADD, 1, cost);
  add(out, s, CHANGE_ADD, -1, cost);
}

static double as_real(int64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

static bool is_value(const Site *s, int64_t v) {
  return s->flags & SITE_REAL ? as_real(s->value) == (double)v : s->value == v;
}

static void add_names(const Site *s, unsigned cost, Changes *out) {
  for (size_t i = 0; i < s->nnames; i++)
    add(out, s, CHANGE_NAME, (int64_t)i, cost + (unsigned)i / 3);
}

// As the program computes: INT64_MAX has a neighbour above.
static int64_t plus(int64_t v, int64_t n) {
  return (int64_t)((uint64_t)v + (uint64_t)n);
}

static int64_t negative(int64_t v) { return (int64_t)-(uint64_t)v; }

// Is it the constant itself, or what it becomes by a smaller change?
static bool is_near(const Site *s, int64_t v) {
  return is_value(s, v) || is_value(s, plus(v, -1)) ||
         is_value(s, plus(v, 1)) || is_value(s, negative(v));
}

static void add_constants(const Site *s, const int64_t *others, size_t n,
                          Changes *out) {
  enum { MOST = 20, LIKELY = 12 };
  add_neighbours(s, 0, out);
  for (int64_t v = 0; v <= 1; v++)
    if (!is_near(s, v))
      add(out, s, CHANGE_SET, v, 3);
  if (!is_value(s, 0))
    add(out, s, CHANGE_MINUS, 0, 3);
  add_names(s, 3, out);
  for (size_t i = 0, k = 0; i < n && k < MOST && !(s->flags & SITE_REAL); i++) {
    int64_t v = others[i];
    if (v != 0 && v != 1 && !is_near(s, v)) {
      add(out, s, CHANGE_SET, v, k < LIKELY ? 5 : 6);
      k++;
    }
  }
}

// --- memory, calls, names ---------------------------------------------------

static void add_stores(const Site *s, Changes *out) {
  if (!(s->flags & SITE_INITIAL))
    add(out, s, CHANGE_SKIP, 0, 2);
  if (s->flags & SITE_POINTER) {
    add(out, s, CHANGE_SET, 0, 5);
    return;
  }
  if (s->width == 1) {
    add(out, s, CHANGE_SET, 0, 4);
    add(out, s, CHANGE_SET, 1, 4);
    return;
  }
  add_neighbours(s, 3, out);
  if (s->flags & (SITE_INITIAL | SITE_COMPOUND))
    return;
  add(out, s, CHANGE_PLUS, 0, 4);
  add(out, s, CHANGE_LESS, 0, 5);
}

static void add_returns(const Site *s, Changes *out) {
  add(out, s, CHANGE_SET, 0, 4);
  if (s->flags & SITE_POINTER)
    return;
  add(out, s, CHANGE_SET, 1, 4);
  add_neighbours(s, 4, out);
  add(out, s, CHANGE_MINUS, 0, 5);
}

static void add_calls(const Site *s, Changes *out) {
  bool unused = s->flags & SITE_VOID;
  add(out, s, CHANGE_SKIP, 0, unused ? 2 : 4);
  if (!unused && s->width && !(s->flags & SITE_POINTER))
    add(out, s, CHANGE_SKIP, 1, 5);
}

// --- statements -------------------------------------------------------------

static void add_leaves(const Site *s, const int64_t *returned, size_t n,
                       Changes *out) {
  enum { MOST = 4 };
  int64_t always = (int64_t)TRY_ALWAYS << 8;
  if (s->flags & SITE_STUCK)
    return;
  add(out, s, CHANGE_LEAVE, always, 3);
  if (s->width && !(s->flags & SITE_POINTER))
    add(out, s, CHANGE_LEAVE, always | (int64_t)1 << 32, 3);
  for (size_t i = 0, k = 0; i < n && k < MOST && s->width > 1; i++) {
    int64_t v = returned[i];
    if (v == 0 || v == 1 || v != (int32_t)v)
      continue;
    add(out, s, CHANGE_LEAVE, always | (int64_t)((uint64_t)v << 32), 4);
    k++;
  }
}

static void add_assign(const Site *s, size_t name, int64_t value, bool named,
                       unsigned cost, Changes *out) {
  int64_t always = (int64_t)TRY_ALWAYS << 8 | (named ? TRY_NAMED : 0);
  array_push(out, ((Change){.site = s,
                            .change = CHANGE_ASSIGN,
                            .a = (int64_t)name | always,
                            .b = value,
                            .cost = cost}));
}

static bool is_alike(const SiteName *a, const SiteName *b) {
  return (a->kind == 'p') == (b->kind == 'p');
}

// A pointer to a character is set to no other pointer that is in scope only by
// chance: pointers are set to NULL only.
static void add_assigns(const Site *s, const int64_t *constants, size_t n,
                        Changes *out) {
  enum { CONSTANTS = 3, NAMES = 12 };
  size_t names = 0;
  for (size_t i = 0; i < s->nnames; i++) {
    bool pointer = s->names[i].kind == 'p';
    if (s->names[i].fixed)
      continue;
    add_assign(s, i, 0, false, 5, out);
    if (!pointer)
      add_assign(s, i, 1, false, 5, out);
    for (size_t k = 0, m = 0; k < n && m < CONSTANTS && !pointer; k++)
      if (constants[k] != 0 && constants[k] != 1) {
        add_assign(s, i, constants[k], false, 7, out);
        m++;
      }
    for (size_t k = 0; k < s->nnames && !pointer && names < NAMES; k++)
      if (k != i && is_alike(&s->names[i], &s->names[k])) {
        add_assign(s, i, (int64_t)k, true, 8, out);
        names++;
      }
  }
}

void changes_of(const Site *s, const int64_t *others, size_t nothers,
                Changes *out) {
  switch (s->kind) {
  case SITE_COMPARE:
    add_compares(s, out);
    break;
  case SITE_TEST:
    add_truths(s, out);
    break;
  case SITE_ARITH:
    add_ariths(s, out);
    break;
  case SITE_CONSTANT:
    add_constants(s, others, nothers, out);
    break;
  case SITE_STORE:
    add_stores(s, out);
    break;
  case SITE_RETURN:
    add_returns(s, out);
    break;
  case SITE_CALL:
    add_calls(s, out);
    break;
  case SITE_SWAP:
    add(out, s, CHANGE_SWAP, 0, 3);
    break;
  case SITE_ARGUMENT:
    if (!(s->flags & SITE_POINTER))
      add_neighbours(s, 4, out);
    add_names(s, 3, out);
    break;
  case SITE_INDEX:
    add_neighbours(s, 1, out);
    break;
  case SITE_VARIABLE:
  case SITE_FIELD:
    add_names(s, 2, out);
    break;
  case SITE_LOGIC:
    add(out, s, CHANGE_LOGIC, 0, 1);
    break;
  case SITE_BEFORE:
    add_leaves(s, others, nothers, out);
    add_assigns(s, others, nothers, out);
    break;
  default:
    break;
  }
}

// --- outcomes ---------------------------------------------------------------

static int outcomes_of(int64_t op) {
  enum { LESS = 1, EQUAL = 2, GREATER = 4 };
  static const int outcomes[OP_COMPARES] = {
      [OP_LT] = LESS,           [OP_EQ] = EQUAL,
      [OP_GT] = GREATER,        [OP_GE] = EQUAL | GREATER,
      [OP_NE] = LESS | GREATER, [OP_LE] = LESS | EQUAL};
  return op >= 0 && op < OP_COMPARES ? outcomes[op] : 0;
}

int change_outcomes(const Change *c) {
  enum { ALL = 7 };
  if (c->site->kind != SITE_COMPARE)
    return -1;
  switch (c->change) {
  case CHANGE_NONE:
    return outcomes_of(c->site->op);
  case CHANGE_COMPARE:
    return outcomes_of(c->a);
  case CHANGE_NEGATE:
    return ALL & ~outcomes_of(c->site->op);
  case CHANGE_FORCE:
    return c->a ? ALL : 0;
  default:
    return -1;
  }
}

// --- words ------------------------------------------------------------------

const char *change_kind(const Change *c) {
  switch (c->change) {
  case CHANGE_COMPARE:
    return "compare";
  case CHANGE_FORCE:
  case CHANGE_NEGATE:
    return "condition";
  case CHANGE_AND:
  case CHANGE_OR:
  case CHANGE_AND_NAME:
  case CHANGE_OR_NAME:
    return "clause";
  case CHANGE_LEAVE:
  case CHANGE_ASSIGN:
    return "insertion";
  default:
    break;
  }
  static const char *const kinds[SITE_KINDS] = {
      [SITE_COMPARE] = "compare",   [SITE_TEST] = "condition",
      [SITE_ARITH] = "operator",    [SITE_CONSTANT] = "constant",
      [SITE_STORE] = "store",       [SITE_RETURN] = "return",
      [SITE_CALL] = "call",         [SITE_SWAP] = "arguments",
      [SITE_ARGUMENT] = "argument", [SITE_INDEX] = "index",
      [SITE_VARIABLE] = "variable", [SITE_FIELD] = "variable",
      [SITE_LOGIC] = "operator"};
  return kinds[c->site->kind] ? kinds[c->site->kind] : "other";
}

static void describe_clause(const Change *c, Str *out) {
  const Site *s = c->site;
  size_t name = (size_t)(c->a & 0xff);
  bool named = c->change == CHANGE_AND_NAME || c->change == CHANGE_OR_NAME;
  bool also = c->change == CHANGE_AND || c->change == CHANGE_AND_NAME;
  str_addf(out, "the condition %s `%s %s ",
           also ? "also needs" : "holds also if",
           name < s->nnames ? s->names[name].name : "?",
           compare_text((TryCompare)(c->a >> 8)));
  if (named)
    str_addf(out, "%s`", (size_t)c->b < s->nnames ? s->names[c->b].name : "?");
  else if (name < s->nnames && s->names[name].kind == 'p')
    str_add(out, c->b ? "?`" : "NULL`");
  else
    str_addf(out, "%lld`", (long long)c->b);
}

static const char *what_is_changed(const Site *s) {
  switch (s->kind) {
  case SITE_STORE:
    return "the value stored";
  case SITE_RETURN:
    return "the value returned";
  case SITE_INDEX:
    return "the index";
  case SITE_ARGUMENT:
    return "the argument";
  default:
    return "the result";
  }
}

static void describe_constant(const Change *c, Str *out) {
  const Site *s = c->site;
  bool real = s->flags & SITE_REAL;
  if (s->kind != SITE_CONSTANT) {
    const char *what = what_is_changed(s);
    if (c->change == CHANGE_ADD)
      str_addf(out, "%s plus %lld", what, (long long)c->a);
    else if (c->change == CHANGE_SET)
      str_addf(out, "%s is %lld", what, (long long)c->a);
    else
      str_addf(out, "%s negated", what);
    return;
  }
  if (real) {
    double v = as_real(s->value);
    double to = c->change == CHANGE_ADD   ? v + (double)c->a
                : c->change == CHANGE_SET ? (double)c->a
                                          : -v;
    str_addf(out, "`%g` to `%g`", v, to);
    return;
  }
  int64_t to = c->change == CHANGE_ADD   ? plus(s->value, c->a)
               : c->change == CHANGE_SET ? c->a
                                         : negative(s->value);
  str_addf(out, "`%lld` to `%lld`", (long long)s->value, (long long)to);
}

static void describe_name(const Change *c, Str *out) {
  const Site *s = c->site;
  const char *name = (size_t)c->a < s->nnames ? s->names[c->a].name : "?";
  if (s->kind == SITE_ARGUMENT)
    str_addf(out, "`%s` as argument %u of `%s`", name, s->operand + 1,
             *s->text ? s->text : "?");
  else if (s->kind == SITE_CONSTANT)
    str_addf(out, "`%lld` to `%s`", (long long)s->value, name);
  else
    str_addf(out, "`%s` to `%s`", s->text, name);
}

void change_describe(const Change *c, Str *out) {
  const Site *s = c->site;
  switch (c->change) {
  case CHANGE_COMPARE:
    str_addf(out, "`%s` to `%s`", compare_text(s->op),
             compare_text((TryCompare)c->a));
    break;
  case CHANGE_FORCE:
    str_addf(out, "the condition is always %s", c->a ? "true" : "false");
    break;
  case CHANGE_NEGATE:
    if (s->kind == SITE_COMPARE && !(s->flags & SITE_IMPLICIT))
      str_addf(out, "`%s` to `%s`", compare_text(s->op),
               compare_text(negation(s->op)));
    else
      str_add(out, "the condition negated");
    break;
  case CHANGE_ARITH:
    str_addf(out, "`%s` to `%s`", ariths[s->op % OP_ARITHS],
             ariths[c->a % OP_ARITHS]);
    break;
  case CHANGE_LEFT:
  case CHANGE_RIGHT:
    str_addf(out, "only the %s operand of `%s`",
             c->change == CHANGE_LEFT ? "left" : "right",
             ariths[s->op % OP_ARITHS]);
    break;
  case CHANGE_SKIP:
    if (s->kind == SITE_CALL)
      str_addf(out, "without the call of `%s`", *s->text ? s->text : "?");
    else
      str_addf(out, "without the assignment%s%s%s", *s->text ? " to `" : "",
               s->text, *s->text ? "`" : "");
    break;
  case CHANGE_PLUS:
    str_add(out, "`=` to `+=`");
    break;
  case CHANGE_LESS:
    str_add(out, "`=` to `-=`");
    break;
  case CHANGE_SWAP:
    str_addf(out, "arguments %u and %lld of `%s` exchanged", s->operand + 1,
             (long long)s->value + 1, *s->text ? s->text : "?");
    break;
  case CHANGE_LOGIC:
    str_addf(out, "`%s` to `%s`", s->text, strcmp(s->text, "&&") ? "&&" : "||");
    break;
  case CHANGE_NAME:
    describe_name(c, out);
    break;
  case CHANGE_AND:
  case CHANGE_OR:
  case CHANGE_AND_NAME:
  case CHANGE_OR_NAME:
    describe_clause(c, out);
    break;
  case CHANGE_LEAVE:
  case CHANGE_ASSIGN:
    str_add(out, "with `");
    edit_inserted(s, (EditChange){c->change, c->a, c->b}, out);
    str_add(out, "` before it");
    break;
  default:
    describe_constant(c, out);
  }
}
