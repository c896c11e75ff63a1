// Operators on values that have a term: done here as the VM would do them, with
// the engine's own functions, so that the result can be given its term. An
// operator that no tagged value takes part in is left to the VM.
#include "shadow.h"

#include "zend_exceptions.h"

// --- operands ---------------------------------------------------------------

static bool is_scalar(const zval *v) {
  return Z_TYPE_P(v) >= IS_NULL && Z_TYPE_P(v) <= IS_STRING;
}

// A comparison that jumps by itself has no result.
static bool is_smart(const zend_op *op) {
  return op->result_type & (IS_SMART_BRANCH_JMPZ | IS_SMART_BRANCH_JMPNZ);
}

static void free_operand(zend_execute_data *ex, zend_uchar type,
                         znode_op node) {
  if (type & (IS_TMP_VAR | IS_VAR))
    zval_ptr_dtor_nogc(ZEND_CALL_VAR(ex, node.var));
}

static void free_operands(zend_execute_data *ex, const zend_op *op) {
  free_operand(ex, op->op1_type, op->op1);
  free_operand(ex, op->op2_type, op->op2);
}

// Goes on behind the opcode, with its result. An exception has already said
// where to go on.
static int finish(zend_execute_data *ex, const zend_op *op, zval *result,
                  shadow term) {
  zval *to = ZEND_CALL_VAR(ex, op->result.var);
  if (UNEXPECTED(EG(exception))) {
    zval_ptr_dtor_nogc(result);
    ZVAL_UNDEF(to);
    return ZEND_USER_OPCODE_CONTINUE;
  }
  ZVAL_COPY_VALUE(to, result);
  shadow_set(to, term);
  ex->opline = op + 1;
  return ZEND_USER_OPCODE_CONTINUE;
}

static int finish_bool(zend_execute_data *ex, const zend_op *op, bool yes,
                       shadow term) {
  zval result;
  ZVAL_BOOL(&result, yes);
  return finish(ex, op, &result, term);
}

static shadow make_not(shadow term, bool yes) {
  zval result;
  ZVAL_BOOL(&result, yes);
  return shadow_make(TERM_NOT, &term, 1, &result);
}

// --- binary operators -------------------------------------------------------

static const struct {
  zend_uchar opcode;
  bool negated, keeps_first;
  TermOp op;
} binaries[] = {
    {ZEND_ADD, false, false, TERM_ADD},
    {ZEND_SUB, false, false, TERM_SUB},
    {ZEND_MUL, false, false, TERM_MUL},
    {ZEND_DIV, false, false, TERM_DIV},
    {ZEND_MOD, false, false, TERM_MOD},
    {ZEND_POW, false, false, TERM_POW},
    {ZEND_SL, false, false, TERM_SHL},
    {ZEND_SR, false, false, TERM_SHR},
    {ZEND_BW_AND, false, false, TERM_BIT_AND},
    {ZEND_BW_OR, false, false, TERM_BIT_OR},
    {ZEND_BW_XOR, false, false, TERM_BIT_XOR},
    {ZEND_CONCAT, false, false, TERM_CONCAT},
    {ZEND_FAST_CONCAT, false, false, TERM_CONCAT},
    {ZEND_IS_EQUAL, false, false, TERM_EQ},
    {ZEND_IS_NOT_EQUAL, true, false, TERM_EQ},
    {ZEND_CASE, false, true, TERM_EQ},
    {ZEND_IS_IDENTICAL, false, false, TERM_SAME},
    {ZEND_IS_NOT_IDENTICAL, true, false, TERM_SAME},
    {ZEND_CASE_STRICT, false, true, TERM_SAME},
    {ZEND_IS_SMALLER, false, false, TERM_LT},
    {ZEND_IS_SMALLER_OR_EQUAL, false, false, TERM_LE},
    {ZEND_SPACESHIP, false, false, TERM_ORDER},
};
enum { BINARIES = sizeof binaries / sizeof *binaries };
static unsigned char binary_of[256]; // number + 1

static shadow binary_term(unsigned n, shadow a, shadow b, const zval *result) {
  if (!binaries[n].negated)
    return shadow_make2(binaries[n].op, a, b, result);
  zval turned;
  ZVAL_BOOL(&turned, Z_TYPE_P(result) == IS_FALSE);
  shadow inner = shadow_make2(binaries[n].op, a, b, &turned);
  return make_not(inner, Z_TYPE_P(result) == IS_TRUE);
}

