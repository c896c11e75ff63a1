// Expressions as terms of Z3: see smt_translate.h.
//
// A condition, BV(1), is a Bool here; where its bit is needed it becomes an
// ITE. INT is Z3's unbounded Int, strings are Z3's.
#include "solve/smt_translate.h"

// --- operands ---------------------------------------------------------------

static bool is_condition(const ExprPool *p, Expr e) {
  ExprSort s = expr_sort(p, e);
  return s.kind == SORT_BV && s.width == 1;
}

static Z3_ast bits(const SmtEngine *s, uint64_t v, unsigned width) {
  return Z3_mk_unsigned_int64(s->z3, v, Z3_mk_bv_sort(s->z3, width));
}

static Z3_ast bit_of_bool(const SmtEngine *s, Z3_ast b) {
  return Z3_mk_ite(s->z3, b, bits(s, 1, 1), bits(s, 0, 1));
}

static Z3_ast bool_of_bit(const SmtEngine *s, Z3_ast b) {
  return Z3_mk_eq(s->z3, b, bits(s, 1, 1));
}

// As a bit-vector, also if it is a condition.
static Z3_ast vector(const SmtEngine *s, Expr e) {
  return is_condition(s->pool, e) ? bit_of_bool(s, smt_ast(s, e))
                                  : smt_ast(s, e);
}

// --- sorts ------------------------------------------------------------------

static Z3_sort fp_sort(const SmtEngine *s, unsigned width) {
  return width == 32 ? Z3_mk_fpa_sort_32(s->z3) : Z3_mk_fpa_sort_64(s->z3);
}

static Z3_sort sort_of(const SmtEngine *s, ExprSort sort) {
  switch ((ExprKind)sort.kind) {
  case SORT_FP:
    return fp_sort(s, sort.width);
  case SORT_INT:
    return Z3_mk_int_sort(s->z3);
  case SORT_STR:
    return Z3_mk_string_sort(s->z3);
  default:
    return sort.width == 1 ? Z3_mk_bool_sort(s->z3)
                           : Z3_mk_bv_sort(s->z3, sort.width);
  }
}

// Every byte is escaped, so that Z3 reads nothing into it.
static Z3_ast text(const SmtEngine *s, uint64_t id) {
  Str escaped = {0};
  size_t n;
  const char *t = expr_text(s->pool, id, &n);
  for (size_t i = 0; i < n; i++)
    str_addf(&escaped, "\\u{%x}", (unsigned char)t[i]);
  Z3_ast a = Z3_mk_string(s->z3, str_text(&escaped));
  str_release(&escaped);
  return a;
}

static Z3_ast constant(const SmtEngine *s, ExprSort sort, uint64_t v) {
  switch ((ExprKind)sort.kind) {
  case SORT_FP:
    return Z3_mk_fpa_to_fp_bv(s->z3, bits(s, v, sort.width),
                              fp_sort(s, sort.width));
  case SORT_INT:
    return Z3_mk_int64(s->z3, (int64_t)v, Z3_mk_int_sort(s->z3));
  case SORT_STR:
    return text(s, v);
  default:
    if (sort.width > 1)
      return bits(s, v, sort.width);
    return v ? Z3_mk_true(s->z3) : Z3_mk_false(s->z3);
  }
}

static Z3_ast variable(const SmtEngine *s, VarId v, ExprSort sort) {
  return Z3_mk_const(s->z3, Z3_mk_int_symbol(s->z3, (int)v), sort_of(s, sort));
}

// --- bit-vectors ------------------------------------------------------------

static Z3_ast condition_op(const SmtEngine *s, ExprOp op, Z3_ast a, Z3_ast b) {
  Z3_ast args[2] = {a, b};
  switch (op) {
  case EXPR_NOT:
    return Z3_mk_not(s->z3, a);
  case EXPR_AND:
    return Z3_mk_and(s->z3, 2, args);
  case EXPR_OR:
    return Z3_mk_or(s->z3, 2, args);
  case EXPR_XOR:
    return Z3_mk_xor(s->z3, a, b);
  default:
    return NULL;
  }
}

