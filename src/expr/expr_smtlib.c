// Expressions as an SMT-LIB 2 script, for looking at a query with any solver.
// Every node is a definition e<id>; conditions stay bit-vectors of one bit.
//
//   (declare-const |in[0]| (_ BitVec 8))
//   (define-fun e2 () (_ BitVec 1) (ite (bvult |in[0]| #x0a) #b1 #b0))
//   (assert (= e2 #b1))
//
// Limits: quotients of negative INTs are written as div, which rounds another
// way; the range of INT and the value of FP to integer out of range are left
// open. The engines have none of these.
#include <string.h>

#include "expr/expr_make.h"
#include "expr/walk.h"

static const char *const smt_names[] = {
#define EXPR_OP(name, n, smt) smt,
#include "expr/expr_ops.def"
#undef EXPR_OP
};

static void write_sort(ExprSort s, Str *out) {
  if (s.kind == SORT_BV)
    str_addf(out, "(_ BitVec %u)", s.width);
  else if (s.kind == SORT_FP)
    str_add(out, s.width == 32 ? "Float32" : "Float64");
  else
    str_add(out, s.kind == SORT_INT ? "Int" : "String");
}

static void write_bits(uint64_t v, unsigned width, Str *out) {
  str_add(out, "#b");
  for (unsigned i = width; i-- > 0;)
    str_addc(out, v >> i & 1 ? '1' : '0');
}

static void write_text(const ExprPool *p, uint64_t id, Str *out) {
  size_t n;
  const char *text = expr_text(p, id, &n);
  str_addc(out, '"');
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c < 32 || c > 126 || c == '"' || c == '\\')
      str_addf(out, "\\u{%x}", c);
    else
      str_addc(out, (char)c);
  }
  str_addc(out, '"');
}

static void write_const(const ExprPool *p, ExprSort s, uint64_t v, Str *out) {
  if (s.kind == SORT_BV)
    write_bits(v, s.width, out);
  else if (s.kind == SORT_STR)
    write_text(p, v, out);
  else if (s.kind == SORT_INT && (int64_t)v < 0)
    str_addf(out, "(- %llu)", 0ull - v);
  else if (s.kind == SORT_INT)
    str_addf(out, "%llu", (unsigned long long)v);
  else {
    str_addf(out, "((_ to_fp %s) ", s.width == 32 ? "8 24" : "11 53");
    write_bits(v, s.width, out);
    str_addc(out, ')');
  }
}

static void write_operand(const ExprPool *p, Expr e, Str *out) {
  const ExprNode *n = expr_node(p, e);
  if (n->op == EXPR_CONST)
    write_const(p, n->sort, n->value, out);
  else if (n->op == EXPR_VAR) {
    str_addc(out, '|');
    expr_var_name(p, n->arg[0], out);
    str_addc(out, '|');
  } else
    str_addf(out, "e%u", e);
}

static void write_operands(const ExprPool *p, const ExprNode *n, Str *out) {
  for (unsigned i = 0; i < expr_arity((ExprOp)n->op); i++) {
    str_addc(out, ' ');
    write_operand(p, n->arg[i], out);
  }
}

static void write_table(const ExprPool *p, const ExprNode *n, Str *out) {
  uint32_t len;
  const uint64_t *entries = expr_table_entries(p, n->arg[1], &len);
  for (uint32_t i = 0; i < len; i++) {
    str_add(out, "(ite (= ");
    write_operand(p, n->arg[0], out);
    str_addc(out, ' ');
    write_bits(i, expr_width(p, n->arg[0]), out);
    str_add(out, ") ");
    write_bits(entries[i], n->sort.width, out);
    str_addc(out, ' ');
  }
  write_bits(0, n->sort.width, out);
  for (uint32_t i = 0; i < len; i++)
    str_addc(out, ')');
}

static const char *rounding_name(ExprRounding how) {
  static const char *const modes[] = {"RNE", "RNA", "RTP", "RTN", "RTZ"};
  return modes[how];
}

