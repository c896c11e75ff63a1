// Handlers of the opcodes that tell us something: statements, edges between
// blocks, conditions. Each reads what plan.c baked into the opcode, counts, and
// either does what the opcode does in its common cases or leaves it to the VM.
//
// A foreach over anything but an array decides its outcome in code that we
// cannot look into. The frame then remembers the opcode, and the next statement
// of the frame tells: inside the loop, or not.
#include "php_culprit.h"

#include "zend_atomic.h"
#include "zend_exceptions.h"
#include "zend_vm.h"

// --- foreach over objects ---------------------------------------------------

static uint32_t branch_slot(const zend_execute_data *ex, uint32_t op) {
  const culprit_function *f = culprit_function_of(ex);
  return f && f->branch ? f->branch[op] : CULPRIT_NONE;
}

static zend_never_inline void finish_loop(zend_execute_data *ex,
                                          culprit_frame *frame, bool entered) {
  uint32_t op = (frame->loop & ~FRAME_RESET) - 1;
  uint32_t slot = branch_slot(ex, op);
  frame->loop = 0;
  if (slot != CULPRIT_NONE)
    culprit_count(slot + entered);
}

// Is this opcode inside the loop that the pending one belongs to?
static bool is_in_loop(const zend_execute_data *ex, const culprit_frame *frame,
                       const zend_op *op) {
  const zend_op *ops = ex->func->op_array.opcodes;
  const zend_op *loop = ops + (frame->loop & ~FRAME_RESET) - 1;
  if (frame->loop & FRAME_RESET)
    loop++;
  return op > loop && op < ZEND_OFFSET_TO_OPLINE(loop, loop->extended_value);
}

// --- statements -------------------------------------------------------------

static void enter_block(culprit_frame *frame, const culprit_act *a) {
  uint32_t i = 0;
  while (i < a->nedges && a->edges[i].from != frame->block)
    i++;
  if (EXPECTED(i < a->nedges))
    culprit_count(a->edges[i].slot);
  else
    culprit_note("an edge is missing: the plan did not foresee it");
  culprit_count(a->block_slot);
  frame->block = a->block;
}

static zend_never_inline void enter_function(zend_execute_data *ex,
                                             culprit_frame *frame,
                                             const culprit_act *a) {
  frame->block = CULPRIT_NONE;
  frame->loop = 0;
  if (culprit.collect & COLLECT_STATEMENTS)
    culprit_count(a->function);
  if (UNEXPECTED(OG(running) != NULL))
    culprit_output_callback(ex);
}

// All that a statement may do besides being counted.
static zend_never_inline int act(zend_execute_data *ex, const zend_op *op,
                                 culprit_frame *frame) {
  static const culprit_act nothing;
  const culprit_act *a = op->op2.num ? culprit_acts[op->op2.num] : &nothing;
  frame->line = op->lineno;
  if (a->flags & ACT_ENTRY)
    enter_function(ex, frame, a);
  if (UNEXPECTED(frame->loop))
    finish_loop(ex, frame, is_in_loop(ex, frame, op));
  if (a->flags & ACT_LEADER)
    enter_block(frame, a);
  if (a->flags & ACT_TEMPLATE) {
    frame->line |= FRAME_TEMPLATE;
    for (uint32_t i = 1; i < a->nlines && op->op1.num != CULPRIT_NONE; i++)
      culprit_count(a->first + i);
  }
  return ZEND_USER_OPCODE_CONTINUE;
}

static int on_statement(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  ex->opline = op + 1;
  if (UNEXPECTED(!op->extended_value)) // not of a plan
    return ZEND_USER_OPCODE_CONTINUE;
  culprit_frame *frame = (culprit_frame *)ZEND_CALL_VAR(ex, op->extended_value);
  uint32_t slot = op->op1.num;
  if (EXPECTED(slot - FIRST_SLOT < culprit.nslots)) {
    uint32_t *c = culprit.base + slot;
    *c += *c != UINT32_MAX;
    culprit.header->last = slot;
  }
  if (op->op2.num || UNEXPECTED(frame->loop))
    return act(ex, op, frame);
  frame->line = op->lineno;
  return ZEND_USER_OPCODE_CONTINUE;
}