typedef Z3_ast Make2(Z3_context c, Z3_ast a, Z3_ast b);

static Make2 *const bv_makers[EXPR_OP_COUNT] = {
    [EXPR_ADD] = Z3_mk_bvadd,   [EXPR_SUB] = Z3_mk_bvsub,
    [EXPR_MUL] = Z3_mk_bvmul,   [EXPR_UDIV] = Z3_mk_bvudiv,
    [EXPR_UREM] = Z3_mk_bvurem, [EXPR_SDIV] = Z3_mk_bvsdiv,
    [EXPR_SREM] = Z3_mk_bvsrem, [EXPR_AND] = Z3_mk_bvand,
    [EXPR_OR] = Z3_mk_bvor,     [EXPR_XOR] = Z3_mk_bvxor,
    [EXPR_SHL] = Z3_mk_bvshl,   [EXPR_LSHR] = Z3_mk_bvlshr,
    [EXPR_ASHR] = Z3_mk_bvashr, [EXPR_ULT] = Z3_mk_bvult,
    [EXPR_SLT] = Z3_mk_bvslt,   [EXPR_CONCAT] = Z3_mk_concat,
};

// A table, and where it is looked up.
typedef struct {
  const SmtEngine *smt;
  const uint64_t *entries; // those behind `len` are 0
  uint64_t len;
  unsigned width; // of an entry
  Z3_ast index;
} Lookup;

static uint64_t entry(const Lookup *t, uint64_t i) {
  return i < t->len ? t->entries[i] : 0;
}

static bool all_equal(const Lookup *t, uint64_t from, uint64_t n) {
  uint64_t inside = from < t->len ? t->len - from : 0;
  inside = inside < n ? inside : n;
  for (uint64_t i = 1; i < inside; i++)
    if (t->entries[from + i] != t->entries[from])
      return false;
  return inside == n || !entry(t, from);
}

// The 2^nbits entries from `from` on: halved by one bit of the index after the
// other, until they are all the same. (A chain of comparisons, one for each
// entry, takes Z3 seconds to read.)
static Z3_ast halves(const Lookup *t, uint64_t from, unsigned nbits) {
  Z3_context z3 = t->smt->z3;
  if (all_equal(t, from, 1ull << nbits))
    return bits(t->smt, entry(t, from), t->width);
  unsigned bit = nbits - 1;
  Z3_ast low = halves(t, from, bit);
  Z3_ast high = halves(t, from + (1ull << bit), bit);
  Z3_ast set = bool_of_bit(t->smt, Z3_mk_extract(z3, bit, bit, t->index));
  return Z3_mk_ite(z3, set, high, low);
}

static Z3_ast table(const SmtEngine *s, const ExprNode *n) {
  uint32_t len;
  const uint64_t *entries = expr_table_entries(s->pool, n->arg[1], &len);
  unsigned w = expr_width(s->pool, n->arg[0]), nbits = 0;
  Lookup t = {s, entries, len, n->sort.width, vector(s, n->arg[0])};
  while (nbits < w && 1ull << nbits < len)
    nbits++;
  Z3_ast inside = halves(&t, 0, nbits);
  if (nbits == w)
    return inside;
  Z3_ast above = Z3_mk_extract(s->z3, w - 1, nbits, t.index);
  return Z3_mk_ite(s->z3, Z3_mk_eq(s->z3, above, bits(s, 0, w - nbits)), inside,
                   bits(s, 0, n->sort.width));
}

static Z3_ast bv_unary(const SmtEngine *s, const ExprNode *n) {
  Z3_ast a = vector(s, n->arg[0]);
  unsigned w = expr_width(s->pool, n->arg[0]);
  switch ((ExprOp)n->op) {
  case EXPR_NOT:
    return Z3_mk_bvnot(s->z3, a);
  case EXPR_NEG:
    return Z3_mk_bvneg(s->z3, a);
  case EXPR_EXTRACT:
    return Z3_mk_extract(s->z3, n->arg[1] + n->sort.width - 1, n->arg[1], a);
  case EXPR_ZEXT:
    return Z3_mk_zero_ext(s->z3, n->sort.width - w, a);
  case EXPR_SEXT:
    return Z3_mk_sign_ext(s->z3, n->sort.width - w, a);
  case EXPR_TABLE:
    return table(s, n);
  default:
    return NULL;
  }
}