// What stands in front of the operands.
static void write_head(const ExprPool *p, const ExprNode *n, Str *out) {
  const char *fp = n->sort.width == 32 ? "8 24" : "11 53";
  unsigned grows = n->sort.width - expr_width(p, n->arg[0]);
  const char *name = smt_names[n->op];
  switch ((ExprOp)n->op) {
  case EXPR_EXTRACT:
    str_addf(out, "((_ extract %u %u)", n->arg[1] + n->sort.width - 1,
             n->arg[1]);
    break;
  case EXPR_ZEXT:
  case EXPR_SEXT:
    str_addf(out, "((_ %s %u)", name, grows);
    break;
  case EXPR_FROUND:
    str_addf(out, "(%s %s", name, rounding_name((ExprRounding)n->arg[1]));
    break;
  case EXPR_FADD:
  case EXPR_FSUB:
  case EXPR_FMUL:
  case EXPR_FDIV:
  case EXPR_FSQRT:
    str_addf(out, "(%s RNE", name);
    break;
  case EXPR_FP_OF_FP:
  case EXPR_FP_OF_SINT:
  case EXPR_FP_OF_UINT:
    str_addf(out, "((_ %s %s) RNE", name, fp);
    break;
  case EXPR_FP_OF_BITS:
    str_addf(out, "((_ %s %s)", name, fp);
    break;
  case EXPR_SINT_OF_FP:
  case EXPR_UINT_OF_FP:
    str_addf(out, "((_ %s %u) RTZ", name, n->sort.width);
    break;
  case EXPR_BV_OF_INT:
    str_addf(out, "((_ %s %u)", name, n->sort.width);
    break;
  default:
    str_addf(out, "(%s", name);
  }
}

static const char *int_name(ExprOp op) {
  switch (op) {
  case EXPR_NEG:
  case EXPR_SUB:
    return "-";
  case EXPR_ADD:
    return "+";
  case EXPR_MUL:
    return "*";
  case EXPR_SDIV:
    return "div";
  case EXPR_SREM:
    return "rem";
  default:
    return "<";
  }
}

static bool gives_bool(ExprOp op) {
  switch (op) {
  case EXPR_EQ:
  case EXPR_ULT:
  case EXPR_SLT:
  case EXPR_FEQ:
  case EXPR_FLT:
  case EXPR_FLE:
  case EXPR_FNAN:
  case EXPR_STR_CONTAINS:
  case EXPR_STR_PREFIX:
  case EXPR_STR_SUFFIX:
  case EXPR_STR_LT:
    return true;
  default:
    return false;
  }
}

static void write_int_of_bv(const ExprPool *p, const ExprNode *n, Str *out) {
  unsigned w = expr_width(p, n->arg[0]);
  str_add(out, "(let ((n (bv2nat");
  write_operands(p, n, out);
  str_addf(out, "))) (ite (< n %llu) n (- n %s%llu)))", 1ull << (w - 1),
           w == 64 ? "1" : "", w == 64 ? 8446744073709551616ull : 1ull << w);
}

static void write_body(const ExprPool *p, const ExprNode *n, Str *out) {
  if (n->op == EXPR_TABLE) {
    write_table(p, n, out);
    return;
  }
  if (n->op == EXPR_INT_OF_BV) {
    write_int_of_bv(p, n, out);
    return;
  }
  bool arithmetic = n->op >= EXPR_NOT && n->op <= EXPR_SLT;
  if (n->op == EXPR_ITE) {
    str_add(out, "(ite (= #b1 ");
    write_operand(p, n->arg[0], out);
    str_add(out, ") ");
    write_operand(p, n->arg[1], out);
    str_addc(out, ' ');
    write_operand(p, n->arg[2], out);
  } else {
    if (arithmetic && is_int(p, n->arg[0]))
      str_addf(out, "(%s", int_name((ExprOp)n->op));
    else
      write_head(p, n, out);
    write_operands(p, n, out);
  }
  str_addc(out, ')');
}

static void write_definition(const ExprPool *p, Expr e, Str *out) {
  const ExprNode *n = expr_node(p, e);
  if (n->op == EXPR_CONST)
    return;
  if (n->op == EXPR_VAR) {
    str_add(out, "(declare-const ");
    write_operand(p, e, out);
    str_addc(out, ' ');
    write_sort(n->sort, out);
    str_add(out, ")\n");
    return;
  }
  str_addf(out, "(define-fun e%u () ", e);
  write_sort(n->sort, out);
  bool wrap = gives_bool((ExprOp)n->op);
  str_add(out, wrap ? " (ite " : " ");
  write_body(p, n, out);
  str_add(out, wrap ? " #b1 #b0))\n" : ")\n");
}

void expr_smtlib(const ExprPool *p, const Expr *conds, const bool *outcomes,
                 size_t n, Str *out) {
  ExprMap seen = {0};
  ExprList all = {0};
  expr_walk(p, conds, n, 0, &seen, &all);
  for (size_t i = 0; i < all.len; i++)
    write_definition(p, all.items[i], out);
  for (size_t i = 0; i < n; i++) {
    str_add(out, "(assert (= ");
    write_operand(p, conds[i], out);
    str_addf(out, " #b%d))\n", outcomes[i]);
  }
  str_add(out, "(check-sat)\n(get-model)\n");
  expr_map_release(&seen);
  array_release(&all);
}