// --- leaving ----------------------------------------------------------------

// Once: a fatal error leaves all frames, and PHP may unwind them later.
static void leave(zend_execute_data *ex, const culprit_function *f) {
  culprit_frame *frame = culprit_frame_of(ex, f);
  if (frame->loop)
    finish_loop(ex, frame, false);
  if (f->leave && frame->block < f->nblocks)
    culprit_count(f->leave[frame->block]);
  frame->block = CULPRIT_NONE;
}

static zval *operand(zend_execute_data *ex, const zend_op *op) {
  if (op->op1_type == IS_CONST)
    return RT_CONSTANT(op, op->op1);
  zval *value = ZEND_CALL_VAR(ex, op->op1.var);
  ZVAL_DEREF(value);
  return value;
}

static int on_return(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const culprit_function *f = culprit_function_of(ex);
  if (f && f->entry_op < ex->func->op_array.last)
    leave(ex, f);
  if (culprit.collect & COLLECT_RETURNS && op->opcode != ZEND_GENERATOR_RETURN)
    culprit_returned(ex, operand(ex, op));
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_generator_create(zend_execute_data *ex) {
  if (culprit.collect & COLLECT_RETURNS)
    culprit_returned(ex, NULL);
  return ZEND_USER_OPCODE_DISPATCH;
}

// Does the function go on after an exception at this opcode?
static bool is_covered(const zend_op_array *code, uint32_t op) {
  for (int i = 0; i < code->last_try_catch; i++) {
    const zend_try_catch_element *t = &code->try_catch_array[i];
    if (op >= t->try_op && (op < t->catch_op || op < t->finally_op))
      return true;
  }
  return false;
}

// The exception goes on to the caller.
static void leave_by_exception(zend_execute_data *ex) {
  const culprit_function *f = culprit_function_of(ex);
  if (culprit.collect & COLLECT_CLOSE)
    culprit_close_leave(ex);
  if (f && culprit_has_begun(ex, f))
    leave(ex, f);
  if (!ex->prev_execute_data && EG(exception))
    culprit_uncaught(EG(exception));
}

static int on_exception(zend_execute_data *ex) {
  const zend_op *at = EG(opline_before_exception);
  const zend_op_array *code = &ex->func->op_array;
  bool ends = EG(exception) && zend_is_unwind_exit(EG(exception));
  const culprit_function *f = culprit_function_of(ex);
  if (f && culprit_has_begun(ex, f))
    culprit_frame_of(ex, f)->loop = 0;
  if (ends || !at || !is_covered(code, (uint32_t)(at - code->opcodes)))
    leave_by_exception(ex);
  return ZEND_USER_OPCODE_DISPATCH;
}

// The end of a finally that an exception led into, or the end of a generator
// that is thrown away.
static int on_finally_end(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  zval *call = ZEND_CALL_VAR(ex, op->op1.var);
  const zend_op_array *code = &ex->func->op_array;
  const culprit_function *f = culprit_function_of(ex);
  if (Z_OPLINE_NUM_P(call) == (uint32_t)-1 &&
      !is_covered(code, (uint32_t)(op - code->opcodes))) {
    if (f)
      leave(ex, f);
    if (!ex->prev_execute_data && Z_OBJ_P(call))
      culprit_uncaught(Z_OBJ_P(call));
  }
  return ZEND_USER_OPCODE_DISPATCH;
}

void culprit_leave_all(void) {
  for (zend_execute_data *ex = EG(current_execute_data); ex;
       ex = ex->prev_execute_data) {
    if (!ex->func || !ZEND_USER_CODE(ex->func->common.type))
      continue;
    const culprit_function *f = culprit_function_of(ex);
    if (f && culprit_has_begun(ex, f))
      leave(ex, f);
  }
}

// --- conditions -------------------------------------------------------------

// An undefined variable is false; the VM reports it afterwards.
static zend_always_inline int truth(zend_execute_data *ex, const zend_op *op) {
  zval *value = operand(ex, op);
  if (Z_TYPE_INFO_P(value) == IS_TRUE)
    return 1;
  if (EXPECTED(Z_TYPE_INFO_P(value) <= IS_FALSE))
    return 0;
  return zend_is_true(value);
}

// Is the operand a plain bool, so that nothing has to be freed or reported?
static zend_always_inline bool is_plain(zend_execute_data *ex,
                                        const zend_op *op) {
  return op->op1_type != IS_CONST &&
         (Z_TYPE_INFO_P(ZEND_CALL_VAR(ex, op->op1.var)) | 1) == IS_TRUE &&
         !zend_atomic_bool_load_ex(&EG(vm_interrupt));
}

static zend_always_inline void decided(zend_execute_data *ex, const zend_op *op,
                                       bool yes, uint32_t counter) {
  if (UNEXPECTED(culprit.collect & COLLECT_SHADOWS) && culprit.recording)
    culprit_shadow_decided(operand(ex, op), yes, counter);
}

static int on_jmpz(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  int yes = truth(ex, op);
  culprit_count(yes ? op->result.num : op->extended_value);
  decided(ex, op, yes, yes ? op->result.num : op->extended_value);
  if (!is_plain(ex, op))
    return ZEND_USER_OPCODE_DISPATCH;
  ex->opline = yes ? op + 1 : OP_JMP_ADDR(op, op->op2);
  return ZEND_USER_OPCODE_CONTINUE;
}

static int on_jmpnz(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  int yes = truth(ex, op);
  culprit_count(yes ? op->result.num : op->extended_value);
  decided(ex, op, yes, yes ? op->result.num : op->extended_value);
  if (!is_plain(ex, op))
    return ZEND_USER_OPCODE_DISPATCH;
  ex->opline = yes ? OP_JMP_ADDR(op, op->op2) : op + 1;
  return ZEND_USER_OPCODE_CONTINUE;
}

static int on_operand(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  int yes = truth(ex, op);
  culprit_count(op->extended_value + (uint32_t)yes);
  decided(ex, op, yes, op->extended_value + (uint32_t)yes);
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_bool(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  if (op->op2.num == CULPRIT_NONE) // a conversion
    return culprit_shadow_bool(ex);
  int yes = truth(ex, op);
  culprit_count(op->op2.num + (uint32_t)yes);
  decided(ex, op, yes, op->op2.num + (uint32_t)yes);
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_coalesce(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  culprit_count(op->extended_value + (Z_TYPE_P(operand(ex, op)) > IS_NULL));
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_nullsafe(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  uint32_t slot = branch_slot(ex, (uint32_t)(op - ex->func->op_array.opcodes));
  if (slot != CULPRIT_NONE)
    culprit_count(slot + (Z_TYPE_P(operand(ex, op)) > IS_NULL));
  return ZEND_USER_OPCODE_DISPATCH;
}

static bool has_next(const zval *array) {
  const HashTable *ht = Z_ARRVAL_P(array);
  HashPosition pos = Z_FE_POS_P(array);
  if (HT_IS_PACKED(ht)) {
    while (pos < ht->nNumUsed && Z_TYPE(ht->arPacked[pos]) == IS_UNDEF)
      pos++;
  } else {
    while (pos < ht->nNumUsed && Z_TYPE(ht->arData[pos].val) == IS_UNDEF)
      pos++;
  }
  return pos < ht->nNumUsed;
}

static void await_loop(zend_execute_data *ex, const zend_op *op,
                       uint32_t flag) {
  const culprit_function *f = culprit_function_of(ex);
  if (!f || !f->branch)
    return;
  culprit_frame *frame = culprit_frame_of(ex, f);
  uint32_t n = (uint32_t)(op - ex->func->op_array.opcodes) + 1;
  if (frame->loop == n) // the last turn met no statement
    finish_loop(ex, frame, true);
  frame->loop = n | flag;
}

static int on_fetch(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const zval *array = ZEND_CALL_VAR(ex, op->op1.var);
  if (op->opcode == ZEND_FE_FETCH_R && EXPECTED(Z_TYPE_P(array) == IS_ARRAY)) {
    uint32_t slot =
        branch_slot(ex, (uint32_t)(op - ex->func->op_array.opcodes));
    if (slot != CULPRIT_NONE)
      culprit_count(slot + has_next(array));
  } else {
    await_loop(ex, op, 0);
  }
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_reset(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  if (Z_TYPE_P(operand(ex, op)) != IS_ARRAY)
    await_loop(ex, op, FRAME_RESET);
  return ZEND_USER_OPCODE_DISPATCH;
}

// --- functions that are opcodes ---------------------------------------------

static int on_strlen(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const zval *value = operand(ex, op);
  zval length;
  if (Z_TYPE_P(value) == IS_STRING) {
    ZVAL_LONG(&length, (zend_long)Z_STRLEN_P(value));
    culprit_site_value(op->op2.num, &length);
  }
  if (UNEXPECTED(culprit.collect & COLLECT_SHADOWS))
    return culprit_shadow_strlen(ex);
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_count(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const zval *value = operand(ex, op);
  zval length;
  if (Z_TYPE_P(value) == IS_ARRAY) {
    ZVAL_LONG(&length, zend_hash_num_elements(Z_ARRVAL_P(value)));
    culprit_site_value(op->op2.num, &length);
  }
  if (UNEXPECTED(culprit.collect & COLLECT_SHADOWS))
    return culprit_shadow_count(ex);
  return ZEND_USER_OPCODE_DISPATCH;
}

// --- registration -----------------------------------------------------------

static const struct {
  zend_uchar opcode;
  unsigned when; // any of these is collected
  user_opcode_handler_t handler;
} handlers[] = {
    {ZEND_EXT_STMT, COLLECT_ALL, on_statement},
    {ZEND_RETURN, COLLECT_EDGES | COLLECT_RETURNS | COLLECT_CONDITIONS,
     on_return},
    {ZEND_RETURN_BY_REF, COLLECT_EDGES | COLLECT_RETURNS | COLLECT_CONDITIONS,
     on_return},
    {ZEND_GENERATOR_RETURN, COLLECT_EDGES | COLLECT_CONDITIONS, on_return},
    {ZEND_GENERATOR_CREATE, COLLECT_RETURNS, on_generator_create},
    {ZEND_HANDLE_EXCEPTION, COLLECT_ALL, on_exception},
    {ZEND_FAST_RET, COLLECT_ALL, on_finally_end},
    {ZEND_JMPZ, COLLECT_CONDITIONS, on_jmpz},
    {ZEND_JMPNZ, COLLECT_CONDITIONS, on_jmpnz},
    {ZEND_JMPZ_EX, COLLECT_CONDITIONS, on_operand},
    {ZEND_JMPNZ_EX, COLLECT_CONDITIONS, on_operand},
    {ZEND_JMP_SET, COLLECT_CONDITIONS, on_operand},
    {ZEND_BOOL, COLLECT_CONDITIONS, on_bool},
    {ZEND_COALESCE, COLLECT_CONDITIONS, on_coalesce},
    {ZEND_JMP_NULL, COLLECT_CONDITIONS, on_nullsafe},
    {ZEND_FE_RESET_R, COLLECT_CONDITIONS, on_reset},
    {ZEND_FE_RESET_RW, COLLECT_CONDITIONS, on_reset},
    {ZEND_FE_FETCH_R, COLLECT_CONDITIONS, on_fetch},
    {ZEND_FE_FETCH_RW, COLLECT_CONDITIONS, on_fetch},
    {ZEND_STRLEN, COLLECT_RETURNS | COLLECT_SHADOWS, on_strlen},
    {ZEND_COUNT, COLLECT_RETURNS | COLLECT_SHADOWS, on_count},
};

void culprit_count_start(void) {
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
    if (culprit.collect & handlers[i].when)
      zend_set_user_opcode_handler(handlers[i].opcode, handlers[i].handler);
  // PHP prepared these before it knew of our handler.
  for (int i = 0; i < 3; i++)
    zend_vm_set_opcode_handler(&EG(exception_op)[i]);
}

void culprit_make_native(zend_op *op) {
  user_opcode_handler_t handler = zend_get_user_opcode_handler(op->opcode);
  if (handler)
    zend_set_user_opcode_handler(op->opcode, NULL);
  zend_vm_set_opcode_handler(op);
  if (handler)
    zend_set_user_opcode_handler(op->opcode, handler);
}
