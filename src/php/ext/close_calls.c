// Frames, calls and included files: who wrote the arguments, who gets the value
// that is returned, and what an included file does with its includer's
// variables. See close.h.
#include "close.h"

#include "zend_closures.h"

// --- who wrote the arguments ------------------------------------------------

// The statement that the nearest code of the application is at, and its frame.
static uint32_t caller_of(const zend_execute_data *ex,
                          zend_execute_data **frame) {
  zend_execute_data *p = ex->prev_execute_data;
  while (p && (!p->func || !ZEND_USER_CODE(p->func->type)))
    p = p->prev_execute_data;
  *frame = p;
  const culprit_function *f = p ? culprit_function_of(p) : NULL;
  if (!f || !f->close)
    return 0;
  const zend_op_array *code = &p->func->op_array;
  if (p->opline < code->opcodes || p->opline >= code->opcodes + code->last)
    return 0;
  return f->close->statements[p->opline - code->opcodes];
}

// An internal function may have made references of its own for the call.
static void take_arguments(zend_execute_data *ex, uint32_t *cells,
                           uint32_t caller) {
  const zend_op_array *code = &ex->func->op_array;
  bool internal = ex->prev_execute_data && ex->prev_execute_data->func &&
                  !ZEND_USER_CODE(ex->prev_execute_data->func->type);
  uint32_t n = ZEND_CALL_NUM_ARGS(ex);
  if (n > code->num_args)
    n = code->num_args + !!(code->fn_flags & ZEND_ACC_VARIADIC);
  for (uint32_t i = 0; i < n && i < (uint32_t)code->last_var; i++) {
    zval *v = ZEND_CALL_VAR_NUM(ex, i);
    cells[i] = caller;
    if (internal && Z_ISREF_P(v))
      close_take_new(Z_REF_P(v), caller);
  }
}

static bool is_file(const zend_execute_data *ex) {
  return ZEND_CALL_KIND(ex) == ZEND_CALL_NESTED_CODE ||
         ZEND_CALL_KIND(ex) == ZEND_CALL_TOP_CODE;
}

// What a closure got by value (`use`) was written where it was made.
static void take_captured(zend_execute_data *ex, const culprit_function *f,
                          uint32_t *cells) {
  const zend_op_array *code = &ex->func->op_array;
  zend_object *closure = ZEND_CLOSURE_OBJECT(ex->func);
  for (uint32_t i = 0; i < f->entry_op; i++) {
    const zend_op *op = &code->opcodes[i];
    if (op->opcode != ZEND_BIND_STATIC || op->extended_value & ZEND_BIND_REF)
      continue;
    uint32_t n = close_number(op->op1.var);
    cells[n] = close_writer(close_of_property(closure, code->vars[n], false));
  }
}

void close_enter(zend_execute_data *ex, const culprit_function *f) {
  const zend_op_array *code = &ex->func->op_array;
  uint32_t *cells = close_frame(ex, f);
  zend_execute_data *from;
  uint32_t caller = caller_of(ex, &from);
  // All bits set: CLOSE_BY_NAME.
  memset(cells, is_file(ex) ? 0xff : 0,
         (uint32_t)code->last_var * sizeof *cells);
  // A generator began elsewhere.
  if (!is_file(ex) && !(code->fn_flags & ZEND_ACC_GENERATOR))
    take_arguments(ex, cells, caller);
  if (ZEND_CALL_INFO(ex) & ZEND_CALL_CLOSURE)
    take_captured(ex, f, cells);
  close_link(PAIR_CALL, caller, f->close->slot);
}

// --- calls ------------------------------------------------------------------

// The callee's frame has room for its cells. Once: PHP keeps what it found.
void close_init_call(const zend_execute_data *ex, zend_op *op) {
  if (*(void **)((char *)ex->run_time_cache + op->result.num))
    return;
  zend_function *fn =
      zend_hash_find_ptr(EG(function_table), Z_STR_P(RT_CONSTANT(op, op->op2)));
  if (fn && ZEND_USER_CODE(fn->type))
    op->op1.num = zend_vm_calc_used_stack(op->extended_value, fn);
}

