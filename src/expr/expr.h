// Expressions over the inputs of one run: a DAG in which every distinct
// expression exists once (hash-consed) and knows the value it had in that run.
//
//   ExprPool *pool = expr_pool_new();
//   VarId in = expr_new_vars(pool, "in", expr_bv(8), 3, bytes);  // "4 a"
//   Expr b = expr_input(pool, in + 2);                           // in[2]
//   Expr c = expr_eq(pool, expr_zext(pool, b, 32),
//                    expr_const(pool, 32, 'a'));
//   expr_value(pool, c) == 1                     what the run computed
//   expr_show_outcome(pool, c, true, 0, &out)    "in[2] == 'a'"
//   expr_pool_free(pool);
//
// Sorts. BV(w), w = 1..64: the integers and pointers of C. A condition is
// BV(1), which is also LLVM's i1: there is no BOOL of its own. FP(32), FP(64):
// IEEE, rounding to nearest even. INT: an integer without width that stays
// within 64 bits in every solution (PHP's integers). STR: a string of bytes.
// Not there: integers wider than 64 bits, long double; their users concretise.
//
// Builders simplify (docs/internals/expressions.md lists the rules) and fold
// constants, so the result may be any expression that is equal in every
// assignment. An expression without variables is always a CONST. Operands of
// two-place operators must have the same sort, else it is our bug (assert).
//
// Total semantics, the same for folding, evaluation and every solver:
//   x udiv 0 = all ones, x urem 0 = x, x sdiv 0 = x < 0 ? 1 : -1,
//   x srem 0 = x, INT_MIN sdiv -1 = INT_MIN (SMT-LIB's choices);
//   shifts by the width or more give 0, or the sign for ashr;
//   TABLE beyond its end is 0; FP to integer out of range is 0.
// What C leaves undefined there is a condition the caller adds to the path.
// INT operations whose result does not fit in 64 bits have no value: such an
// assignment is not a solution.
//
// Memory: 32 bytes a node and 5 to 11 for the hash table; nodes never move and
// are freed with the pool. An operand's id is always smaller than that of the
// node that uses it, so ascending ids are a topological order. Deep DAGs are
// fine: nothing here recurses over expressions, except expr_show_outcome, which
// is bounded.
#ifndef CULPRIT_EXPR_EXPR_H
#define CULPRIT_EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

typedef uint32_t Expr;  // 0: none. Replay uses 0 for "concrete"
typedef uint32_t VarId; // from 0, in order of creation

typedef enum {
#define EXPR_OP(name, n) EXPR_##name,
#include "expr/expr_ops.def"
#undef EXPR_OP
  EXPR_OP_COUNT
} ExprOp;

typedef enum { SORT_BV, SORT_FP, SORT_INT, SORT_STR } ExprKind;

typedef struct {
  uint8_t kind;  // ExprKind
  uint8_t width; // BV: 1..64; FP: 32 or 64; INT: 64; STR: 0
} ExprSort;

static inline ExprSort expr_bv(unsigned width) {
  return (ExprSort){SORT_BV, (uint8_t)width};
}
static inline ExprSort expr_fp(unsigned width) {
  return (ExprSort){SORT_FP, (uint8_t)width};
}
static inline ExprSort expr_int_sort(void) { return (ExprSort){SORT_INT, 64}; }
static inline ExprSort expr_str_sort(void) { return (ExprSort){SORT_STR, 0}; }

// One node. `arg` holds operands, then immediates: the variable of VAR, the
// lowest bit of EXTRACT, the table of TABLE, the rounding of FROUND.
// `value`: BV zero-extended; FP its bits; INT as int64_t; STR a text id.
typedef struct {
  uint8_t op; // ExprOp
  ExprSort sort;
  uint8_t leaves; // ITEs that end in constants: how many, or 255; else 0
  uint32_t arg[3];
  uint64_t value;   // under this run
  uint32_t support; // cached set of variables (support.h); 0: not computed
} __attribute__((packed, aligned(4))) ExprNode;
_Static_assert(sizeof(ExprNode) == 28, "a long run has millions of them");

#define EXPR_CHUNK_BITS 14
typedef struct ExprPool ExprPool;
struct ExprPool {
  ExprNode **chunks;
  uint32_t len; // ids 1..len-1 exist
  struct ExprPoolRest *rest;
};

ExprPool *expr_pool_new(void);
void expr_pool_free(ExprPool *p);
size_t expr_pool_bytes(const ExprPool *p);            // memory in use
bool expr_pool_has(const ExprPool *p, ExprKind kind); // any node of that sort?

// --- reading ----------------------------------------------------------------

