// The closer look: when it happens, and which statement an opcode belongs to.
// See close.h.
#include "close.h"

#include "plan.h"
#include "zend_vm.h"

// The handlers of the rest of us.
static user_opcode_handler_t others[256];

// --- planning ---------------------------------------------------------------

uint32_t close_cells(const zend_op_array *code) {
  return (uint32_t)code->last_var + code->T;
}

// The step of a `for` runs behind the last statement of its body, but stands
// where the `for` does.
static uint32_t statement_of(const function_plan *f, const uint32_t *slots,
                             uint32_t n) {
  uint32_t owner = f->owner[n], line = f->code->opcodes[n].lineno, best = 0;
  const point *points = f->points.items;
  if (!owner || points[owner - 1].line == line || points[owner - 1].lines)
    return owner ? slots[owner - 1] : 0;
  for (uint32_t i = 0; i < f->points.length && points[i].op < n; i++)
    if (!points[i].lines && points[i].line <= line &&
        (!best || points[i].line >= points[best - 1].line))
      best = i + 1;
  if (best && (points[best - 1].line == line || line < points[owner - 1].line))
    owner = best;
  return slots[owner - 1];
}

static bool is_loop_test(const zend_op_array *code, uint32_t n) {
  if (code->opcodes[n].opcode != ZEND_JMPNZ)
    return false;
  uint32_t to = jump_target(code, n);
  return to <= n && !(to && code->opcodes[to - 1].opcode == ZEND_JMP);
}

// The condition behind a `do` belongs to no statement: PHP has none there.
static void clear_loop_tests(const function_plan *f, uint32_t *statements) {
  const zend_op *ops = f->code->opcodes;
  for (uint32_t n = 0; n < f->code->last; n++) {
    if (!is_loop_test(f->code, n) || !f->owner[n] ||
        f->points.items[f->owner[n] - 1].line == ops[n].lineno)
      continue;
    for (uint32_t i = n + 1; i-- > 0 && ops[i].opcode != ZEND_EXT_STMT &&
                             ops[i].lineno == ops[n].lineno;)
      statements[i] = 0;
  }
}

void close_bake(const function_plan *f, culprit_function *c,
                const uint32_t *slots, uint32_t function_slot) {
  uint32_t n = f->code->last;
  culprit_close *close = culprit_alloc(sizeof *close);
  uint32_t *statements = culprit_alloc(n * sizeof *statements);
  for (uint32_t i = 0; i < n; i++)
    statements[i] = statement_of(f, slots, i);
  clear_loop_tests(f, statements);
  if (n && f->code->opcodes[n - 1].opcode == ZEND_RETURN)
    statements[n - 1] = 0; // every function ends in one that nobody wrote
  close->slot = function_slot;
  close->statements = statements;
  close->seen = culprit_alloc(n * sizeof *close->seen);
  close->last = culprit_alloc(n * sizeof *close->last);
  c->close = f->entry_op < n ? close : NULL;
}

void close_settle(const function_plan *f, culprit_function *c, uint32_t n,
                  bool silent) {
  zend_op *op = &f->code->opcodes[n];
  silent |= !others[op->opcode];
  if (silent && op->opcode != ZEND_INIT_FCALL &&
      (!c->close || !close_wants(op)))
    culprit_make_native(op);
  else if (silent && c->close)
    c->close->seen[n] |= CLOSE_SILENT;
}

// --- looking ----------------------------------------------------------------

static int on_any(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const culprit_function *f = culprit_function_of(ex);
  user_opcode_handler_t other = others[op->opcode];
  if (UNEXPECTED(op->opcode == ZEND_HANDLE_EXCEPTION)) {
    close_drop_last();
    close_doubt_last(EG(opline_before_exception));
  } else if (UNEXPECTED(op->opcode == ZEND_INIT_FCALL)) {
    close_init_call(ex, (zend_op *)op);
    if (f && f->close &&
        f->close->seen[op - ex->func->op_array.opcodes] & CLOSE_SILENT)
      other = NULL;
  } else if (f && f->close) {
    uint32_t n = (uint32_t)(op - ex->func->op_array.opcodes);
    if (f->close->seen[n] & CLOSE_SILENT)
      other = NULL;
    if (EXPECTED(culprit.recording && !culprit.forked) && n >= f->entry_op) {
      close_at a = {ex, f, op, f->close->statements[n]};
      close_settle_last(ex);
      if (n == f->entry_op)
        close_enter(ex, f);
      close_look(&a);
    }
  }
  return other ? other(ex) : ZEND_USER_OPCODE_DISPATCH;
}

// Opcodes that PHP makes and runs elsewhere than in compiled functions, and
// those that no plan of ours goes with.
static bool is_looked_at(unsigned opcode) {
  return opcode != ZEND_NOP && opcode != ZEND_OP_DATA &&
         opcode != ZEND_USER_OPCODE && opcode != ZEND_CALL_TRAMPOLINE &&
         opcode <= ZEND_VM_LAST_OPCODE && opcode != 45;
}

void culprit_close_start(void) {
  for (unsigned i = 0; i < 256; i++) {
    if (!is_looked_at(i))
      continue;
    others[i] = zend_get_user_opcode_handler((zend_uchar)i);
    zend_set_user_opcode_handler((zend_uchar)i, on_any);
  }
  for (int i = 0; i < 3; i++)
    zend_vm_set_opcode_handler(&EG(exception_op)[i]);
}

void culprit_close_begin(void) {
  if (!(culprit.collect & COLLECT_CLOSE))
    return;
  close_cells_begin();
  close_tell_begin();
  close_drop_last();
}

void culprit_close_end(void) {
  if (culprit.collect & COLLECT_CLOSE)
    close_cells_end();
}

void culprit_close_free(void) {
  close_cells_free();
  close_tell_free();
}
