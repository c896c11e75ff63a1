// Expressions for people: C-like, as short as the meaning allows. Extensions
// are left out, bits and bytes are shown as shifts and masks, a table of
// conditions as the set it tests: "in[2] in {'0'..'9', '_'}".
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr_make.h"

#define MAX_NESTING 24

typedef struct {
  const ExprPool *p;
  Str *out;
  size_t end; // output may not grow beyond
} Show;

// How tightly the text of an expression holds together: C's precedences.
enum {
  LOOSE,
  CHOICE,
  OR_ELSE,
  AND_ALSO,
  BIT_OR,
  BIT_XOR,
  BIT_AND,
  COMPARE,
  SHIFT,
  SUM,
  PRODUCT,
  TIGHT,
};

static void show(Show *s, Expr e, int around, int nesting);
static void show_negated(Show *s, Expr e, int around, int nesting);

// --- constants --------------------------------------------------------------

static void show_char(Str *out, unsigned char c, char quote) {
  static const char names[] = "\n\t\r\0\\", letters[] = "ntr0\\";
  const char *at = memchr(names, c, 5);
  if (at)
    str_addf(out, "\\%c", letters[at - names]);
  else if (c == (unsigned char)quote)
    str_addf(out, "\\%c", quote);
  else if (isprint(c))
    str_addc(out, (char)c);
  else
    str_addf(out, "\\x%02x", c);
}

static void show_byte(Str *out, unsigned char c) {
  if (!isprint(c) && !memchr("\n\t\r\0", c, 4)) {
    str_addf(out, "%u", c);
    return;
  }
  str_addc(out, '\'');
  show_char(out, c, '\'');
  str_addc(out, '\'');
}

static void show_bv(Str *out, unsigned width, uint64_t v) {
  int64_t s = sign_extend(v, width);
  if (width == 1)
    str_add(out, v ? "true" : "false");
  else if (width == 8)
    show_byte(out, (unsigned char)v);
  else if (s < 0 && s > -65536)
    str_addf(out, "%lld", (long long)s);
  else
    str_addf(out, v < 1000000 ? "%llu" : "0x%llx", (unsigned long long)v);
}

static void show_fp(Str *out, unsigned width, uint64_t bits) {
  double d;
  float f;
  uint32_t low = (uint32_t)bits;
  memcpy(&f, &low, sizeof f);
  memcpy(&d, &bits, sizeof d);
  str_addf(out, "%.17g", width == 32 ? (double)f : d);
}

static void show_text(Show *s, uint64_t id) {
  size_t n;
  const char *text = expr_text(s->p, id, &n);
  str_addc(s->out, '"');
  for (size_t i = 0; i < n && s->out->len < s->end; i++)
    show_char(s->out, (unsigned char)text[i], '"');
  str_addc(s->out, '"');
}

static void show_const(Show *s, const ExprNode *n) {
  switch ((ExprKind)n->sort.kind) {
  case SORT_BV:
    show_bv(s->out, n->sort.width, n->value);
    break;
  case SORT_FP:
    show_fp(s->out, n->sort.width, n->value);
    break;
  case SORT_INT:
    str_addf(s->out, "%lld", (long long)n->value);
    break;
  case SORT_STR:
    show_text(s, n->value);
    break;
  }
}

// --- sets -------------------------------------------------------------------

static bool member(const uint64_t *entries, uint32_t n, uint32_t i) {
  return i < n && entries[i];
}

// The members equal to `want`, as ranges.
static void show_ranges(Show *s, const uint64_t *entries, uint32_t n,
                        bool want) {
  const char *sep = "";
  for (uint32_t i = 0, end; i < 256; i = end + 1) {
    end = i;
    if (member(entries, n, i) != want)
      continue;
    while (end + 1 < 256 && member(entries, n, end + 1) == want)
      end++;
    str_add(s->out, sep);
    show_byte(s->out, (unsigned char)i);
    if (end > i)
      str_add(s->out, end > i + 1 ? ".." : ", ");
    if (end > i)
      show_byte(s->out, (unsigned char)end);
    sep = ", ";
  }
}

