// Conditions and calls of one compiled function.
//
// Conditions are atomic. `if ($a && !$b)` is compiled to
//
//   T1 = JMPZ_EX $a, L     operand $a
//   T2 = BOOL_NOT $b
//   T1 = BOOL T2           operand !$b
//   L: JMPZ T1, ...        no condition of its own: T1 is known already
//
// A switch or match is a chain of forward JMPNZ that lead further and further
// down; a loop's JMPNZ leads back. Nothing else uses JMPNZ.
//
// Calls are told by the opcode that does them; its INIT_ opcode gives the name.
// strlen() and count() are opcodes in PHP and calls for us.
#include "plan.h"

static uint32_t owner_of(const function_plan *f, uint32_t op) {
  return f->owner[op] ? f->owner[op] - 1 : CULPRIT_NONE;
}

// --- conditions -------------------------------------------------------------

static void add_condition(function_plan *f, uint32_t kind, uint32_t outcomes,
                          const uint32_t *ops, uint32_t nops) {
  uint32_t *copy = culprit_alloc(nops * sizeof *copy);
  memcpy(copy, ops, nops * sizeof *copy);
  condition c = {.kind = kind,
                 .line = f->code->opcodes[ops[0]].lineno,
                 .outcomes = outcomes,
                 .owner = owner_of(f, ops[0]),
                 .ops = copy,
                 .nops = nops};
  list_push(&f->conditions, c);
}

// Per opcode: COMPOUND if its result is that of && or ||, LAST if it is the
// last operand of one.
enum { COMPOUND = 1, LAST = 2, CHAINED = 4 };

static bool is_compound(const function_plan *f, const unsigned char *marks,
                        uint32_t n) {
  const zend_op *op = &f->code->opcodes[n];
  return n && op->op1_type == IS_TMP_VAR && marks[n - 1] & COMPOUND &&
         op[-1].result.var == op->op1.var;
}

static void mark_operands(const function_plan *f, unsigned char *marks) {
  const zend_op_array *code = f->code;
  for (uint32_t i = 0; i < code->last; i++) {
    const zend_op *op = &code->opcodes[i];
    if (op->opcode == ZEND_JMPZ_EX || op->opcode == ZEND_JMPNZ_EX) {
      uint32_t end = jump_target(code, i) - 1;
      if (end < code->last && end > i &&
          code->opcodes[end].result.var == op->result.var)
        marks[end] |= COMPOUND | LAST;
    }
    if (op->opcode == ZEND_BOOL_NOT && is_compound(f, marks, i))
      marks[i] |= COMPOUND;
  }
}

// The last line with `switch` or `match` that is not behind `line`.
static uint32_t switch_line(const culprit_source *source, uint32_t line) {
  uint32_t best = line;
  for (size_t i = 0; i < source->nswitches && source->switches[i] <= line; i++)
    best = source->switches[i];
  return best;
}

// PHP gives a statement the line of its first opcode. A switch over a variable
// has none before its first case: the statement is where `switch` stands.
static void place_switch(function_plan *f, condition *c,
                         const culprit_source *source) {
  c->line = switch_line(source, c->line);
  if (c->owner == CULPRIT_NONE)
    return;
  point *p = &f->points.items[c->owner];
  if (p->line <= c->line || p->lines)
    return;
  p->line = c->line;
  if (p->leader)
    f->block_lines[p->block] = c->line;
}

static void add_switch(function_plan *f, const culprit_source *source,
                       unsigned char *marks, uint32_t n) {
  const zend_op_array *code = f->code;
  LIST(uint32_t) ops = {0};
  uint32_t first = jump_target(code, n), last = first;
  for (uint32_t i = n; i < first; i++) {
    if (code->opcodes[i].opcode != ZEND_JMPNZ)
      continue;
    uint32_t to = jump_target(code, i);
    if (to <= i || to < last)
      continue;
    last = to;
    marks[i] |= CHAINED;
    list_push(&ops, i);
  }
  if (ops.length >= 65535)
    return;
  add_condition(f, CONDITION_SWITCH, ops.length + 1, ops.items, ops.length);
  place_switch(f, &f->conditions.items[f->conditions.length - 1], source);
}

