// Where the operands of an opcode keep their values, and who wrote them. See
// close.h.
#include "close.h"

// --- variables --------------------------------------------------------------

static bool has_names(const zend_execute_data *ex) {
  return ZEND_CALL_INFO(ex) & ZEND_CALL_HAS_SYMBOL_TABLE && ex->symbol_table;
}

static void settle_cell(uint32_t *cell, zend_array *names, zend_string *name) {
  zval key;
  ZVAL_STR(&key, name);
  if (*cell == CLOSE_BY_NAME)
    *cell = close_writer(close_of_element(names, &key, false));
}

uint32_t *close_cell(zend_execute_data *ex, const culprit_function *f,
                     uint32_t n) {
  uint32_t *cell = &close_frame(ex, f)[n];
  if (UNEXPECTED(*cell == CLOSE_BY_NAME)) {
    if (has_names(ex))
      settle_cell(cell, ex->symbol_table, ex->func->op_array.vars[n]);
    else
      *cell = 0;
  }
  return cell;
}

uint32_t close_variable(zend_execute_data *ex, const culprit_function *f,
                        uint32_t n) {
  const zval *v = ZEND_CALL_VAR_NUM(ex, n);
  if (Z_TYPE_P(v) == IS_UNDEF)
    return 0;
  return Z_ISREF_P(v) ? close_writer(close_of_ref(Z_REF_P(v)))
                      : *close_cell(ex, f, n);
}

void close_define(zend_execute_data *ex, const culprit_function *f, uint32_t n,
                  uint32_t statement) {
  zval *v = ZEND_CALL_VAR_NUM(ex, n);
  if (Z_ISREF_P(v))
    close_take(Z_REF_P(v), statement);
  else
    close_frame(ex, f)[n] = statement;
}

static uint32_t find_variable(const zend_op_array *code,
                              const zend_string *name) {
  for (uint32_t i = 0; i < (uint32_t)code->last_var; i++)
    if (zend_string_equals(code->vars[i], name))
      return i;
  return CULPRIT_NONE;
}

// The frame whose variables the table of names leads to.
static uint32_t *cell_of_slot(zend_execute_data *ex, const zend_array *names,
                              const zval *slot) {
  for (; ex; ex = ex->prev_execute_data) {
    if (!ex->func || !ZEND_USER_CODE(ex->func->type) ||
        !(ZEND_CALL_INFO(ex) & ZEND_CALL_HAS_SYMBOL_TABLE) ||
        ex->symbol_table != names)
      continue;
    const culprit_function *f = culprit_function_of(ex);
    const zval *first = ZEND_CALL_VAR_NUM(ex, 0);
    if (slot < first || slot >= first + ex->func->op_array.last_var)
      continue;
    return f && f->close && culprit_has_begun(ex, f)
               ? &close_frame(ex, f)[slot - first]
               : NULL;
  }
  return NULL;
}

uint32_t *close_named(zend_execute_data *ex, zend_string *name, bool global) {
  uint32_t n = global ? CULPRIT_NONE : find_variable(&ex->func->op_array, name);
  if (n != CULPRIT_NONE)
    return close_cell(ex, culprit_function_of(ex), n);
  zend_array *names = global          ? &EG(symbol_table)
                      : has_names(ex) ? ex->symbol_table
                                      : NULL;
  zval *v = names ? zend_hash_find(names, name) : NULL;
  uint32_t *cell = v && Z_TYPE_P(v) == IS_INDIRECT
                       ? cell_of_slot(ex, names, Z_INDIRECT_P(v))
                       : NULL;
  if (cell)
    settle_cell(cell, names, name);
  return cell;
}

// --- variables of included files ---------------------------------------------

// The table of names has them, for all frames that share it.
static void leave_to_names(zend_execute_data *ex, const zend_array *names,
                           const zend_string *name) {
  for (; ex; ex = ex->prev_execute_data) {
    if (!ex->func || !ZEND_USER_CODE(ex->func->type) || !has_names(ex) ||
        ex->symbol_table != names)
      continue;
    const culprit_function *f = culprit_function_of(ex);
    uint32_t n = find_variable(&ex->func->op_array, name);
    if (f && f->close && n != CULPRIT_NONE)
      close_frame(ex, f)[n] = CLOSE_BY_NAME;
  }
}

void close_store_names(zend_execute_data *ex, const culprit_function *f) {
  const zend_op_array *code = &ex->func->op_array;
  for (uint32_t i = 0; has_names(ex) && i < (uint32_t)code->last_var; i++) {
    const zval *v = ZEND_CALL_VAR_NUM(ex, i);
    uint32_t writer = close_frame(ex, f)[i];
    bool plain = Z_TYPE_P(v) != IS_UNDEF && !Z_ISREF_P(v);
    zval name;
    if (writer == CLOSE_BY_NAME && plain)
      continue;
    ZVAL_STR(&name, code->vars[i]);
    close_write(close_of_element(ex->symbol_table, &name, plain),
                plain ? writer : 0);
    leave_to_names(ex, ex->symbol_table, code->vars[i]);
  }
}