// A condition that looks one byte up in a table.
static bool is_set(const ExprPool *p, Expr e) {
  return is_op(p, e, EXPR_TABLE) && expr_width(p, e) == 1 &&
         expr_width(p, expr_arg(p, e, 0)) == 8;
}

static void show_set(Show *s, Expr e, bool wanted, int nesting) {
  uint32_t n, members = 0;
  const uint64_t *entries = expr_table_entries(s->p, expr_arg(s->p, e, 1), &n);
  for (uint32_t i = 0; i < 256; i++)
    members += member(entries, n, i) == wanted;
  bool complement = members > 128;
  show(s, expr_arg(s->p, e, 0), COMPARE, nesting);
  str_add(s->out, complement ? " not in {" : " in {");
  show_ranges(s, entries, n, wanted != complement);
  str_addc(s->out, '}');
}

// --- operators --------------------------------------------------------------

static void open(Show *s, int around, int own) {
  if (own <= around)
    str_addc(s->out, '(');
}

static void close(Show *s, int around, int own) {
  if (own <= around)
    str_addc(s->out, ')');
}

// Operators of one level stand left of each other without parentheses; for
// associative ones it does not matter which way they nest.
static void show_infix(Show *s, Expr a, const char *op, Expr b, int around,
                       int own, int nesting) {
  open(s, around, own);
  show(s, a, own - 1, nesting);
  str_addf(s->out, " %s ", op);
  bool free = own <= BIT_AND && own != CHOICE;
  show(s, b, free ? own - 1 : own, nesting);
  close(s, around, own);
}

// 'a' < in[2] reads better as in[2] > 'a'.
static void show_less(Show *s, Expr a, Expr b, bool or_equal, int around,
                      int nesting) {
  bool swap = expr_is_const(s->p, a);
  const char *ops[2][2] = {{"<", "<="}, {">", ">="}};
  show_infix(s, swap ? b : a, ops[swap][or_equal], swap ? a : b, around,
             COMPARE, nesting);
}

static bool is_sign_bit(const ExprPool *p, Expr e) {
  return is_op(p, e, EXPR_EXTRACT) && expr_width(p, e) == 1 &&
         expr_arg(p, e, 1) == expr_width(p, expr_arg(p, e, 0)) - 1;
}

static void show_extract(Show *s, const ExprNode *n, int around, int nesting) {
  unsigned lo = n->arg[1];
  bool masked = lo + n->sort.width < expr_width(s->p, n->arg[0]);
  int own = masked ? BIT_AND : SHIFT;
  open(s, around, own);
  show(s, n->arg[0], lo ? SHIFT - 1 : BIT_AND - 1, nesting);
  if (lo)
    str_addf(s->out, " >> %u", lo);
  if (masked)
    str_addf(s->out, " & 0x%llx", (unsigned long long)expr_mask(n->sort.width));
  close(s, around, own);
}

static void show_concat(Show *s, const ExprNode *n, int around, int nesting) {
  bool bare = is_value(s->p, n->arg[1], 0);
  open(s, around, bare ? SHIFT : BIT_OR);
  show(s, n->arg[0], SHIFT, nesting);
  str_addf(s->out, " << %u", expr_width(s->p, n->arg[1]));
  if (!bare) {
    str_add(s->out, " | ");
    show(s, n->arg[1], BIT_OR - 1, nesting);
  }
  close(s, around, bare ? SHIFT : BIT_OR);
}

static void show_ite(Show *s, const ExprNode *n, int around, int nesting) {
  open(s, around, CHOICE);
  show(s, n->arg[0], CHOICE, nesting);
  str_add(s->out, " ? ");
  show(s, n->arg[1], CHOICE, nesting);
  str_add(s->out, " : ");
  show(s, n->arg[2], LOOSE, nesting);
  close(s, around, CHOICE);
}

static void show_call(Show *s, const char *name, const ExprNode *n,
                      int nesting) {
  str_addf(s->out, "%s(", name);
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++) {
    str_add(s->out, i ? ", " : "");
    show(s, n->arg[i], LOOSE, nesting);
  }
  str_addc(s->out, ')');
}