static inline ExprNode *expr_node(const ExprPool *p, Expr e) {
  return &p->chunks[e >> EXPR_CHUNK_BITS][e & ((1u << EXPR_CHUNK_BITS) - 1)];
}
static inline ExprOp expr_op(const ExprPool *p, Expr e) {
  return (ExprOp)expr_node(p, e)->op;
}
static inline ExprSort expr_sort(const ExprPool *p, Expr e) {
  return expr_node(p, e)->sort;
}
static inline unsigned expr_width(const ExprPool *p, Expr e) {
  return expr_node(p, e)->sort.width;
}
static inline Expr expr_arg(const ExprPool *p, Expr e, unsigned i) {
  return expr_node(p, e)->arg[i];
}
// The value under this run; see ExprNode. Constant time.
static inline uint64_t expr_value(const ExprPool *p, Expr e) {
  return expr_node(p, e)->value;
}
static inline bool expr_is_const(const ExprPool *p, Expr e) {
  return expr_node(p, e)->op == EXPR_CONST;
}
unsigned expr_arity(ExprOp op); // operands; immediates not counted
const char *expr_op_name(ExprOp op);
static inline uint64_t expr_mask(unsigned width) {
  return width >= 64 ? ~0ull : (1ull << width) - 1;
}

// --- variables --------------------------------------------------------------

// `n` variables name[0]..name[n-1] of one sort with their values in this run
// (NULL: zeros); ids are consecutive, the first is returned. Cheap: 8 bytes
// each, the node is made on first use.
VarId expr_new_vars(ExprPool *p, const char *name, ExprSort sort, uint32_t n,
                    const uint64_t *values);
// Same for bytes: BV(8).
VarId expr_new_bytes(ExprPool *p, const char *name, const uint8_t *bytes,
                     uint32_t n);
// One variable that is called `name`, without an index.
VarId expr_new_var(ExprPool *p, const char *name, ExprSort sort,
                   uint64_t value);
VarId expr_new_str_var(ExprPool *p, const char *name, const char *value,
                       size_t n);

uint32_t expr_var_count(const ExprPool *p);
ExprSort expr_var_sort(const ExprPool *p, VarId v);
uint64_t expr_var_value(const ExprPool *p, VarId v);
void expr_var_name(const ExprPool *p, VarId v, Str *out); // appends "in[2]"
// The expression that is variable `v`.
Expr expr_input(ExprPool *p, VarId v);

// --- constants --------------------------------------------------------------

Expr expr_const(ExprPool *p, unsigned width, uint64_t value); // BV; truncates
Expr expr_bool(ExprPool *p, bool value);                      // BV(1)
Expr expr_const_fp(ExprPool *p, unsigned width, uint64_t bits);
Expr expr_const_double(ExprPool *p, double x);
Expr expr_const_int(ExprPool *p, int64_t value);
Expr expr_const_str(ExprPool *p, const char *s, size_t n);
// A constant of any sort from a value as it is kept in nodes.
Expr expr_const_of(ExprPool *p, ExprSort sort, uint64_t value);

// Byte strings, each kept once: id from bytes and back. Id 0 is "".
uint64_t expr_text_id(ExprPool *p, const char *s, size_t n);
const char *expr_text(const ExprPool *p, uint64_t id, size_t *n);

// --- any sort ---------------------------------------------------------------

// FP: equal as data, so NaN is NaN and 0 is not -0; see expr_feq.
Expr expr_eq(ExprPool *p, Expr a, Expr b);
Expr expr_ne(ExprPool *p, Expr a, Expr b);
Expr expr_ite(ExprPool *p, Expr cond, Expr a, Expr b); // cond: BV(1)

// --- BV; neg, add, sub, mul, sdiv, srem and the signed order take INT too ---

Expr expr_not(ExprPool *p, Expr a); // bitwise; of a condition: negation
Expr expr_neg(ExprPool *p, Expr a);
Expr expr_add(ExprPool *p, Expr a, Expr b);
Expr expr_sub(ExprPool *p, Expr a, Expr b);
Expr expr_mul(ExprPool *p, Expr a, Expr b);
Expr expr_udiv(ExprPool *p, Expr a, Expr b);
Expr expr_urem(ExprPool *p, Expr a, Expr b);
Expr expr_sdiv(ExprPool *p, Expr a, Expr b); // truncates, as C and PHP do
Expr expr_srem(ExprPool *p, Expr a, Expr b);
Expr expr_and(ExprPool *p, Expr a, Expr b);
Expr expr_or(ExprPool *p, Expr a, Expr b);
Expr expr_xor(ExprPool *p, Expr a, Expr b);
Expr expr_shl(ExprPool *p, Expr a, Expr by); // `by` as wide as `a`
Expr expr_lshr(ExprPool *p, Expr a, Expr by);
Expr expr_ashr(ExprPool *p, Expr a, Expr by);
Expr expr_ult(ExprPool *p, Expr a, Expr b); // comparisons give BV(1)
Expr expr_ule(ExprPool *p, Expr a, Expr b); // not (b < a)
Expr expr_slt(ExprPool *p, Expr a, Expr b);
Expr expr_sle(ExprPool *p, Expr a, Expr b);