static Z3_ast bv_node(const SmtEngine *s, const ExprNode *n) {
  bool narrow = n->sort.width == 1;
  bool compares = n->op == EXPR_ULT || n->op == EXPR_SLT;
  if (narrow && is_condition(s->pool, n->arg[0])) {
    bool binary = expr_arity((ExprOp)n->op) == 2;
    Z3_ast r = condition_op(s, (ExprOp)n->op, smt_ast(s, n->arg[0]),
                            binary ? smt_ast(s, n->arg[1]) : NULL);
    if (r)
      return r;
  }
  Make2 *make = bv_makers[n->op];
  Z3_ast r = make ? make(s->z3, vector(s, n->arg[0]), vector(s, n->arg[1]))
                  : bv_unary(s, n);
  return r && narrow && !compares ? bool_of_bit(s, r) : r;
}

// --- floats -----------------------------------------------------------------

uint64_t smt_quiet_nan(unsigned width) {
  return width == 32 ? 0x7fc00000 : 0x7ff8000000000000;
}

static Z3_ast nearest(const SmtEngine *s) { return Z3_mk_fpa_rne(s->z3); }

static Z3_ast rounding(const SmtEngine *s, ExprRounding how) {
  switch (how) {
  case ROUND_NEAREST_AWAY:
    return Z3_mk_fpa_rna(s->z3);
  case ROUND_UP:
    return Z3_mk_fpa_rtp(s->z3);
  case ROUND_DOWN:
    return Z3_mk_fpa_rtn(s->z3);
  case ROUND_ZERO:
    return Z3_mk_fpa_rtz(s->z3);
  default:
    return nearest(s);
  }
}

static double two_to(unsigned n) {
  double d = 1;
  while (n--)
    d *= 2;
  return d;
}

// 0 unless the value, cut, fits: Z3 leaves that open.
static Z3_ast integer_of_fp(const SmtEngine *s, const ExprNode *n, Z3_ast a) {
  bool sign = n->op == EXPR_SINT_OF_FP;
  unsigned w = n->sort.width;
  Z3_sort fp = fp_sort(s, expr_width(s->pool, n->arg[0]));
  double limit = two_to(sign ? w - 1 : w);
  Z3_ast cut = Z3_mk_fpa_round_to_integral(s->z3, Z3_mk_fpa_rtz(s->z3), a);
  Z3_ast top = Z3_mk_fpa_numeral_double(s->z3, limit, fp);
  Z3_ast low = Z3_mk_fpa_numeral_double(s->z3, sign ? -limit : 0, fp);
  Z3_ast both[2] = {Z3_mk_fpa_lt(s->z3, cut, top),
                    Z3_mk_fpa_geq(s->z3, cut, low)};
  Z3_ast rtz = Z3_mk_fpa_rtz(s->z3);
  Z3_ast v = sign ? Z3_mk_fpa_to_sbv(s->z3, rtz, a, w)
                  : Z3_mk_fpa_to_ubv(s->z3, rtz, a, w);
  Z3_ast r = Z3_mk_ite(s->z3, Z3_mk_and(s->z3, 2, both), v, bits(s, 0, w));
  return w == 1 ? bool_of_bit(s, r) : r;
}

static Z3_ast fp_of_int(const SmtEngine *s, const ExprNode *n) {
  Z3_ast a = expr_sort(s->pool, n->arg[0]).kind == SORT_INT
                 ? Z3_mk_int2bv(s->z3, 64, smt_ast(s, n->arg[0]))
                 : vector(s, n->arg[0]);
  Z3_sort to = fp_sort(s, n->sort.width);
  return n->op == EXPR_FP_OF_SINT
             ? Z3_mk_fpa_to_fp_signed(s->z3, nearest(s), a, to)
             : Z3_mk_fpa_to_fp_unsigned(s->z3, nearest(s), a, to);
}