static bool is_ternary(const zend_op_array *code, uint32_t n) {
  uint32_t to = jump_target(code, n);
  return to >= 2 && to <= code->last &&
         code->opcodes[to - 1].opcode == ZEND_JMP &&
         code->opcodes[to - 2].opcode == ZEND_QM_ASSIGN;
}

// The kind of the condition that this opcode decides; -1: none.
static int condition_kind(const function_plan *f, const unsigned char *marks,
                          uint32_t n) {
  const zend_op *op = &f->code->opcodes[n];
  bool atom = op->op1_type != IS_CONST && !is_compound(f, marks, n);
  switch (op->opcode) {
  case ZEND_JMPZ:
    return !atom                    ? -1
           : is_ternary(f->code, n) ? CONDITION_TERNARY
                                    : CONDITION_IF;
  case ZEND_JMPNZ:
    return jump_target(f->code, n) > n ? CONDITION_SWITCH
           : atom                      ? CONDITION_LOOP
                                       : -1;
  case ZEND_JMPZ_EX:
  case ZEND_JMPNZ_EX:
    return atom ? CONDITION_OPERAND : -1;
  case ZEND_BOOL:
    return atom && marks[n] & LAST ? CONDITION_OPERAND : -1;
  case ZEND_JMP_SET:
    return CONDITION_TERNARY;
  case ZEND_COALESCE:
    return CONDITION_COALESCE;
  case ZEND_JMP_NULL:
    return CONDITION_NULLSAFE;
  case ZEND_FE_FETCH_R:
  case ZEND_FE_FETCH_RW:
    return CONDITION_FOREACH;
  default:
    return -1;
  }
}

static void find_conditions(function_plan *f, const culprit_source *source) {
  unsigned char *marks = culprit_alloc(f->code->last);
  mark_operands(f, marks);
  for (uint32_t i = 0; i < f->code->last; i++) {
    int kind = condition_kind(f, marks, i);
    if (kind == CONDITION_SWITCH) {
      if (!(marks[i] & CHAINED))
        add_switch(f, source, marks, i);
    } else if (kind >= 0) {
      add_condition(f, (uint32_t)kind, 2, &i, 1);
    }
  }
}

// --- calls ------------------------------------------------------------------

#define ALL_CLASSES ((1u << CLASSES) - 1)
#define BIT(class) (1u << CLASS_##class)

// The classes that values of a declared type can be in.
static uint32_t classes_of(zend_type type) {
  uint32_t mask = ZEND_TYPE_FULL_MASK(type);
  uint32_t classes = BIT(CONSTANT) | BIT(NON_CONSTANT);
  if (ZEND_TYPE_IS_COMPLEX(type))
    mask |= MAY_BE_OBJECT;
  if (mask & MAY_BE_NULL)
    classes |= BIT(NULL) | BIT(NON_NULL);
  if (mask & MAY_BE_OBJECT)
    classes |= BIT(NON_NULL);
  if (mask & MAY_BE_TRUE)
    classes |= BIT(TRUE);
  if (mask & MAY_BE_FALSE)
    classes |= BIT(FALSE);
  if (mask & (MAY_BE_LONG | MAY_BE_DOUBLE))
    classes |= BIT(ZERO) | BIT(NON_ZERO) | BIT(NEGATIVE);
  if (mask & MAY_BE_DOUBLE)
    classes |= BIT(NAN);
  if (mask & (MAY_BE_STRING | MAY_BE_ARRAY))
    classes |= BIT(EMPTY) | BIT(NON_EMPTY);
  return classes;
}

static uint32_t function_classes(const zend_function *fn) {
  if (fn->type != ZEND_INTERNAL_FUNCTION ||
      !(fn->common.fn_flags & ZEND_ACC_HAS_RETURN_TYPE))
    return ALL_CLASSES;
  zend_type type = fn->common.arg_info[-1].type;
  uint32_t mask = ZEND_TYPE_FULL_MASK(type);
  if ((mask & MAY_BE_ANY) == MAY_BE_ANY || mask & MAY_BE_STATIC)
    return ALL_CLASSES;
  if (mask & (MAY_BE_VOID | MAY_BE_NEVER))
    return 0;
  return classes_of(type);
}