// A division by zero is a way of its own that the run could have gone.
static void decide_zero(zend_uchar opcode, const zval *divisor, shadow b) {
  if ((opcode != ZEND_DIV && opcode != ZEND_MOD) || !shadow_maybe(divisor))
    return;
  zval zero, result;
  ZVAL_LONG(&zero, 0);
  bool is_zero = zend_compare((zval *)divisor, &zero) == 0;
  ZVAL_BOOL(&result, is_zero);
  shadow_branch(shadow_make2(TERM_EQ, b, shadow_int(0), &result), is_zero, 0);
}

// Arithmetic throws at what is no number.
static void decide_number(unsigned n, const zval *v, shadow x) {
  zval result;
  zend_long l;
  double d;
  if (binaries[n].op > TERM_SHR || Z_TYPE_P(v) != IS_STRING || !shadow_maybe(v))
    return;
  bool yes = is_numeric_string(Z_STRVAL_P(v), Z_STRLEN_P(v), &l, &d, true) != 0;
  ZVAL_BOOL(&result, yes);
  shadow_branch(shadow_make(TERM_NUMBERLIKE, &x, 1, &result), yes, 0);
}

// Bitwise operators work on strings byte by byte: no term says so.
static bool has_term(unsigned n, const zval *a, const zval *b) {
  if (binaries[n].op < TERM_BIT_AND || binaries[n].op > TERM_BIT_XOR)
    return true;
  return Z_TYPE_P(a) != IS_STRING || Z_TYPE_P(b) != IS_STRING;
}

static binary_op_type function_of(zend_uchar opcode) {
  return opcode == ZEND_FAST_CONCAT ? concat_function : get_binary_op(opcode);
}

static zend_never_inline int do_binary(zend_execute_data *ex, const zend_op *op,
                                       zval *a, zval *b) {
  unsigned n = binary_of[op->opcode] - 1u;
  zval result;
  if (is_smart(op) || !is_scalar(a) || !is_scalar(b) || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  shadow x = shadow_term(a), y = shadow_term(b);
  if (has_term(n, a, b)) {
    decide_number(n, a, x);
    decide_number(n, b, y);
  }
  decide_zero(op->opcode, b, y);
  ZVAL_UNDEF(&result);
  function_of(op->opcode)(&result, a, b);
  shadow t = 0;
  if (!EG(exception) && has_term(n, a, b))
    t = binary_term(n, x, y, &result);
  if (binaries[n].keeps_first)
    free_operand(ex, op->op2_type, op->op2);
  else
    free_operands(ex, op);
  return finish(ex, op, &result, t);
}

static int on_binary(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 1), *b = OPERAND(ex, op, 2);
  if (EXPECTED(!shadow_maybe(a) && !shadow_maybe(b)))
    return ZEND_USER_OPCODE_DISPATCH;
  return do_binary(ex, op, a, b);
}

static int on_comparison(zend_execute_data *ex) {
  if (culprit.collect & COLLECT_COMPARES)
    culprit_compare_op(ex);
  return on_binary(ex);
}

// --- assignments that compute -----------------------------------------------

// The variable that is changed; NULL: leave it to the VM.
static zval *target_of(zend_execute_data *ex, const zend_op *op) {
  zval *v = ZEND_CALL_VAR(ex, op->op1.var);
  if (op->op1_type == IS_VAR) {
    if (Z_TYPE_P(v) != IS_INDIRECT)
      return NULL;
    v = Z_INDIRECT_P(v);
  }
  if (Z_ISREF_P(v)) {
    if (ZEND_REF_HAS_TYPE_SOURCES(Z_REF_P(v)))
      return NULL;
    v = Z_REFVAL_P(v);
  }
  return is_scalar(v) ? v : NULL;
}

static void replace(zend_execute_data *ex, const zend_op *op, zval *target,
                    zval *value, shadow term) {
  zval old;
  ZVAL_COPY_VALUE(&old, target);
  ZVAL_COPY_VALUE(target, value);
  shadow_set(target, term);
  if (op->result_type & (IS_TMP_VAR | IS_VAR))
    ZVAL_COPY(ZEND_CALL_VAR(ex, op->result.var), target);
  zval_ptr_dtor_nogc(&old);
}

