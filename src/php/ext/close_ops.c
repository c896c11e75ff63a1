// What each opcode uses and defines, looked at before it runs. See close.h.
//
// Operands that are variables are used, unless the opcode is one of those below
// that write or bind them. What an opcode decides only while it runs (a
// reference it makes, whether a loop over an object goes on) is settled when the
// next one is about to run.
#include "close.h"

// --- settled after the opcode -----------------------------------------------

static struct {
  zend_execute_data *ex; // NULL: nothing is
  const zend_op *op;
  uint32_t variable, writer;
  const zend_reference *old;
  bool loop; // the variable is written if the loop goes on
} last;

void close_drop_last(void) { last.ex = NULL; }

void close_settle_last(const zend_execute_data *ex) {
  if (EXPECTED(!last.ex) || last.ex != ex)
    return;
  const culprit_function *f = culprit_function_of(ex);
  zval *v = ZEND_CALL_VAR_NUM(last.ex, last.variable);
  if (Z_ISREF_P(v) && Z_REF_P(v) != last.old)
    close_take_new(Z_REF_P(v), last.loop ? 0 : last.writer);
  else if (last.loop && !Z_ISREF_P(v))
    close_frame(last.ex, f)[last.variable] =
        ex->opline == last.op + 1
            ? f->close->statements[last.op - ex->func->op_array.opcodes]
            : last.writer;
  last.ex = NULL;
}

static void settle_later(const close_at *a, uint32_t variable, uint32_t writer,
                         bool loop) {
  zval *v = ZEND_CALL_VAR_NUM(a->ex, variable);
  last.ex = a->ex;
  last.op = a->op;
  last.variable = variable;
  last.writer = writer;
  last.old = Z_ISREF_P(v) ? Z_REF_P(v) : NULL;
  last.loop = loop;
}

// The cell that the last opcode is to write: in a frame, or by number.
static struct {
  const zend_op *op;
  uint32_t *at;
  uint32_t cell;
} written;

void close_doubt_last(const zend_op *op) {
  if (!op || written.op != op)
    return;
  if (written.at)
    *written.at = 0;
  close_write(written.cell, 0);
  written.op = NULL;
}

static void note_written(const close_at *a, uint32_t *at, uint32_t cell) {
  written.op = a->op;
  written.at = at;
  written.cell = cell;
}

// --- uses -------------------------------------------------------------------

static void use2(const close_at *a) {
  if (a->op->op2_type == IS_CV)
    close_pair(a, close_variable(a->ex, a->f, close_number(a->op->op2.var)),
               NAME_2);
}

static void use_data(const close_at *a) {
  const zend_op *data = a->op + 1;
  if (data->opcode == ZEND_OP_DATA && data->op1_type == IS_CV)
    close_pair(a, close_variable(a->ex, a->f, close_number(data->op1.var)),
               NAME_DATA);
}

// Elements of an array that a function gets, which may read them all.
static void use_elements(const close_at *a, zval *v) {
  zend_ulong number;
  zend_string *name;
  zval key, *e;
  unsigned n = 0;
  if (Z_TYPE_P(v) != IS_ARRAY)
    return;
  bool tagged = close_has_cells(Z_ARRVAL_P(v));
  ZEND_HASH_FOREACH_KEY_VAL(Z_ARRVAL_P(v), number, name, e) {
    if (n++ >= CLOSE_PASSED)
      break;
    if (!tagged && !Z_ISREF_P(e))
      continue;
    if (name)
      ZVAL_STR(&key, name);
    else
      ZVAL_LONG(&key, (zend_long)number);
    close_pair(a,
               Z_ISREF_P(e)
                   ? close_writer(close_of_ref(Z_REF_P(e)))
                   : close_writer(close_of_element(Z_ARRVAL_P(v), &key, false)),
               NAME_1);
  }
  ZEND_HASH_FOREACH_END();
}

static bool is_internal_call(const close_at *a) {
  return a->ex->call && a->ex->call->func &&
         a->ex->call->func->type == ZEND_INTERNAL_FUNCTION;
}