// --- references -------------------------------------------------------------

zend_reference *close_make_ref(const close_at *a, zend_uchar type,
                               znode_op node) {
  uint32_t writer;
  if (type != IS_CV && type != IS_VAR)
    return NULL;
  uint32_t n = close_number(node.var);
  zval *v = ZEND_CALL_VAR(a->ex, node.var);
  const uint32_t *cell =
      type == IS_CV ? close_cell(a->ex, a->f, n) : &close_frame(a->ex, a->f)[n];
  if (type == IS_VAR) {
    if (Z_TYPE_P(v) != IS_INDIRECT)
      return NULL;
    v = Z_INDIRECT_P(v);
    writer = close_writer(*cell);
  } else {
    writer = *cell;
  }
  if (Z_TYPE_P(v) == _IS_ERROR)
    return NULL;
  bool fresh = !Z_ISREF_P(v) || (type == IS_VAR && Z_REFCOUNT_P(v) == 1 &&
                                 !close_of_ref(Z_REF_P(v)));
  if (Z_TYPE_P(v) == IS_UNDEF) {
    ZVAL_NULL(v);
    writer = 0;
  }
  ZVAL_MAKE_REF(v);
  if (fresh)
    close_take_new(Z_REF_P(v), writer);
  return Z_REF_P(v);
}

// --- arrays -----------------------------------------------------------------

// The variable that operand 1 is; NULL: it is a value.
static zval *variable_of(const close_at *a) {
  zval *v = a->op->op1_type == IS_CV || a->op->op1_type == IS_VAR
                ? ZEND_CALL_VAR(a->ex, a->op->op1.var)
                : NULL;
  if (!v || a->op->op1_type == IS_CV)
    return v;
  return Z_TYPE_P(v) == IS_INDIRECT ? Z_INDIRECT_P(v) : NULL;
}

static void define_variable(const close_at *a) {
  uint32_t n = close_number(a->op->op1.var);
  if (a->op->op1_type == IS_CV)
    close_define(a->ex, a->f, n, a->statement);
  else
    close_write(close_frame(a->ex, a->f)[n], a->statement);
}

HashTable *close_changed_array(const close_at *a, bool make) {
  zval *v = variable_of(a);
  if (!v)
    return NULL;
  if (Z_ISREF_P(v)) {
    if (ZEND_REF_HAS_TYPE_SOURCES(Z_REF_P(v)))
      make = false;
    v = Z_REFVAL_P(v);
  }
  if (make && Z_TYPE_P(v) <= IS_NULL) {
    ZVAL_ARR(v, zend_new_array(8));
    define_variable(a);
  }
  if (Z_TYPE_P(v) == IS_STRING && make) // one byte of it
    define_variable(a);
  if (Z_TYPE_P(v) != IS_ARRAY)
    return NULL;
  HashTable *old = Z_ARR_P(v);
  SEPARATE_ARRAY(v);
  if (Z_ARR_P(v) != old)
    close_copy(old, Z_ARR_P(v));
  return Z_ARR_P(v);
}

zval *close_key_of(const close_at *a) {
  if (a->op->op2_type == IS_UNUSED)
    return NULL;
  static zval null; // what is undefined is the key null
  ZVAL_NULL(&null);
  zval *key = culprit_operand(a->ex, a->op, a->op->op2_type, a->op->op2);
  return Z_TYPE_P(key) == IS_UNDEF ? &null : key;
}

zval *close_find_element(HashTable *array, const zval *key) {
  zend_ulong number;
  switch (Z_TYPE_P(key)) {
  case IS_LONG:
    return zend_hash_index_find(array, (zend_ulong)Z_LVAL_P(key));
  case IS_STRING:
    return ZEND_HANDLE_NUMERIC_STR(Z_STRVAL_P(key), Z_STRLEN_P(key), number)
               ? zend_hash_index_find(array, number)
               : zend_hash_find(array, Z_STR_P(key));
  case IS_FALSE:
  case IS_TRUE:
    return zend_hash_index_find(array, Z_TYPE_P(key) == IS_TRUE);
  case IS_NULL:
    return zend_hash_find(array, ZSTR_EMPTY_ALLOC());
  default:
    return NULL;
  }
}

// The cell of what a place holds: its own, or that of the reference there.
static uint32_t cell_of(const zval *v, uint32_t own) {
  return v && Z_ISREF_P(v) ? close_of_ref(Z_REF_P(v)) : own;
}

uint32_t close_element_writer(HashTable *array, const zval *key) {
  const zval *e = close_find_element(array, key);
  if (!e || Z_TYPE_P(e) == IS_INDIRECT)
    return 0;
  return close_writer(cell_of(e, close_of_element(array, key, false)));
}

