// Relations: how the values of a comparison stand to each other, whatever
// becomes of its result; the sign of integers that are stored or returned.
//
// Compared as PHP does, but only scalars: comparing objects may run code of the
// application, and arrays may hold objects.
#include "close.h"

#include <math.h>

static zval *value_of(const close_at *a, zend_uchar type, znode_op node) {
  static zval null;
  zval *v = culprit_operand(a->ex, a->op, type, node);
  ZVAL_NULL(&null);
  return Z_TYPE_P(v) == IS_UNDEF ? &null : v;
}

static bool is_scalar(const zval *v) { return Z_TYPE_P(v) <= IS_STRING; }

static bool is_nan(const zval *v) {
  return Z_TYPE_P(v) == IS_DOUBLE && isnan(Z_DVAL_P(v));
}

static unsigned by_sign(int order) {
  return order < 0    ? OUTCOME_LESS
         : order == 0 ? OUTCOME_EQUAL
                      : OUTCOME_GREATER;
}

static bool is_bool(const zval *v) {
  return Z_TYPE_P(v) == IS_FALSE || Z_TYPE_P(v) == IS_TRUE;
}

static unsigned strictly(zval *x, zval *y) {
  if (Z_TYPE_P(x) != Z_TYPE_P(y) && !(is_bool(x) && is_bool(y)))
    return OUTCOME_DIFFERENT;
  if (Z_TYPE_P(x) == IS_STRING)
    return by_sign(zend_binary_strcmp(Z_STRVAL_P(x), Z_STRLEN_P(x),
                                      Z_STRVAL_P(y), Z_STRLEN_P(y)));
  return by_sign(zend_compare(x, y));
}

static void compare(const close_at *a, bool strict) {
  zval *x = value_of(a, a->op->op1_type, a->op->op1);
  zval *y = value_of(a, a->op->op2_type, a->op->op2);
  if (!is_scalar(x) || !is_scalar(y))
    return;
  close_relation(a, RELATED_COMPARE,
                 is_nan(x) || is_nan(y) ? OUTCOME_UNORDERED
                 : strict               ? strictly(x, y)
                                        : by_sign(zend_compare(x, y)));
}

static void tell_null(const close_at *a, const zval *v) {
  close_relation(a, RELATED_COMPARE,
                 v && Z_TYPE_P(v) > IS_NULL ? OUTCOME_NON_NULL : OUTCOME_NULL);
}

static void tell_sign(const close_at *a, RelatedKind kind, const zval *v) {
  if (Z_TYPE_P(v) == IS_LONG)
    close_relation(a, kind,
                   Z_LVAL_P(v) < 0    ? OUTCOME_NEGATIVE
                   : Z_LVAL_P(v) == 0 ? OUTCOME_ZERO
                                      : OUTCOME_POSITIVE);
}

static void stored(const close_at *a) {
  const zend_op *op = a->op;
  const zval *v = value_of(a, op->op2_type, op->op2);
  const zval *old = value_of(a, op->op1_type, op->op1);
  tell_sign(a, RELATED_STORE, v);
  if (Z_TYPE_P(v) == IS_LONG && Z_TYPE_P(old) == IS_LONG)
    close_relation(a, RELATED_STORE,
                   Z_LVAL_P(v) == Z_LVAL_P(old) ? OUTCOME_SAME
                                                : OUTCOME_CHANGED);
}

static bool is_isset(const zend_op *op) {
  return !(op->extended_value & ZEND_ISEMPTY);
}

static void element_set(const close_at *a) {
  zval *v = value_of(a, a->op->op1_type, a->op->op1), *key = close_key_of(a);
  if (Z_TYPE_P(v) != IS_ARRAY || !key || !is_isset(a->op))
    return;
  if (Z_TYPE_P(key) > IS_STRING || Z_TYPE_P(key) == IS_DOUBLE)
    return;
  zval *e = close_find_element(Z_ARRVAL_P(v), key);
  if (e && Z_TYPE_P(e) == IS_INDIRECT)
    e = Z_INDIRECT_P(e);
  if (e)
    ZVAL_DEREF(e);
  tell_null(a, e);
}

void close_compare(const close_at *a) {
  const zend_op *op = a->op;
  switch (op->opcode) {
  case ZEND_IS_EQUAL:
  case ZEND_IS_NOT_EQUAL:
  case ZEND_IS_SMALLER:
  case ZEND_IS_SMALLER_OR_EQUAL:
  case ZEND_SPACESHIP:
  case ZEND_CASE:
    compare(a, false);
    break;
  case ZEND_IS_IDENTICAL:
  case ZEND_IS_NOT_IDENTICAL:
  case ZEND_CASE_STRICT:
    compare(a, true);
    break;
  case ZEND_TYPE_CHECK:
    if (op->extended_value == MAY_BE_NULL ||
        op->extended_value == (MAY_BE_ANY & ~MAY_BE_NULL))
      tell_null(a, value_of(a, op->op1_type, op->op1));
    break;
  case ZEND_ISSET_ISEMPTY_CV:
    if (is_isset(op))
      tell_null(a, value_of(a, op->op1_type, op->op1));
    break;
  case ZEND_ISSET_ISEMPTY_DIM_OBJ:
    element_set(a);
    break;
  case ZEND_ASSIGN:
    stored(a);
    break;
  case ZEND_RETURN:
    tell_sign(a, RELATED_RETURN, value_of(a, op->op1_type, op->op1));
    break;
  default:
    break;
  }
}