static int fail_assign(zend_execute_data *ex, const zend_op *op, zval *result) {
  zval_ptr_dtor_nogc(result);
  if (op->result_type & (IS_TMP_VAR | IS_VAR))
    ZVAL_UNDEF(ZEND_CALL_VAR(ex, op->result.var));
  return ZEND_USER_OPCODE_CONTINUE;
}

static int on_assign_op(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *target = target_of(ex, op), *b = OPERAND(ex, op, 2), result;
  if (EXPECTED(!target || (!shadow_maybe(target) && !shadow_maybe(b))) ||
      !is_scalar(b) || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  zend_uchar opcode = (zend_uchar)op->extended_value;
  unsigned n = binary_of[opcode] - 1u;
  shadow x = shadow_term(target), y = shadow_term(b);
  if (has_term(n, target, b)) {
    decide_number(n, target, x);
    decide_number(n, b, y);
  }
  decide_zero(opcode, b, y);
  ZVAL_UNDEF(&result);
  function_of(opcode)(&result, target, b);
  shadow t = EG(exception) || !has_term(n, target, b)
                 ? 0
                 : binary_term(n, x, y, &result);
  free_operand(ex, op->op2_type, op->op2);
  if (EG(exception))
    return fail_assign(ex, op, &result);
  replace(ex, op, target, &result, t);
  ex->opline = op + 1;
  return ZEND_USER_OPCODE_CONTINUE;
}

static int on_step(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *target = target_of(ex, op), one, result, old;
  if (EXPECTED(!target || !shadow_maybe(target)) ||
      Z_TYPE_P(target) != IS_LONG || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  bool up = op->opcode == ZEND_PRE_INC || op->opcode == ZEND_POST_INC;
  bool post = op->opcode == ZEND_POST_INC || op->opcode == ZEND_POST_DEC;
  ZVAL_LONG(&one, 1);
  ZVAL_COPY_VALUE(&old, target);
  (up ? add_function : sub_function)(&result, target, &one);
  shadow t = shadow_make2(up ? TERM_ADD : TERM_SUB, shadow_term(target),
                          shadow_int(1), &result);
  ZVAL_COPY_VALUE(target, &result);
  shadow_set(target, t);
  if (op->result_type & (IS_TMP_VAR | IS_VAR))
    ZVAL_COPY_VALUE(ZEND_CALL_VAR(ex, op->result.var), post ? &old : target);
  ex->opline = op + 1;
  return ZEND_USER_OPCODE_CONTINUE;
}

// --- one operand ------------------------------------------------------------

static int on_not(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 1);
  if (EXPECTED(!shadow_maybe(a)) || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  bool yes = !zend_is_true(a);
  shadow t = make_not(shadow_find(a), yes);
  free_operand(ex, op->op1_type, op->op1);
  return finish_bool(ex, op, yes, t);
}

int culprit_shadow_bool(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 1), result;
  if (EXPECTED(!shadow_maybe(a)) || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  ZVAL_BOOL(&result, zend_is_true(a));
  shadow x = shadow_find(a), t = shadow_make(TERM_TRUTH, &x, 1, &result);
  free_operand(ex, op->op1_type, op->op1);
  return finish(ex, op, &result, t);
}

static bool cast(uint32_t type, zval *a, zval *result, TermOp *term) {
  switch (type) {
  case IS_LONG:
    ZVAL_LONG(result, zval_get_long(a));
    *term = TERM_INT;
    return true;
  case IS_DOUBLE:
    ZVAL_DOUBLE(result, zval_get_double(a));
    *term = TERM_FLOAT;
    return true;
  case IS_STRING:
    ZVAL_STR(result, zval_get_string(a));
    *term = TERM_STRING;
    return true;
  default:
    return false;
  }
}

static int on_cast(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 1), result;
  TermOp term;
  if (EXPECTED(!shadow_maybe(a)) || !culprit.recording ||
      !cast(op->extended_value, a, &result, &term))
    return ZEND_USER_OPCODE_DISPATCH;
  shadow x = shadow_find(a);
  bool same = Z_TYPE_P(a) == Z_TYPE(result);
  shadow t = same ? x : shadow_make(term, &x, 1, &result);
  free_operand(ex, op->op1_type, op->op1);
  return finish(ex, op, &result, t);
}

static int on_isset_variable(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 1);
  if (EXPECTED(!shadow_maybe(a)) || !(op->extended_value & ZEND_ISEMPTY) ||
      is_smart(op) || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  bool yes = !zend_is_true(a);
  return finish_bool(ex, op, yes, make_not(shadow_find(a), yes));
}

int culprit_shadow_strlen(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 1), result;
  if (EXPECTED(!shadow_maybe(a)) || Z_TYPE_P(a) != IS_STRING ||
      !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  ZVAL_LONG(&result, (zend_long)Z_STRLEN_P(a));
  shadow x = shadow_find(a), t = shadow_make(TERM_STRLEN, &x, 1, &result);
  free_operand(ex, op->op1_type, op->op1);
  return finish(ex, op, &result, t);
}

int culprit_shadow_count(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 1), result;
  if (Z_TYPE_P(a) != IS_ARRAY || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  ZVAL_LONG(&result, zend_hash_num_elements(Z_ARRVAL_P(a)));
  shadow t = shadow_count(Z_ARRVAL_P(a), &result);
  if (EXPECTED(!t))
    return ZEND_USER_OPCODE_DISPATCH;
  free_operand(ex, op->op1_type, op->op1);
  return finish(ex, op, &result, t);
}

// === and !== with null, false or true.
static int on_type(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 1), what, result;
  if (EXPECTED(!shadow_maybe(a)) || is_smart(op) || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  uint32_t mask = op->extended_value;
  bool negated = mask & (1u << IS_STRING);
  uint32_t type = (negated ? ~mask : mask) & MAY_BE_ANY;
  if (type == MAY_BE_NULL)
    ZVAL_NULL(&what);
  else if (type == MAY_BE_FALSE || type == MAY_BE_TRUE)
    ZVAL_BOOL(&what, type == MAY_BE_TRUE);
  else
    return ZEND_USER_OPCODE_DISPATCH;
  bool same = Z_TYPE_P(a) == Z_TYPE(what);
  ZVAL_BOOL(&result, same);
  shadow t =
      shadow_make2(TERM_SAME, shadow_find(a), shadow_term(&what), &result);
  if (negated)
    t = make_not(t, !same);
  free_operand(ex, op->op1_type, op->op1);
  return finish_bool(ex, op, same != negated, t);
}

// A match or switch that jumps by a table: one key after the other is compared.
static int on_table(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 1), *jumps = RT_CONSTANT(op, op->op2), item, same;
  zend_ulong number;
  zend_string *key;
  int left = SHADOW_LIST;
  if (EXPECTED(!shadow_maybe(a)) || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  shadow x = shadow_find(a);
  ZEND_HASH_FOREACH_KEY(Z_ARRVAL_P(jumps), number, key) {
    if (key)
      ZVAL_STR(&item, key);
    else
      ZVAL_LONG(&item, (zend_long)number);
    bool found = fast_is_identical_function(a, &item);
    ZVAL_BOOL(&same, found);
    shadow_branch(shadow_make2(TERM_SAME, x, shadow_term(&item), &same), found,
                  0);
    if (found || !left--)
      break;
  }
  ZEND_HASH_FOREACH_END();
  return ZEND_USER_OPCODE_DISPATCH;
}

// --- text with variables in it ----------------------------------------------

// A number's digits take its term along.
static int on_rope(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = OPERAND(ex, op, 2), text;
  if (EXPECTED(!shadow_maybe(a)) || Z_TYPE_P(a) == IS_STRING ||
      !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  bool first = op->opcode == ZEND_ROPE_INIT;
  zend_string **rope =
      (zend_string **)ZEND_CALL_VAR(ex, first ? op->result.var : op->op1.var);
  shadow x = shadow_find(a);
  ZVAL_STR(&text, zval_get_string(a));
  shadow_set(&text, shadow_make(TERM_STRING, &x, 1, &text));
  rope[first ? 0 : op->extended_value] = Z_STR(text);
  ex->opline = op + 1;
  return ZEND_USER_OPCODE_CONTINUE;
}

static bool any_tagged(zend_string *const *rope, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (GC_TYPE_INFO(rope[i]) >> GC_INFO_SHIFT)
      return true;
  return false;
}

// All pieces are strings by now: joined two by two.
static int on_rope_end(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zend_string **rope = (zend_string **)ZEND_CALL_VAR(ex, op->op1.var);
  zval *last = OPERAND(ex, op, 2), whole, more;
  uint32_t n = op->extended_value;
  if (Z_TYPE_P(last) != IS_STRING || !culprit.recording ||
      (!any_tagged(rope, n) && !shadow_maybe(last)))
    return ZEND_USER_OPCODE_DISPATCH;
  ZVAL_STR(&whole, rope[0]);
  for (uint32_t i = 1; i <= n; i++) {
    zval piece;
    if (i < n)
      ZVAL_STR(&piece, rope[i]);
    else
      ZVAL_COPY(&piece, last);
    bool tagged = shadow_maybe(&whole) || shadow_maybe(&piece);
    shadow x = tagged ? shadow_term(&whole) : 0;
    shadow y = tagged ? shadow_term(&piece) : 0;
    concat_function(&more, &whole, &piece);
    shadow_set(&more, shadow_make2(TERM_CONCAT, x, y, &more));
    zval_ptr_dtor_str(&whole);
    zval_ptr_dtor_str(&piece);
    ZVAL_COPY_VALUE(&whole, &more);
  }
  free_operand(ex, op->op2_type, op->op2);
  return finish(ex, op, &whole, shadow_find(&whole));
}

// --- lists and keys ---------------------------------------------------------

shadow shadow_list(const HashTable *ht, bool keys) {
  shadow list = 0;
  int left = SHADOW_LIST;
  zend_ulong number;
  zend_string *key;
  zval *element, item, none;
  ZVAL_NULL(&none);
  ZEND_HASH_FOREACH_KEY_VAL((HashTable *)ht, number, key, element) {
    if (!left--)
      return 0;
    if (!keys)
      ZVAL_COPY_VALUE(&item, element);
    else if (key)
      ZVAL_STR(&item, key);
    else
      ZVAL_LONG(&item, (zend_long)number);
    shadow x = shadow_term(&item);
    if (!x || !(list = shadow_make2(TERM_LIST, list, x, &none)))
      return 0;
  }
  ZEND_HASH_FOREACH_END();
  return list;
}

static zval *find_key(const HashTable *ht, const zval *key) {
  return Z_TYPE_P(key) == IS_STRING
             ? zend_symtable_find((HashTable *)ht, Z_STR_P(key))
             : zend_hash_index_find(ht, (zend_ulong)Z_LVAL_P(key));
}

// A key with a term is looked up: is it one of those that are there?
static shadow key_term(const HashTable *ht, const zval *key, bool there) {
  zval result;
  ZVAL_BOOL(&result, there);
  return shadow_make2(TERM_KEY_IN, shadow_find(key), shadow_list(ht, true),
                      &result);
}

// Could looking up this key depend on the input?
static zend_always_inline bool is_of_interest(const HashTable *ht,
                                              const zval *key) {
  return shadow_arrays & shadow_bit(ht) || shadow_maybe(key);
}

static bool is_key(const zval *key) {
  return Z_TYPE_P(key) == IS_STRING || Z_TYPE_P(key) == IS_LONG;
}

// isset() or empty() of the element, which is input or has a term.
static int do_isset(zend_execute_data *ex, const zend_op *op,
                    const HashTable *ht, const zval *key, shadow var,
                    zval *value) {
  bool is_empty = op->extended_value & ZEND_ISEMPTY;
  zval *v = value;
  zval result;
  if (v)
    ZVAL_DEREF(v);
  bool there = v && Z_TYPE_P(v) > IS_NULL;
  bool yes = is_empty ? !there || !zend_is_true(v) : there;
  ZVAL_BOOL(&result, yes);
  shadow t;
  if (is_empty && var)
    t = make_not(var, yes);
  else if (var)
    t = shadow_make(TERM_ISSET, &var, 1, &result);
  else
    t = key_term(ht, key, there);
  if (!var && yes != there)
    t = make_not(t, yes);
  free_operands(ex, op);
  return finish(ex, op, &result, t);
}

static int isset_of_absent(zend_execute_data *ex, const zend_op *op,
                           const zval *key) {
  shadow var = shadow_key_of_absent(ex, key);
  zval result;
  if (!var)
    return ZEND_USER_OPCODE_DISPATCH;
  bool is_empty = op->extended_value & ZEND_ISEMPTY;
  ZVAL_BOOL(&result, is_empty);
  shadow t = is_empty ? make_not(var, true)
                      : shadow_make(TERM_ISSET, &var, 1, &result);
  free_operands(ex, op);
  return finish(ex, op, &result, t);
}

static int on_isset(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *array = OPERAND(ex, op, 1), *key = OPERAND(ex, op, 2);
  if (culprit.collect & COLLECT_COMPARES)
    culprit_compare_op(ex);
  if (Z_TYPE_P(array) == IS_NULL && !is_smart(op) && culprit.recording)
    return isset_of_absent(ex, op, key);
  if (Z_TYPE_P(array) != IS_ARRAY || !is_key(key) || is_smart(op) ||
      !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  const HashTable *ht = Z_ARRVAL_P(array);
  if (!(op->extended_value & ZEND_ISEMPTY) && !is_of_interest(ht, key))
    return ZEND_USER_OPCODE_DISPATCH;
  zval *value = find_key(ht, key);
  shadow var = shadow_key(ht, key, value);
  if (!var && value && op->extended_value & ZEND_ISEMPTY)
    var = shadow_find(value);
  if (!var && !shadow_maybe(key))
    return ZEND_USER_OPCODE_DISPATCH;
  return do_isset(ex, op, ht, key, var, value);
}

static int do_character(zend_execute_data *ex, const zend_op *op, zval *text,
                        zval *offset) {
  zend_long at = Z_LVAL_P(offset);
  zval result;
  if (at < 0 || (size_t)at >= Z_STRLEN_P(text) || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  ZVAL_STRINGL(&result, Z_STRVAL_P(text) + at, 1);
  shadow t = shadow_make2(TERM_CHAR_AT, shadow_term(text), shadow_term(offset),
                          &result);
  free_operands(ex, op);
  return finish(ex, op, &result, t);
}

// An element is read: was the key there?
static void decide_key(const HashTable *ht, const zval *key, bool quiet) {
  zval *value = find_key(ht, key), result;
  shadow var = shadow_key(ht, key, value);
  bool there = value != NULL;
  ZVAL_BOOL(&result, there);
  if (var && (!there || quiet))
    shadow_branch(shadow_make(TERM_ISSET, &var, 1, &result), there, 0);
  else if (!var && shadow_maybe(key))
    shadow_branch(key_term(ht, key, there), there, 0);
}

static int on_dim(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *array = OPERAND(ex, op, 1), *key = OPERAND(ex, op, 2);
  if (culprit.collect & COLLECT_COMPARES)
    culprit_compare_op(ex);
  if (EXPECTED(Z_TYPE_P(array) == IS_ARRAY)) {
    if (is_key(key) && is_of_interest(Z_ARRVAL_P(array), key) &&
        culprit.recording)
      decide_key(Z_ARRVAL_P(array), key, op->opcode == ZEND_FETCH_DIM_IS);
  } else if (Z_TYPE_P(array) == IS_NULL && culprit.recording) {
    zval no;
    ZVAL_FALSE(&no);
    shadow var = shadow_key_of_absent(ex, key);
    shadow_branch(shadow_make(TERM_ISSET, &var, 1, &no), false, 0);
  } else if (Z_TYPE_P(array) == IS_STRING && shadow_maybe(array) &&
             Z_TYPE_P(key) == IS_LONG) {
    return do_character(ex, op, array, key);
  }
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_key_exists(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *key = OPERAND(ex, op, 1), *array = OPERAND(ex, op, 2), result;
  if (culprit.collect & COLLECT_COMPARES)
    culprit_compare_op(ex);
  if (Z_TYPE_P(array) != IS_ARRAY || !is_key(key) || is_smart(op) ||
      !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  const HashTable *ht = Z_ARRVAL_P(array);
  if (!is_of_interest(ht, key))
    return ZEND_USER_OPCODE_DISPATCH;
  zval *value = find_key(ht, key);
  shadow var = shadow_key(ht, key, value);
  if (!var && !shadow_maybe(key))
    return ZEND_USER_OPCODE_DISPATCH;
  ZVAL_BOOL(&result, value != NULL);
  shadow t = var ? shadow_make(TERM_ISSET, &var, 1, &result)
                 : key_term(ht, key, value != NULL);
  free_operands(ex, op);
  return finish(ex, op, &result, t);
}

// in_array() of constants: they are the keys of a table, all strings or all
// integers, and equal means the same.
static int on_in_array(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *value = OPERAND(ex, op, 1), *list = OPERAND(ex, op, 2), result;
  if (culprit.collect & COLLECT_COMPARES)
    culprit_compare_op(ex);
  if (EXPECTED(!shadow_maybe(value)) || Z_TYPE_P(value) != IS_STRING ||
      is_smart(op) || !culprit.recording)
    return ZEND_USER_OPCODE_DISPATCH;
  ZVAL_BOOL(&result, zend_hash_find(Z_ARRVAL_P(list), Z_STR_P(value)) != NULL);
  zval strict;
  ZVAL_TRUE(&strict);
  shadow args[3] = {shadow_find(value), shadow_list(Z_ARRVAL_P(list), true),
                    shadow_term(&strict)};
  shadow t = shadow_make(TERM_IN, args, 3, &result);
  free_operand(ex, op->op1_type, op->op1);
  return finish(ex, op, &result, t);
}

// --- parameters -------------------------------------------------------------

static bool is_strict(const zend_execute_data *caller) {
  return caller && caller->func && ZEND_CALL_USES_STRICT_TYPES(caller);
}

// A string given for an int parameter: PHP is about to convert it.
static int on_receive(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *a = ZEND_CALL_VAR(ex, op->result.var), number;
  const zend_function *fn = ex->func;
  if (EXPECTED(Z_TYPE_P(a) != IS_STRING || !shadow_maybe(a)) ||
      op->op1.num > fn->common.num_args || !culprit.recording ||
      op->op1.num > ZEND_CALL_NUM_ARGS(ex))
    return ZEND_USER_OPCODE_DISPATCH;
  uint32_t mask =
      ZEND_TYPE_FULL_MASK(fn->common.arg_info[op->op1.num - 1].type);
  zend_long l;
  double d;
  if (!(mask & MAY_BE_LONG) || mask & MAY_BE_STRING ||
      is_strict(ex->prev_execute_data) ||
      is_numeric_string(Z_STRVAL_P(a), Z_STRLEN_P(a), &l, &d, false) != IS_LONG)
    return ZEND_USER_OPCODE_DISPATCH;
  shadow x = shadow_find(a);
  ZVAL_LONG(&number, l);
  shadow t = shadow_make(TERM_INT, &x, 1, &number);
  zval_ptr_dtor_str(a);
  ZVAL_COPY_VALUE(a, &number);
  shadow_set(a, t);
  return ZEND_USER_OPCODE_DISPATCH;
}

// --- registration -----------------------------------------------------------

static const struct {
  zend_uchar opcode;
  user_opcode_handler_t handler;
} handlers[] = {
    {ZEND_ASSIGN_OP, on_assign_op},
    {ZEND_PRE_INC, on_step},
    {ZEND_PRE_DEC, on_step},
    {ZEND_POST_INC, on_step},
    {ZEND_POST_DEC, on_step},
    {ZEND_BOOL_NOT, on_not},
    {ZEND_CAST, on_cast},
    {ZEND_TYPE_CHECK, on_type},
    {ZEND_MATCH, on_table},
    {ZEND_SWITCH_STRING, on_table},
    {ZEND_SWITCH_LONG, on_table},
    {ZEND_ISSET_ISEMPTY_CV, on_isset_variable},
    {ZEND_ROPE_INIT, on_rope},
    {ZEND_ROPE_ADD, on_rope},
    {ZEND_ROPE_END, on_rope_end},
    {ZEND_ISSET_ISEMPTY_DIM_OBJ, on_isset},
    {ZEND_FETCH_DIM_R, on_dim},
    {ZEND_FETCH_DIM_IS, on_dim},
    {ZEND_ARRAY_KEY_EXISTS, on_key_exists},
    {ZEND_IN_ARRAY, on_in_array},
    {ZEND_RECV, on_receive},
    {ZEND_RECV_INIT, on_receive},
};

void shadow_ops_start(void) {
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
    zend_set_user_opcode_handler(handlers[i].opcode, handlers[i].handler);
  for (unsigned i = 0; i < BINARIES; i++) {
    bool compares = binaries[i].op >= TERM_EQ;
    binary_of[binaries[i].opcode] = (unsigned char)(i + 1);
    zend_set_user_opcode_handler(binaries[i].opcode,
                                 compares ? on_comparison : on_binary);
  }
}