void culprit_close_leave(zend_execute_data *ex) {
  const culprit_function *f = culprit_function_of(ex);
  if (culprit.recording && f && f->close && is_file(ex) &&
      culprit_has_begun(ex, f))
    close_store_names(ex, f);
}

void close_include(const close_at *a) {
  close_use1(a);
  bool fresh = !(ZEND_CALL_INFO(a->ex) & ZEND_CALL_HAS_SYMBOL_TABLE);
  zend_array *names = zend_rebuild_symbol_table();
  if (fresh && names)
    close_forget(names); // of an earlier call
  close_store_names(a->ex, a->f);
}

static bool wants_result(const zend_op *op) {
  switch (op->opcode) {
  case ZEND_DO_FCALL:
  case ZEND_DO_UCALL:
  case ZEND_DO_FCALL_BY_NAME:
  case ZEND_INCLUDE_OR_EVAL:
    return op->result_type != IS_UNUSED;
  default:
    return false;
  }
}

// Called by PHP itself for the value of an expression.
static bool is_asked_for(const zend_function *fn) {
  const zend_string *name = fn->common.function_name;
  return name && fn->common.scope &&
         (zend_string_equals_literal_ci(name, "__get") ||
          zend_string_equals_literal_ci(name, "__tostring") ||
          zend_string_equals_literal_ci(name, "offsetget"));
}

void close_return(const close_at *a) {
  zend_execute_data *p = a->ex->prev_execute_data, *frame;
  if (a->op->opcode == ZEND_RETURN_BY_REF && a->op->op1_type == IS_CV)
    close_make_ref(a, a->op->op1_type, a->op->op1);
  close_use1(a);
  uint32_t caller = caller_of(a->ex, &frame);
  if (p && p == frame && caller && a->op->opcode != ZEND_GENERATOR_RETURN &&
      (wants_result(p->opline) || is_asked_for(a->ex->func)))
    close_link(PAIR_RETURNED, a->statement, caller);
  culprit_close_leave(a->ex);
}

// All variables that the names of this frame lead to.
static void forget_names(zend_execute_data *p) {
  zend_array *names =
      ZEND_CALL_INFO(p) & ZEND_CALL_HAS_SYMBOL_TABLE ? p->symbol_table : NULL;
  for (zend_execute_data *ex = p; ex; ex = ex->prev_execute_data) {
    if (!ex->func || !ZEND_USER_CODE(ex->func->type) ||
        (ex != p && (!names || ex->symbol_table != names)))
      continue;
    const culprit_function *f = culprit_function_of(ex);
    for (int i = 0; f && f->close && i < ex->func->op_array.last_var; i++)
      close_define(ex, f, (uint32_t)i, 0);
  }
}

static void extracted(zend_execute_data *p, zend_string *name,
                      uint32_t statement) {
  const zend_op_array *code = &p->func->op_array;
  for (uint32_t i = 0; i < (uint32_t)code->last_var; i++)
    if (zend_string_equals(code->vars[i], name)) {
      close_define(p, culprit_function_of(p), i, statement);
      return;
    }
  uint32_t *cell = close_named(p, name, false);
  if (cell)
    *cell = statement;
}

// extract() writes variables of its caller.
void culprit_close_called(zend_execute_data *ex) {
  zend_execute_data *p;
  const zend_string *called = ex->func->common.function_name;
  zend_string *name;
  if (!called || !zend_string_equals_literal(called, "extract") ||
      ex->func->common.scope)
    return;
  uint32_t caller = caller_of(ex, &p);
  const culprit_function *f = p ? culprit_function_of(p) : NULL;
  if (!f || !f->close)
    return;
  zval *from = ZEND_CALL_NUM_ARGS(ex) ? ZEND_CALL_ARG(ex, 1) : NULL;
  if (from)
    ZVAL_DEREF(from);
  if (!from || ZEND_CALL_NUM_ARGS(ex) != 1 || Z_TYPE_P(from) != IS_ARRAY) {
    forget_names(p);
    return;
  }
  ZEND_HASH_FOREACH_STR_KEY(Z_ARRVAL_P(from), name) {
    if (name)
      extracted(p, name, caller);
  }
  ZEND_HASH_FOREACH_END();
}