uint32_t close_define_element(HashTable *array, const zval *key,
                              uint32_t statement) {
  zval next, *e;
  ZVAL_LONG(&next, array->nNextFreeElement == ZEND_LONG_MIN
                       ? 0
                       : array->nNextFreeElement);
  e = key ? close_find_element(array, key) : NULL;
  if (e && Z_TYPE_P(e) == IS_INDIRECT)
    return 0;
  if (e && Z_ISREF_P(e))
    close_take(Z_REF_P(e), statement);
  uint32_t cell =
      close_of_element(array, key ? key : &next, !e || !Z_ISREF_P(e));
  cell = cell_of(e, cell);
  close_write(cell, statement);
  return cell;
}

// --- properties -------------------------------------------------------------

static zval *slot_of(zend_object *o, zend_string *name, bool *good) {
  zend_class_entry *ce = o->ce;
  zend_property_info *p = zend_hash_find_ptr(&ce->properties_info, name);
  zval *slot = NULL;
  if (p && p->flags & ZEND_ACC_STATIC)
    p = NULL;
  if (p)
    slot = OBJ_PROP(o, p->offset);
  else if (o->properties)
    slot = zend_hash_find(o->properties, name);
  if (slot && Z_TYPE_P(slot) == IS_INDIRECT)
    slot = Z_INDIRECT_P(slot);
  bool there = slot && Z_TYPE_P(slot) != IS_UNDEF;
  // Which of several of that name it is depends on who asks.
  bool hidden = p && p->flags & (ZEND_ACC_PRIVATE | ZEND_ACC_CHANGED) &&
                (p->ce != zend_get_executed_scope() || ce != p->ce);
  *good = o->handlers->read_property == zend_std_read_property &&
          o->handlers->write_property == zend_std_write_property && !hidden &&
          (there || (!ce->__get && !ce->__set));
  return there ? slot : NULL;
}

bool close_property(const close_at *a, zend_object **object,
                    zend_string **name) {
  zval *o = a->op->op1_type == IS_UNUSED ? &a->ex->This : close_operand1(a);
  zval *key = close_key_of(a);
  bool good;
  if (Z_TYPE_P(o) != IS_OBJECT || !key || Z_TYPE_P(key) != IS_STRING)
    return false;
  *object = Z_OBJ_P(o);
  *name = Z_STR_P(key);
  slot_of(*object, *name, &good);
  return good;
}

uint32_t close_property_writer(zend_object *object, zend_string *name) {
  bool good;
  const zval *v = slot_of(object, name, &good);
  if (!v)
    return 0;
  return close_writer(cell_of(v, close_of_property(object, name, false)));
}

uint32_t close_define_property(zend_object *object, zend_string *name,
                               uint32_t statement) {
  bool good;
  const zval *v = slot_of(object, name, &good);
  bool ref = v && Z_ISREF_P(v);
  if (ref)
    close_take(Z_REF_P(v), statement);
  uint32_t cell = cell_of(v, ref ? 0 : close_of_property(object, name, true));
  close_write(cell, statement);
  return cell;
}

// --- static properties --------------------------------------------------------

static zend_class_entry *class_of(const close_at *a) {
  const zend_op *op = a->op;
  if (op->op2_type == IS_CONST) {
    zval *name = RT_CONSTANT(op, op->op2);
    return zend_lookup_class_ex(Z_STR_P(name), Z_STR_P(name + 1),
                                ZEND_FETCH_CLASS_NO_AUTOLOAD);
  }
  if (op->op2_type != IS_UNUSED)
    return Z_CE_P(ZEND_CALL_VAR(a->ex, op->op2.var));
  zend_class_entry *scope = a->ex->func->common.scope;
  switch (op->op2.num & ZEND_FETCH_CLASS_MASK) {
  case ZEND_FETCH_CLASS_SELF:
    return scope;
  case ZEND_FETCH_CLASS_PARENT:
    return scope ? scope->parent : NULL;
  default:
    return zend_get_called_scope(a->ex);
  }
}

static zval *static_slot(const close_at *a) {
  zval *name = close_operand1(a);
  zend_class_entry *ce = class_of(a);
  if (!ce || Z_TYPE_P(name) != IS_STRING ||
      !(ce->ce_flags & ZEND_ACC_CONSTANTS_UPDATED))
    return NULL;
  zend_property_info *p =
      zend_hash_find_ptr(&ce->properties_info, Z_STR_P(name));
  if (!p || !(p->flags & ZEND_ACC_STATIC) ||
      (p->flags & ZEND_ACC_PRIVATE && p->ce != a->ex->func->common.scope))
    return NULL;
  if (!CE_STATIC_MEMBERS(ce))
    zend_class_init_statics(ce);
  zval *slot = CE_STATIC_MEMBERS(ce) ? CE_STATIC_MEMBERS(ce) + p->offset : NULL;
  return slot && Z_TYPE_P(slot) == IS_INDIRECT ? Z_INDIRECT_P(slot) : slot;
}

uint32_t close_of_static(const close_at *a, bool make) {
  zval *slot = static_slot(a);
  if (!slot)
    return 0;
  if (make && Z_ISREF_P(slot) && !close_of_ref(Z_REF_P(slot)))
    close_take(Z_REF_P(slot), 0);
  return cell_of(slot, Z_ISREF_P(slot) ? 0 : close_of_slot(slot, make));
}