static Z3_ast fp_conversion(const SmtEngine *s, const ExprNode *n) {
  Z3_ast a = smt_ast(s, n->arg[0]);
  switch ((ExprOp)n->op) {
  case EXPR_FP_OF_FP:
    return Z3_mk_fpa_to_fp_float(s->z3, nearest(s), a,
                                 fp_sort(s, n->sort.width));
  case EXPR_FP_OF_SINT:
  case EXPR_FP_OF_UINT:
    return fp_of_int(s, n);
  case EXPR_FP_OF_BITS:
    return Z3_mk_fpa_to_fp_bv(s->z3, a, fp_sort(s, n->sort.width));
  case EXPR_SINT_OF_FP:
  case EXPR_UINT_OF_FP:
    return integer_of_fp(s, n, a);
  case EXPR_BITS_OF_FP: // of a NaN: Z3 would leave them open
    return Z3_mk_ite(s->z3, Z3_mk_fpa_is_nan(s->z3, a),
                     bits(s, smt_quiet_nan(n->sort.width), n->sort.width),
                     Z3_mk_fpa_to_ieee_bv(s->z3, a));
  default:
    return NULL;
  }
}

static Z3_ast fp_node(const SmtEngine *s, const ExprNode *n) {
  Z3_context c = s->z3;
  bool binary = expr_arity((ExprOp)n->op) == 2;
  Z3_ast a = smt_ast(s, n->arg[0]), b = binary ? smt_ast(s, n->arg[1]) : NULL;
  switch ((ExprOp)n->op) {
  case EXPR_FNEG:
    return Z3_mk_fpa_neg(c, a);
  case EXPR_FABS:
    return Z3_mk_fpa_abs(c, a);
  case EXPR_FSQRT:
    return Z3_mk_fpa_sqrt(c, nearest(s), a);
  case EXPR_FROUND:
    return Z3_mk_fpa_round_to_integral(c, rounding(s, (ExprRounding)n->arg[1]),
                                       a);
  case EXPR_FADD:
    return Z3_mk_fpa_add(c, nearest(s), a, b);
  case EXPR_FSUB:
    return Z3_mk_fpa_sub(c, nearest(s), a, b);
  case EXPR_FMUL:
    return Z3_mk_fpa_mul(c, nearest(s), a, b);
  case EXPR_FDIV:
    return Z3_mk_fpa_div(c, nearest(s), a, b);
  case EXPR_FEQ:
    return Z3_mk_fpa_eq(c, a, b);
  case EXPR_FLT:
    return Z3_mk_fpa_lt(c, a, b);
  case EXPR_FNAN:
    return Z3_mk_fpa_is_nan(c, a);
  default:
    return fp_conversion(s, n);
  }
}

// --- INT --------------------------------------------------------------------

Z3_ast smt_int(const SmtEngine *s, int64_t v) {
  return constant(s, expr_int_sort(), (uint64_t)v);
}

// Towards zero; Z3's div rounds such that the remainder is not negative.
static Z3_ast int_quotient(const SmtEngine *s, Z3_ast a, Z3_ast b) {
  Z3_context c = s->z3;
  Z3_ast minus = Z3_mk_unary_minus(c, a);
  return Z3_mk_ite(c, Z3_mk_ge(c, a, smt_int(s, 0)), Z3_mk_div(c, a, b),
                   Z3_mk_unary_minus(c, Z3_mk_div(c, minus, b)));
}

static Z3_ast int_remainder(const SmtEngine *s, Z3_ast a, Z3_ast b) {
  Z3_ast product[2] = {b, int_quotient(s, a, b)};
  Z3_ast rest[2] = {a, Z3_mk_mul(s->z3, 2, product)};
  return Z3_mk_sub(s->z3, 2, rest);
}