static void set_name(call *c, const zval *name) {
  if (Z_TYPE_P(name) != IS_STRING)
    return;
  c->callee = Z_STRVAL_P(name);
  c->callee_length = Z_STRLEN_P(name);
}

// A function known when the script was compiled.
static void set_known(call *c, const zval *name) {
  const zend_function *fn =
      zend_hash_find_ptr(CG(function_table), Z_STR_P(name));
  set_name(c, name);
  if (!fn || !fn->common.function_name)
    return;
  c->callee = ZSTR_VAL(fn->common.function_name);
  c->callee_length = ZSTR_LEN(fn->common.function_name);
  c->classes = function_classes(fn);
}

static void name_callee(call *c, const zend_op *init) {
  switch (init->opcode) {
  case ZEND_INIT_FCALL:
    set_known(c, RT_CONSTANT(init, init->op2));
    break;
  case ZEND_INIT_FCALL_BY_NAME:
  case ZEND_INIT_NS_FCALL_BY_NAME:
    set_name(c, RT_CONSTANT(init, init->op2));
    break;
  case ZEND_INIT_METHOD_CALL:
  case ZEND_INIT_STATIC_METHOD_CALL:
    if (init->op2_type == IS_CONST)
      set_name(c, RT_CONSTANT(init, init->op2));
    break;
  case ZEND_INIT_USER_CALL:
    if (init->op1_type == IS_CONST)
      set_name(c, RT_CONSTANT(init, init->op1));
    break;
  case ZEND_NEW:
    c->classes = 0; // a constructor returns nothing
    break;
  default:
    break;
  }
}

static bool is_init(const zend_op *op) {
  switch (op->opcode) {
  case ZEND_INIT_FCALL:
  case ZEND_INIT_FCALL_BY_NAME:
  case ZEND_INIT_NS_FCALL_BY_NAME:
  case ZEND_INIT_METHOD_CALL:
  case ZEND_INIT_STATIC_METHOD_CALL:
  case ZEND_INIT_USER_CALL:
  case ZEND_INIT_DYNAMIC_CALL:
  case ZEND_NEW:
    return true;
  default:
    return false;
  }
}

static bool is_call(const zend_op *op) {
  return op->opcode == ZEND_DO_FCALL || op->opcode == ZEND_DO_ICALL ||
         op->opcode == ZEND_DO_UCALL || op->opcode == ZEND_DO_FCALL_BY_NAME;
}

static void add_call(function_plan *f, call c) {
  c.line = f->code->opcodes[c.op].lineno;
  c.owner = owner_of(f, c.op);
  if (c.classes)
    list_push(&f->calls, c);
}

#define INT_CLASSES                                                            \
  (BIT(ZERO) | BIT(NON_ZERO) | BIT(CONSTANT) | BIT(NON_CONSTANT))

static void add_builtin(function_plan *f, uint32_t n) {
  bool length = f->code->opcodes[n].opcode == ZEND_STRLEN;
  call c = {.op = n,
            .classes = INT_CLASSES,
            .callee = length ? "strlen" : "count",
            .callee_length = length ? 6 : 5};
  add_call(f, c);
}

static void find_calls(function_plan *f) {
  LIST(uint32_t) open = {0};
  for (uint32_t i = 0; i < f->code->last; i++) {
    const zend_op *op = &f->code->opcodes[i];
    if (is_init(op))
      list_push(&open, i);
    if (op->opcode == ZEND_STRLEN || op->opcode == ZEND_COUNT)
      add_builtin(f, i);
    bool done = is_call(op);
    if ((!done && op->opcode != ZEND_CALLABLE_CONVERT) || !open.length)
      continue;
    const zend_op *init = &f->code->opcodes[open.items[--open.length]];
    call c = {.op = i, .classes = ALL_CLASSES};
    name_callee(&c, init);
    if (done)
      add_call(f, c);
  }
}

void tuples_find(function_plan *f, const culprit_source *source) {
  find_conditions(f, source);
  find_calls(f);
}