// Operators that are written between or before their operands.
typedef struct {
  uint8_t op, level;
  const char *text;
} Infix;

static const Infix infixes[] = {
    {EXPR_ADD, SUM, "+"},        {EXPR_SUB, SUM, "-"},
    {EXPR_MUL, PRODUCT, "*"},    {EXPR_UDIV, PRODUCT, "/"},
    {EXPR_SDIV, PRODUCT, "/"},   {EXPR_UREM, PRODUCT, "%"},
    {EXPR_SREM, PRODUCT, "%"},   {EXPR_AND, BIT_AND, "&"},
    {EXPR_OR, BIT_OR, "|"},      {EXPR_XOR, BIT_XOR, "^"},
    {EXPR_SHL, SHIFT, "<<"},     {EXPR_LSHR, SHIFT, ">>"},
    {EXPR_ASHR, SHIFT, ">>"},    {EXPR_EQ, COMPARE, "=="},
    {EXPR_FADD, SUM, "+"},       {EXPR_FSUB, SUM, "-"},
    {EXPR_FMUL, PRODUCT, "*"},   {EXPR_FDIV, PRODUCT, "/"},
    {EXPR_FEQ, COMPARE, "=="},   {EXPR_FLT, COMPARE, "<"},
    {EXPR_STR_CONCAT, SUM, "."}, {EXPR_STR_LT, COMPARE, "<"},
};

// The others are written as calls.
static const char *const call_names[EXPR_OP_COUNT] = {
    [EXPR_FABS] = "fabs",
    [EXPR_FSQRT] = "sqrt",
    [EXPR_FROUND] = "round",
    [EXPR_FREM] = "fmod",
    [EXPR_FNAN] = "isnan",
    [EXPR_FP_OF_FP] = "float",
    [EXPR_FP_OF_SINT] = "float",
    [EXPR_FP_OF_UINT] = "float",
    [EXPR_SINT_OF_FP] = "int",
    [EXPR_UINT_OF_FP] = "int",
    [EXPR_FP_OF_BITS] = "float_of_bits",
    [EXPR_BITS_OF_FP] = "bits",
    [EXPR_STR_LEN] = "strlen",
    [EXPR_STR_SUB] = "substr",
    [EXPR_STR_INDEX] = "strpos",
    [EXPR_STR_CONTAINS] = "contains",
    [EXPR_STR_PREFIX] = "is_prefix",
    [EXPR_STR_SUFFIX] = "is_suffix",
    [EXPR_STR_TO_INT] = "int",
    [EXPR_STR_OF_INT] = "string",
};

static void show_operator(Show *s, const ExprNode *n, int around, int nesting) {
  bool condition = n->sort.kind == SORT_BV && n->sort.width == 1;
  if (condition && n->op == EXPR_AND) {
    show_infix(s, n->arg[0], "&&", n->arg[1], around, AND_ALSO, nesting);
    return;
  }
  if (condition && n->op == EXPR_OR) {
    show_infix(s, n->arg[0], "||", n->arg[1], around, OR_ELSE, nesting);
    return;
  }
  for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
    if (infixes[i].op == n->op) {
      show_infix(s, n->arg[0], infixes[i].text, n->arg[1], around,
                 infixes[i].level, nesting);
      return;
    }
  const char *name = call_names[n->op];
  show_call(s, name ? name : expr_op_name((ExprOp)n->op), n, nesting);
}

static void show_sum(Show *s, const ExprNode *n, int around, int nesting) {
  Expr k = n->arg[1];
  int64_t v = sign_extend(expr_value(s->p, k), expr_width(s->p, k));
  if (!expr_is_const(s->p, k) || v >= 0 || v == INT64_MIN) {
    show_infix(s, n->arg[0], "+", k, around, SUM, nesting);
    return;
  }
  open(s, around, SUM);
  show(s, n->arg[0], SUM - 1, nesting);
  str_add(s->out, " - ");
  show_bv(s->out, n->sort.width == 1 ? 64 : n->sort.width, (uint64_t)-v);
  close(s, around, SUM);
}