static void send_value(const close_at *a) {
  close_use1(a);
  if (is_internal_call(a))
    use_elements(a, close_operand1(a));
}

// --- results that lead to a place -------------------------------------------

static void set_result(const close_at *a, uint32_t cell) {
  if (a->op->result_type & (IS_VAR | IS_TMP_VAR))
    close_frame(a->ex, a->f)[close_number(a->op->result.var)] = cell;
}

// --- variables --------------------------------------------------------------

static void define_variable(const close_at *a, uint32_t n) {
  const zval *v = ZEND_CALL_VAR_NUM(a->ex, n);
  close_define(a->ex, a->f, n, a->statement);
  if (Z_ISREF_P(v))
    note_written(a, NULL, close_of_ref(Z_REF_P(v)));
  else
    note_written(a, &close_frame(a->ex, a->f)[n], 0);
}

static void define1(const close_at *a) {
  uint32_t n = close_number(a->op->op1.var);
  if (a->op->op1_type == IS_CV) {
    define_variable(a, n);
    return;
  }
  const zval *v = ZEND_CALL_VAR(a->ex, a->op->op1.var);
  if (a->op->op1_type != IS_VAR || Z_TYPE_P(v) != IS_INDIRECT)
    return;
  v = Z_INDIRECT_P(v);
  if (Z_ISREF_P(v))
    close_take(Z_REF_P(v), a->statement);
  uint32_t cell =
      Z_ISREF_P(v) ? close_of_ref(Z_REF_P(v)) : close_frame(a->ex, a->f)[n];
  close_write(cell, a->statement);
  note_written(a, NULL, cell);
}

// Of $a[1]++ and the like: what the opcode before fetched.
static void use_fetched(const close_at *a) {
  const zval *v = ZEND_CALL_VAR(a->ex, a->op->op1.var);
  if (a->op->op1_type != IS_VAR || Z_TYPE_P(v) != IS_INDIRECT)
    return;
  v = Z_INDIRECT_P(v);
  uint32_t cell = Z_ISREF_P(v)
                      ? close_of_ref(Z_REF_P(v))
                      : close_frame(a->ex, a->f)[close_number(a->op->op1.var)];
  close_pair(a, close_writer(cell), NAME_1);
}

static void change1(const close_at *a) {
  close_use1(a);
  use_fetched(a);
  define1(a);
}

static void unset_variable(const close_at *a) {
  close_frame(a->ex, a->f)[close_number(a->op->op1.var)] = 0;
}

// $$name, $GLOBALS['name']
static void by_name(const close_at *a) {
  zval *name = close_operand1(a);
  bool global =
      a->op->extended_value & (ZEND_FETCH_GLOBAL | ZEND_FETCH_GLOBAL_LOCK);
  close_use1(a);
  set_result(a, 0);
  if (Z_TYPE_P(name) != IS_STRING)
    return;
  uint32_t *cell = close_named(a->ex, Z_STR_P(name), global);
  if (a->op->opcode == ZEND_UNSET_VAR) {
    if (cell)
      *cell = 0;
    return;
  }
  bool reads = a->op->opcode == ZEND_FETCH_R || a->op->opcode == ZEND_FETCH_IS;
  if (cell && !reads)
    set_result(a, close_alias(cell));
  else if (cell)
    close_pair(a, *cell, NAME_NONE);
}

// --- references -------------------------------------------------------------