static Z3_ast int_node(const SmtEngine *s, const ExprNode *n) {
  bool binary = expr_arity((ExprOp)n->op) == 2;
  Z3_ast args[2] = {smt_ast(s, n->arg[0]),
                    binary ? smt_ast(s, n->arg[1]) : NULL};
  switch ((ExprOp)n->op) {
  case EXPR_NEG:
    return Z3_mk_unary_minus(s->z3, args[0]);
  case EXPR_ADD:
    return Z3_mk_add(s->z3, 2, args);
  case EXPR_SUB:
    return Z3_mk_sub(s->z3, 2, args);
  case EXPR_MUL:
    return Z3_mk_mul(s->z3, 2, args);
  case EXPR_SDIV:
    return int_quotient(s, args[0], args[1]);
  case EXPR_SREM:
    return int_remainder(s, args[0], args[1]);
  case EXPR_SLT:
    return Z3_mk_lt(s->z3, args[0], args[1]);
  default:
    return NULL;
  }
}

// --- strings ----------------------------------------------------------------

static Z3_ast str_node(const SmtEngine *s, const ExprNode *n) {
  Z3_ast a[3] = {0};
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++)
    a[i] = smt_ast(s, n->arg[i]);
  switch ((ExprOp)n->op) {
  case EXPR_STR_LEN:
    return Z3_mk_seq_length(s->z3, a[0]);
  case EXPR_STR_CONCAT:
    return Z3_mk_seq_concat(s->z3, 2, a);
  case EXPR_STR_SUB:
    return Z3_mk_seq_extract(s->z3, a[0], a[1], a[2]);
  case EXPR_STR_INDEX:
    return Z3_mk_seq_index(s->z3, a[0], a[1], a[2]);
  case EXPR_STR_CONTAINS:
    return Z3_mk_seq_contains(s->z3, a[0], a[1]);
  case EXPR_STR_PREFIX:
    return Z3_mk_seq_prefix(s->z3, a[0], a[1]);
  case EXPR_STR_SUFFIX:
    return Z3_mk_seq_suffix(s->z3, a[0], a[1]);
  case EXPR_STR_LT:
    return Z3_mk_str_lt(s->z3, a[0], a[1]);
  case EXPR_STR_TO_INT:
    return Z3_mk_str_to_int(s->z3, a[0]);
  case EXPR_STR_OF_INT:
    return Z3_mk_int_to_str(s->z3, a[0]);
  default:
    return NULL;
  }
}

// --- nodes ------------------------------------------------------------------

static Z3_ast translate(const SmtEngine *s, const ExprNode *n) {
  ExprOp op = (ExprOp)n->op;
  if (op == EXPR_CONST)
    return constant(s, n->sort, n->value);
  if (op == EXPR_VAR)
    return variable(s, n->arg[0], n->sort);
  if (op == EXPR_EQ)
    return Z3_mk_eq(s->z3, smt_ast(s, n->arg[0]), smt_ast(s, n->arg[1]));
  if (op == EXPR_ITE)
    return Z3_mk_ite(s->z3, smt_ast(s, n->arg[0]), smt_ast(s, n->arg[1]),
                     smt_ast(s, n->arg[2]));
  if (op >= EXPR_STR_LEN)
    return str_node(s, n);
  if (op >= EXPR_FNEG && op <= EXPR_BITS_OF_FP)
    return fp_node(s, n);
  return expr_sort(s->pool, n->arg[0]).kind == SORT_INT ? int_node(s, n)
                                                        : bv_node(s, n);
}

// NULL: Z3 lacks an operator in it.
static Z3_ast translate_checked(const SmtEngine *s, Expr e) {
  const ExprNode *n = expr_node(s->pool, e);
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++)
    if (!smt_ast(s, n->arg[i]))
      return NULL;
  Z3_ast a = translate(s, n);
  return Z3_get_error_code(s->z3) == Z3_OK ? a : NULL;
}

bool smt_translate(SmtEngine *s, Expr e) {
  s->nodes.len = 0;
  expr_walk(s->pool, &e, 1, 0, &s->asts, &s->nodes);
  for (size_t i = 0; i < s->nodes.len; i++)
    expr_map_put(&s->asts, s->nodes.items[i],
                 (uintptr_t)translate_checked(s, s->nodes.items[i]));
  return smt_ast(s, e) != NULL;
}