// Bits lo .. lo+width-1 of `a`.
Expr expr_extract(ExprPool *p, Expr a, unsigned lo, unsigned width);
Expr expr_byte(ExprPool *p, Expr a, unsigned i); // byte i, 0 the lowest
Expr expr_concat(ExprPool *p, Expr high, Expr low);
Expr expr_zext(ExprPool *p, Expr a, unsigned width); // width >= that of a
Expr expr_sext(ExprPool *p, Expr a, unsigned width);
Expr expr_trunc(ExprPool *p, Expr a, unsigned width); // width <= that of a
// `a != 0`, as a condition.
Expr expr_nonzero(ExprPool *p, Expr a);

// Constant tables: ctype, CRC, switch tables. The same contents are kept once.
// `width` 1..64, `n` 1..65536 entries.
typedef uint32_t ExprTable;
ExprTable expr_new_table(ExprPool *p, unsigned width, const uint64_t *entries,
                         uint32_t n);
unsigned expr_table_width(const ExprPool *p, ExprTable t);
const uint64_t *expr_table_entries(const ExprPool *p, ExprTable t, uint32_t *n);
// Entry number `index` (unsigned, any width); 0 beyond the end.
Expr expr_table(ExprPool *p, ExprTable t, Expr index);

// --- FP: widths 32 and 64 ---------------------------------------------------

typedef enum {
  ROUND_NEAREST_EVEN, // rint, nearbyint
  ROUND_NEAREST_AWAY, // round
  ROUND_UP,           // ceil
  ROUND_DOWN,         // floor
  ROUND_ZERO,         // trunc
} ExprRounding;

Expr expr_fneg(ExprPool *p, Expr a);
Expr expr_fabs(ExprPool *p, Expr a);
Expr expr_fsqrt(ExprPool *p, Expr a);
Expr expr_fround(ExprPool *p, Expr a, ExprRounding how);
Expr expr_fadd(ExprPool *p, Expr a, Expr b);
Expr expr_fsub(ExprPool *p, Expr a, Expr b);
Expr expr_fmul(ExprPool *p, Expr a, Expr b);
Expr expr_fdiv(ExprPool *p, Expr a, Expr b);
Expr expr_frem(ExprPool *p, Expr a, Expr b); // fmod; queries answer UNKNOWN
Expr expr_feq(ExprPool *p, Expr a, Expr b);  // ordered: false with a NaN
Expr expr_flt(ExprPool *p, Expr a, Expr b);
Expr expr_fnan(ExprPool *p, Expr a);
// Unordered comparisons and the rest follow: uno = nan(a) or nan(b),
// une(a, b) = not feq(a, b).

Expr expr_fp_of_fp(ExprPool *p, Expr a, unsigned width);   // fpext, fptrunc
Expr expr_fp_of_sint(ExprPool *p, Expr a, unsigned width); // BV or INT
Expr expr_fp_of_uint(ExprPool *p, Expr a, unsigned width);
Expr expr_sint_of_fp(ExprPool *p, Expr a, unsigned width); // toward zero
Expr expr_uint_of_fp(ExprPool *p, Expr a, unsigned width);
Expr expr_fp_of_bits(ExprPool *p, Expr a); // bitcast of BV(32), BV(64)
Expr expr_bits_of_fp(ExprPool *p, Expr a);

// --- INT and STR ------------------------------------------------------------

Expr expr_str_len(ExprPool *p, Expr s);
Expr expr_str_concat(ExprPool *p, Expr a, Expr b);
// At most `len` bytes from `from`; "" if from is outside or len <= 0.
Expr expr_str_sub(ExprPool *p, Expr s, Expr from, Expr len);
// Where `t` is first found at or behind `from`; -1 if nowhere.
Expr expr_str_index(ExprPool *p, Expr s, Expr t, Expr from);
Expr expr_str_contains(ExprPool *p, Expr s, Expr t);
Expr expr_str_prefix(ExprPool *p, Expr prefix, Expr s);
Expr expr_str_suffix(ExprPool *p, Expr suffix, Expr s);
Expr expr_str_lt(ExprPool *p, Expr a, Expr b); // by bytes
Expr expr_str_to_int(ExprPool *p, Expr s);     // all digits, else -1
Expr expr_str_of_int(ExprPool *p, Expr n);     // "" if negative

// --- printing ---------------------------------------------------------------

// Appends "`e` has this outcome" as a C-like formula for people: "in[2] !=
// 'a'". With outcome true, `e` may have any sort. The text ends with "..."
// beyond `max` bytes or so (0: 400).
void expr_show_outcome(const ExprPool *p, Expr e, bool outcome, size_t max,
                       Str *out);

#endif