static void show_prefix(Show *s, const char *op, Expr e, int nesting) {
  str_add(s->out, op);
  show(s, e, TIGHT - 1, nesting);
}

static void show_node(Show *s, Expr e, int around, int nesting) {
  const ExprNode *n = expr_node(s->p, e);
  switch ((ExprOp)n->op) {
  case EXPR_CONST:
    show_const(s, n);
    break;
  case EXPR_VAR:
    expr_var_name(s->p, n->arg[0], s->out);
    break;
  case EXPR_ZEXT:
  case EXPR_SEXT:
    show(s, n->arg[0], around, nesting);
    break;
  case EXPR_NOT:
    if (n->sort.width == 1)
      show_negated(s, n->arg[0], around, nesting);
    else
      show_prefix(s, "~", n->arg[0], nesting);
    break;
  case EXPR_NEG:
  case EXPR_FNEG:
    show_prefix(s, "-", n->arg[0], nesting);
    break;
  case EXPR_ULT:
  case EXPR_SLT:
    show_less(s, n->arg[0], n->arg[1], false, around, nesting);
    break;
  case EXPR_EXTRACT:
    show_extract(s, n, around, nesting);
    break;
  case EXPR_CONCAT:
    show_concat(s, n, around, nesting);
    break;
  case EXPR_ADD:
    show_sum(s, n, around, nesting);
    break;
  case EXPR_ITE:
    show_ite(s, n, around, nesting);
    break;
  case EXPR_TABLE:
    str_addf(s->out, "table%u[", n->arg[1]);
    show(s, n->arg[0], LOOSE, nesting);
    str_addc(s->out, ']');
    break;
  default:
    show_operator(s, n, around, nesting);
  }
}

static bool cut_off(Show *s, int nesting) {
  if (s->out->len < s->end && nesting < MAX_NESTING)
    return false;
  str_add(s->out, "...");
  return true;
}

// `around`: how tightly the surroundings hold.
static void show(Show *s, Expr e, int around, int nesting) {
  if (cut_off(s, nesting))
    return;
  if (is_set(s->p, e))
    show_set(s, e, true, nesting + 1);
  else if (is_sign_bit(s->p, e)) {
    open(s, around, COMPARE);
    show(s, expr_arg(s->p, e, 0), COMPARE, nesting + 1);
    str_add(s->out, " < 0");
    close(s, around, COMPARE);
  } else
    show_node(s, e, around, nesting + 1);
}

static void show_negated_atom(Show *s, Expr e, int nesting) {
  str_addc(s->out, '!');
  show(s, e, TIGHT - 1, nesting);
}

static void show_negated(Show *s, Expr e, int around, int nesting) {
  if (cut_off(s, nesting))
    return;
  const ExprNode *n = expr_node(s->p, e);
  bool is_eq = n->op == EXPR_EQ || n->op == EXPR_FEQ;
  if (n->op == EXPR_NOT)
    show(s, n->arg[0], around, nesting + 1);
  else if (is_eq)
    show_infix(s, n->arg[0], "!=", n->arg[1], around, COMPARE, nesting + 1);
  else if (n->op == EXPR_ULT || n->op == EXPR_SLT)
    show_less(s, n->arg[1], n->arg[0], true, around, nesting + 1);
  else if (is_set(s->p, e))
    show_set(s, e, false, nesting + 1);
  else if (is_sign_bit(s->p, e)) {
    open(s, around, COMPARE);
    show(s, n->arg[0], COMPARE, nesting + 1);
    str_add(s->out, " >= 0");
    close(s, around, COMPARE);
  } else
    show_negated_atom(s, e, nesting + 1);
}

void expr_show_outcome(const ExprPool *p, Expr e, bool outcome, size_t max,
                       Str *out) {
  Show s = {p, out, out->len + (max ? max : 400)};
  if (outcome)
    show(&s, e, LOOSE, 0);
  else
    show_negated(&s, e, LOOSE, 0);
}