// Functions that only move the position of their array.
static bool only_moves(const zend_string *name) {
  static const char *const names[] = {"reset", "end",     "next",
                                      "prev",  "current", "key"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (zend_string_equals_cstr(name, names[i], strlen(names[i])))
      return true;
  return false;
}

// Those that get a reference and also read what it holds.
static bool reads_reference(const zend_string *name) {
  return zend_string_starts_with_cstr(name, "array_", 6) ||
         strstr(ZSTR_VAL(name), "sort") ||
         zend_string_equals_literal(name, "shuffle") ||
         zend_string_equals_literal(name, "settype") || only_moves(name);
}

static void send_reference(const close_at *a) {
  zend_reference *ref = close_make_ref(a, a->op->op1_type, a->op->op1);
  if (!ref || !is_internal_call(a))
    return;
  const zend_string *name = a->ex->call->func->common.function_name;
  bool method = a->ex->call->func->common.scope != NULL;
  if (!method && reads_reference(name)) {
    close_pair(a, close_writer(close_of_ref(ref)), NAME_1);
    use_elements(a, &ref->val);
  }
  if (!method && only_moves(name))
    return;
  if (Z_TYPE(ref->val) == IS_ARRAY && Z_REFCOUNT(ref->val) == 1)
    close_forget(Z_ARR(ref->val));
  close_take(ref, a->statement);
}

static void send_argument(const close_at *a) {
  bool by_ref;
  if (a->op->opcode == ZEND_SEND_FUNC_ARG)
    by_ref = ZEND_CALL_INFO(a->ex->call) & ZEND_CALL_SEND_ARG_BY_REF;
  else
    by_ref = a->op->op2_type != IS_CONST &&
             ARG_SHOULD_BE_SENT_BY_REF(a->ex->call->func, a->op->op2.num);
  if (by_ref)
    send_reference(a);
  else
    send_value(a);
}

static void assign_reference(const close_at *a) {
  const zval *v = ZEND_CALL_VAR(a->ex, a->op->op2.var);
  if (a->op->op2_type == IS_VAR && Z_TYPE_P(v) != IS_INDIRECT) {
    if (!Z_ISREF_P(v))
      define1(a);
    return;
  }
  close_make_ref(a, a->op->op2_type, a->op->op2);
}

static void assign_place_reference(const close_at *a) {
  close_make_ref(a, a->op[1].op1_type, a->op[1].op1);
}

static void bind_global(const close_at *a) {
  zend_string *name = Z_STR_P(RT_CONSTANT(a->op, a->op->op2));
  uint32_t *cell = close_named(a->ex, name, true), writer = cell ? *cell : 0;
  zval *v = zend_hash_find(&EG(symbol_table), name), key;
  uint32_t n = close_number(a->op->op1.var);
  bool of_frame = v && Z_TYPE_P(v) == IS_INDIRECT;
  if (of_frame)
    v = Z_INDIRECT_P(v);
  close_frame(a->ex, a->f)[n] = 0;
  if (v && Z_ISREF_P(v))
    return;
  ZVAL_STR(&key, name);
  if (!of_frame)
    writer = close_writer(close_of_element(&EG(symbol_table), &key, false));
  settle_later(a, n, writer, false);
}

static void bind_static(const close_at *a) {
  const zend_op *op = a->op;
  HashTable *ht = ZEND_MAP_PTR_GET(a->ex->func->op_array.static_variables_ptr);
  uint32_t n = close_number(op->op1.var);
  close_frame(a->ex, a->f)[n] = 0;
  if (!(op->extended_value & ZEND_BIND_REF))
    return;
  uint32_t at =
      op->extended_value &
      ~(uint32_t)(ZEND_BIND_REF | ZEND_BIND_IMPLICIT | ZEND_BIND_EXPLICIT);
  const zval *v = ht ? (zval *)((char *)ht->arData + at) : NULL;
  if (v && Z_ISREF_P(v))
    return;
  settle_later(a, n, a->statement, false);
}

static void bind_lexical(const close_at *a) {
  if (a->op->extended_value & ZEND_BIND_REF) {
    close_make_ref(a, a->op->op2_type, a->op->op2);
    return;
  }
  use2(a);
  const zval *closure = ZEND_CALL_VAR(a->ex, a->op->op1.var);
  zend_string *name = a->ex->func->op_array.vars[close_number(a->op->op2.var)];
  if (Z_TYPE_P(closure) == IS_OBJECT)
    close_write(close_of_property(Z_OBJ_P(closure), name, true), a->statement);
}

static void array_element(const close_at *a) {
  if (a->op->extended_value & ZEND_ARRAY_ELEMENT_REF)
    close_make_ref(a, a->op->op1_type, a->op->op1);
  else
    close_use1(a);
  use2(a);
}

// --- elements ---------------------------------------------------------------

static void read_element(const close_at *a) {
  zval *v = close_operand1(a), *key = close_key_of(a);
  close_use1(a);
  use2(a);
  set_result(a, 0);
  if (Z_TYPE_P(v) == IS_ARRAY && key)
    close_pair(a, close_element_writer(Z_ARRVAL_P(v), key), NAME_PLACE);
}

// The place of an element about to be written, for the opcode that does.
static void fetch_element(const close_at *a) {
  zval *key = close_key_of(a);
  use2(a);
  set_result(a, 0);
  bool unset = a->op->opcode == ZEND_FETCH_DIM_UNSET;
  HashTable *array = close_changed_array(a, !unset);
  if (!array || unset)
    return;
  zval next;
  ZVAL_LONG(&next, array->nNextFreeElement == ZEND_LONG_MIN
                       ? 0
                       : array->nNextFreeElement);
  if (a->op->op2_type != IS_UNUSED && !key)
    return;
  uint32_t cell = close_of_element(array, key ? key : &next, true);
  if (!key)
    close_write(cell, 0);
  set_result(a, cell);
}

static void write_element(const close_at *a, bool reads) {
  zval *key = close_key_of(a);
  use2(a);
  use_data(a);
  HashTable *array = close_changed_array(a, true);
  if (!array || (a->op->op2_type != IS_UNUSED && !key))
    return;
  if (reads && key)
    close_pair(a, close_element_writer(array, key), NAME_PLACE);
  note_written(a, NULL, close_define_element(array, key, a->statement));
}

static void unset_element(const close_at *a) {
  zval *key = close_key_of(a);
  use2(a);
  HashTable *array = close_changed_array(a, false);
  if (array && key)
    close_write(close_of_element(array, key, false), 0);
}

// --- properties -------------------------------------------------------------

static void read_property(const close_at *a) {
  zend_object *o;
  zend_string *name;
  close_use1(a);
  use2(a);
  set_result(a, 0);
  if (close_property(a, &o, &name))
    close_pair(a, close_property_writer(o, name), NAME_PLACE);
}

static void fetch_property(const close_at *a) {
  zend_object *o;
  zend_string *name;
  close_use1(a);
  use2(a);
  set_result(a, 0);
  if (a->op->opcode != ZEND_FETCH_OBJ_UNSET && close_property(a, &o, &name))
    set_result(a, close_of_property(o, name, true));
}

static void write_property(const close_at *a, bool reads) {
  zend_object *o;
  zend_string *name;
  close_use1(a);
  use2(a);
  use_data(a);
  if (!close_property(a, &o, &name))
    return;
  if (reads)
    close_pair(a, close_property_writer(o, name), NAME_PLACE);
  note_written(a, NULL, close_define_property(o, name, a->statement));
}

static void unset_property(const close_at *a) {
  zend_object *o;
  zend_string *name;
  close_use1(a);
  use2(a);
  if (close_property(a, &o, &name))
    close_write(close_of_property(o, name, false), 0);
}

static bool sends_reference(const close_at *a) {
  return ZEND_CALL_INFO(a->ex->call) & ZEND_CALL_SEND_ARG_BY_REF;
}

static void read_static(const close_at *a) {
  close_use1(a);
  set_result(a, 0);
  close_pair(a, close_writer(close_of_static(a, false)), NAME_NONE);
}

static void fetch_static(const close_at *a) {
  close_use1(a);
  set_result(a, close_of_static(a, true));
}

static void write_static(const close_at *a, bool reads) {
  close_use1(a);
  use_data(a);
  uint32_t cell = close_of_static(a, true);
  if (reads)
    close_pair(a, close_writer(cell), NAME_NONE);
  close_write(cell, a->statement);
  note_written(a, NULL, cell);
}

// --- foreach ----------------------------------------------------------------

static void define2(const close_at *a) {
  if (a->op->op2_type == IS_CV)
    close_define(a->ex, a->f, close_number(a->op->op2.var), a->statement);
}

static void use_next(const close_at *a, HashTable *ht, uint32_t pos) {
  zval key, *v = NULL;
  for (; !v && pos < ht->nNumUsed; pos++) {
    zval *e = HT_IS_PACKED(ht) ? &ht->arPacked[pos] : &ht->arData[pos].val;
    if (Z_TYPE_P(e) == IS_UNDEF)
      continue;
    v = e;
    if (!HT_IS_PACKED(ht) && ht->arData[pos].key)
      ZVAL_STR(&key, ht->arData[pos].key);
    else
      ZVAL_LONG(&key, HT_IS_PACKED(ht) ? (zend_long)pos
                                       : (zend_long)ht->arData[pos].h);
  }
  if (!v)
    return;
  close_pair(a, close_element_writer(ht, &key), NAME_NONE);
  define2(a);
}

static void next_element(const close_at *a) {
  zval *v = ZEND_CALL_VAR(a->ex, a->op->op1.var);
  if (a->op->opcode == ZEND_FE_FETCH_R && Z_TYPE_P(v) == IS_ARRAY) {
    use_next(a, Z_ARRVAL_P(v), Z_FE_POS_P(v));
    return;
  }
  if (a->op->op2_type != IS_CV)
    return;
  uint32_t n = close_number(a->op->op2.var);
  uint32_t *cell = close_cell(a->ex, a->f, n), writer = *cell;
  *cell = 0;
  settle_later(a, n, writer, true);
}

static void reset_by_reference(const close_at *a) {
  close_use1(a);
  close_make_ref(a, a->op->op1_type, a->op->op1);
  close_changed_array(a, false);
}

// --- all of them ------------------------------------------------------------

static bool is_variable(zend_uchar type) { return type == IS_CV; }

bool close_wants(const zend_op *op) {
  switch (op->opcode) {
  case ZEND_NOP:
  case ZEND_RECV:
  case ZEND_RECV_INIT:
  case ZEND_RECV_VARIADIC:
  case ZEND_OP_DATA:
  case ZEND_VERIFY_RETURN_TYPE:
  case ZEND_FREE:
  case ZEND_FE_FREE:
  case ZEND_JMP:
  case ZEND_DO_ICALL:
  case ZEND_DO_UCALL:
  case ZEND_DO_FCALL:
  case ZEND_DO_FCALL_BY_NAME:
    return false;
  case ZEND_EXT_STMT:
  case ZEND_RETURN:
  case ZEND_RETURN_BY_REF:
  case ZEND_GENERATOR_RETURN:
  case ZEND_INCLUDE_OR_EVAL:
  case ZEND_FE_FETCH_R:
  case ZEND_FE_FETCH_RW:
  case ZEND_CATCH:
  case ZEND_IS_EQUAL:
  case ZEND_IS_NOT_EQUAL:
  case ZEND_IS_IDENTICAL:
  case ZEND_IS_NOT_IDENTICAL:
  case ZEND_IS_SMALLER:
  case ZEND_IS_SMALLER_OR_EQUAL:
  case ZEND_SPACESHIP:
  case ZEND_CASE:
  case ZEND_CASE_STRICT:
  case ZEND_TYPE_CHECK:
    return true;
  default:
    break;
  }
  if (op->opcode >= ZEND_FETCH_R && op->opcode <= ZEND_FETCH_LIST_R)
    return true;
  if (op->opcode >= ZEND_ASSIGN && op->opcode <= ZEND_POST_DEC)
    return true;
  if (op->opcode >= ZEND_FETCH_STATIC_PROP_R &&
      op->opcode <= ZEND_ISSET_ISEMPTY_STATIC_PROP)
    return true;
  if (op->opcode >= ZEND_PRE_INC_STATIC_PROP &&
      op->opcode <= ZEND_POST_DEC_STATIC_PROP)
    return true;
  if (op->opcode >= ZEND_PRE_INC_OBJ && op->opcode <= ZEND_POST_DEC_OBJ)
    return true;
  return is_variable(op->op1_type) || is_variable(op->op2_type) ||
         op->opcode == ZEND_SEND_REF || op->opcode == ZEND_SEND_VAR_EX ||
         op->opcode == ZEND_SEND_FUNC_ARG || op->opcode == ZEND_SEND_VAL ||
         op->opcode == ZEND_SEND_VAL_EX || op->opcode == ZEND_MAKE_REF ||
         op->opcode == ZEND_UNSET_VAR || op->opcode == ZEND_UNSET_DIM ||
         op->opcode == ZEND_UNSET_OBJ ||
         op->opcode == ZEND_ISSET_ISEMPTY_DIM_OBJ ||
         op->opcode == ZEND_ISSET_ISEMPTY_PROP_OBJ ||
         op->opcode == ZEND_INIT_ARRAY || op->opcode == ZEND_ADD_ARRAY_ELEMENT;
}

static void nothing(const close_at *a) { (void)a; }

static void assign(const close_at *a) {
  use2(a);
  define1(a);
}

static void assign_op(const close_at *a) {
  use2(a);
  change1(a);
}

static void catch_exception(const close_at *a) {
  if (a->op->result_type == IS_CV)
    close_define(a->ex, a->f, close_number(a->op->result.var), 0);
}

static void assign_element(const close_at *a) { write_element(a, false); }

static void change_element(const close_at *a) { write_element(a, true); }

static void pass_element(const close_at *a) {
  if (sends_reference(a))
    fetch_element(a);
  else
    read_element(a);
}

static void assign_property(const close_at *a) { write_property(a, false); }

static void change_property(const close_at *a) { write_property(a, true); }

static void pass_property(const close_at *a) {
  if (sends_reference(a))
    fetch_property(a);
  else
    read_property(a);
}

static void make_reference(const close_at *a) {
  close_make_ref(a, a->op->op1_type, a->op->op1);
}

static void assign_static(const close_at *a) { write_static(a, false); }

static void change_static(const close_at *a) { write_static(a, true); }

static void pass_static(const close_at *a) {
  if (sends_reference(a))
    fetch_static(a);
  else
    read_static(a);
}

static void use_operands(const close_at *a) {
  close_use1(a);
  use2(a);
}

// What is recorded of each opcode. Of one without a row the operands are used.
static void (*const recorders[256])(const close_at *a) = {
    [ZEND_EXT_STMT] = nothing,
    [ZEND_ASSIGN] = assign,
    [ZEND_ASSIGN_OP] = assign_op,
    [ZEND_PRE_INC] = change1,
    [ZEND_PRE_DEC] = change1,
    [ZEND_POST_INC] = change1,
    [ZEND_POST_DEC] = change1,
    [ZEND_UNSET_CV] = unset_variable,
    [ZEND_CATCH] = catch_exception,
    [ZEND_FETCH_R] = by_name,
    [ZEND_FETCH_W] = by_name,
    [ZEND_FETCH_RW] = by_name,
    [ZEND_FETCH_IS] = by_name,
    [ZEND_FETCH_FUNC_ARG] = by_name,
    [ZEND_FETCH_UNSET] = by_name,
    [ZEND_UNSET_VAR] = by_name,
    [ZEND_ASSIGN_DIM] = assign_element,
    [ZEND_ASSIGN_DIM_OP] = change_element,
    [ZEND_FETCH_DIM_R] = read_element,
    [ZEND_FETCH_DIM_IS] = read_element,
    [ZEND_FETCH_LIST_R] = read_element,
    [ZEND_ISSET_ISEMPTY_DIM_OBJ] = read_element,
    [ZEND_FETCH_DIM_W] = fetch_element,
    [ZEND_FETCH_DIM_RW] = fetch_element,
    [ZEND_FETCH_DIM_UNSET] = fetch_element,
    [ZEND_FETCH_LIST_W] = fetch_element,
    [ZEND_FETCH_DIM_FUNC_ARG] = pass_element,
    [ZEND_UNSET_DIM] = unset_element,
    [ZEND_ASSIGN_OBJ] = assign_property,
    [ZEND_ASSIGN_OBJ_OP] = change_property,
    [ZEND_PRE_INC_OBJ] = change_property,
    [ZEND_PRE_DEC_OBJ] = change_property,
    [ZEND_POST_INC_OBJ] = change_property,
    [ZEND_POST_DEC_OBJ] = change_property,
    [ZEND_FETCH_OBJ_R] = read_property,
    [ZEND_FETCH_OBJ_IS] = read_property,
    [ZEND_ISSET_ISEMPTY_PROP_OBJ] = read_property,
    [ZEND_FETCH_OBJ_W] = fetch_property,
    [ZEND_FETCH_OBJ_RW] = fetch_property,
    [ZEND_FETCH_OBJ_UNSET] = fetch_property,
    [ZEND_FETCH_OBJ_FUNC_ARG] = pass_property,
    [ZEND_UNSET_OBJ] = unset_property,
    [ZEND_SEND_REF] = send_reference,
    [ZEND_SEND_VAR_EX] = send_argument,
    [ZEND_SEND_FUNC_ARG] = send_argument,
    [ZEND_SEND_VAR] = send_value,
    [ZEND_SEND_VAL] = send_value,
    [ZEND_SEND_VAL_EX] = send_value,
    [ZEND_ASSIGN_REF] = assign_reference,
    [ZEND_ASSIGN_OBJ_REF] = assign_place_reference,
    [ZEND_ASSIGN_STATIC_PROP_REF] = assign_place_reference,
    [ZEND_MAKE_REF] = make_reference,
    [ZEND_BIND_GLOBAL] = bind_global,
    [ZEND_BIND_STATIC] = bind_static,
    [ZEND_BIND_LEXICAL] = bind_lexical,
    [ZEND_INIT_ARRAY] = array_element,
    [ZEND_ADD_ARRAY_ELEMENT] = array_element,
    [ZEND_FE_RESET_RW] = reset_by_reference,
    [ZEND_FE_FETCH_R] = next_element,
    [ZEND_FE_FETCH_RW] = next_element,
    [ZEND_INCLUDE_OR_EVAL] = close_include,
    [ZEND_RETURN] = close_return,
    [ZEND_RETURN_BY_REF] = close_return,
    [ZEND_GENERATOR_RETURN] = close_return,
    [ZEND_ASSIGN_STATIC_PROP] = assign_static,
    [ZEND_ASSIGN_STATIC_PROP_OP] = change_static,
    [ZEND_PRE_INC_STATIC_PROP] = change_static,
    [ZEND_PRE_DEC_STATIC_PROP] = change_static,
    [ZEND_POST_INC_STATIC_PROP] = change_static,
    [ZEND_POST_DEC_STATIC_PROP] = change_static,
    [ZEND_FETCH_STATIC_PROP_R] = read_static,
    [ZEND_FETCH_STATIC_PROP_IS] = read_static,
    [ZEND_ISSET_ISEMPTY_STATIC_PROP] = read_static,
    [ZEND_FETCH_STATIC_PROP_W] = fetch_static,
    [ZEND_FETCH_STATIC_PROP_RW] = fetch_static,
    [ZEND_FETCH_STATIC_PROP_UNSET] = fetch_static,
    [ZEND_FETCH_STATIC_PROP_FUNC_ARG] = pass_static,
};

void close_look(const close_at *a) {
  close_compare(a);
  if (recorders[a->op->opcode])
    recorders[a->op->opcode](a);
  else
    use_operands(a);
}
