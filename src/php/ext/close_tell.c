// Writes what the closer look found into the record, each once a request, with
// names and operands as the source has them. See close.h.
#include "close.h"

#include "zend_smart_str.h"

static uint64_t *pairs; // open addressing; 0: free
static uint32_t npairs;
enum { PAIR_SLOTS = CLOSE_PAIRS * 2 };

void close_tell_begin(void) {
  npairs = 0;
  if (pairs)
    memset(pairs, 0, PAIR_SLOTS * sizeof *pairs);
  else
    pairs = calloc(PAIR_SLOTS, sizeof *pairs);
}

void close_tell_free(void) {
  free(pairs);
  pairs = NULL;
}

// --- operands as text -------------------------------------------------------

typedef struct {
  char bytes[CLOSE_TEXT + 1];
  size_t length;
  bool unknown; // some part is not told
} text;

static void add(text *t, const char *bytes, size_t n) {
  if (t->length + n > CLOSE_TEXT) {
    t->unknown = true;
    return;
  }
  memcpy(t->bytes + t->length, bytes, n);
  t->length += n;
}

static void add_z(text *t, const char *s) { add(t, s, strlen(s)); }

static void add_constant(text *t, const zval *v) {
  char number[64];
  switch (Z_TYPE_P(v)) {
  case IS_NULL:
    add_z(t, "null");
    break;
  case IS_FALSE:
    add_z(t, "false");
    break;
  case IS_TRUE:
    add_z(t, "true");
    break;
  case IS_LONG:
    snprintf(number, sizeof number, ZEND_LONG_FMT, Z_LVAL_P(v));
    add_z(t, number);
    break;
  case IS_DOUBLE:
    php_gcvt(Z_DVAL_P(v), 17, '.', 'e', number);
    add_z(t, number);
    break;
  case IS_STRING:
    for (size_t i = 0; i < Z_STRLEN_P(v); i++)
      if ((unsigned char)Z_STRVAL_P(v)[i] < ' ' || Z_STRVAL_P(v)[i] == '`')
        t->unknown = true;
    add_z(t, "'");
    add(t, Z_STRVAL_P(v), Z_STRLEN_P(v));
    add_z(t, "'");
    break;
  default:
    t->unknown = true;
  }
}

static void add_operand(text *t, const zend_op_array *code, const zend_op *op,
                        zend_uchar type, znode_op node, int depth);

static void add_name(text *t, const zend_op *op) {
  const zval *name = RT_CONSTANT(op, op->op2);
  if (op->op2_type == IS_CONST && Z_TYPE_P(name) == IS_STRING)
    add(t, Z_STRVAL_P(name), Z_STRLEN_P(name));
  else
    t->unknown = true;
}

static void add_call(text *t, const zend_op_array *code, const zend_op *op,
                     const char *name, int depth) {
  add_z(t, name);
  add_z(t, "(");
  add_operand(t, code, op, op->op1_type, op->op1, depth);
  add_z(t, ")");
}

// The element or property that the opcode is about.
static void add_place(text *t, const zend_op_array *code, const zend_op *op,
                      bool property, int depth) {
  if (property && op->op1_type == IS_UNUSED)
    add_z(t, "$this");
  else
    add_operand(t, code, op, op->op1_type, op->op1, depth);
  add_z(t, property ? "->" : "[");
  if (property)
    add_name(t, op);
  else if (op->op2_type != IS_UNUSED)
    add_operand(t, code, op, op->op2_type, op->op2, depth);
  add_z(t, property ? "" : "]");
}

static const char *sign_of(zend_uchar opcode) {
  static const char *const signs[] = {
      [ZEND_ADD] = " + ", [ZEND_SUB] = " - ", [ZEND_MUL] = " * ",
      [ZEND_DIV] = " / ", [ZEND_MOD] = " % ", [ZEND_CONCAT] = " . "};
  return opcode < sizeof signs / sizeof *signs ? signs[opcode] : NULL;
}

static void add_result(text *t, const zend_op_array *code, const zend_op *op,
                       int depth) {
  const char *sign = sign_of(op->opcode);
  if (sign) {
    add_operand(t, code, op, op->op1_type, op->op1, depth);
    add_z(t, sign);
    add_operand(t, code, op, op->op2_type, op->op2, depth);
    return;
  }
  switch (op->opcode) {
  case ZEND_FETCH_DIM_R:
  case ZEND_FETCH_DIM_W:
  case ZEND_FETCH_DIM_RW:
  case ZEND_FETCH_DIM_IS:
  case ZEND_FETCH_LIST_R:
    add_place(t, code, op, false, depth);
    break;
  case ZEND_FETCH_OBJ_R:
  case ZEND_FETCH_OBJ_W:
  case ZEND_FETCH_OBJ_RW:
  case ZEND_FETCH_OBJ_IS:
    add_place(t, code, op, true, depth);
    break;
  case ZEND_COUNT:
    add_call(t, code, op, "count", depth);
    break;
  case ZEND_STRLEN:
    add_call(t, code, op, "strlen", depth);
    break;
  default:
    t->unknown = true;
  }
}

// A temporary is what the opcode that made it says; the nearest one before.
static void add_temporary(text *t, const zend_op_array *code, const zend_op *op,
                          uint32_t var, int depth) {
  for (const zend_op *made = op - 1; made >= code->opcodes && depth > 0; made--)
    if (made->result_type & (IS_TMP_VAR | IS_VAR) && made->result.var == var) {
      add_result(t, code, made, depth - 1);
      return;
    } else if (made->opcode == ZEND_EXT_STMT) {
      break;
    }
  t->unknown = true;
}

static void add_operand(text *t, const zend_op_array *code, const zend_op *op,
                        zend_uchar type, znode_op node, int depth) {
  if (type == IS_CONST) {
    add_constant(t, RT_CONSTANT(op, node));
  } else if (type == IS_CV) {
    const zend_string *name = code->vars[close_number(node.var)];
    add_z(t, "$");
    add(t, ZSTR_VAL(name), ZSTR_LEN(name));
  } else if (type & (IS_TMP_VAR | IS_VAR)) {
    add_temporary(t, code, op, node.var, depth);
  } else {
    t->unknown = true;
  }
}

#define DEPTH 4

// --- pairs ------------------------------------------------------------------

static bool is_property(const zend_op *op) {
  switch (op->opcode) {
  case ZEND_FETCH_OBJ_R:
  case ZEND_FETCH_OBJ_IS:
  case ZEND_FETCH_OBJ_FUNC_ARG:
  case ZEND_FETCH_OBJ_RW:
  case ZEND_ASSIGN_OBJ_OP:
  case ZEND_PRE_INC_OBJ:
  case ZEND_PRE_DEC_OBJ:
  case ZEND_POST_INC_OBJ:
  case ZEND_POST_DEC_OBJ:
  case ZEND_ISSET_ISEMPTY_PROP_OBJ:
    return true;
  default:
    return false;
  }
}

static void name_used(text *t, const close_at *a, close_name name) {
  const zend_op_array *code = &a->ex->func->op_array;
  const zend_op *op = a->op;
  switch (name) {
  case NAME_1:
    add_operand(t, code, op, op->op1_type, op->op1, DEPTH);
    break;
  case NAME_2:
    add_operand(t, code, op, op->op2_type, op->op2, DEPTH);
    break;
  case NAME_DATA:
    add_operand(t, code, op + 1, op[1].op1_type, op[1].op1, DEPTH);
    break;
  case NAME_PLACE:
    add_place(t, code, op, is_property(op), DEPTH);
    break;
  default:
    t->unknown = true;
  }
  if (t->unknown)
    t->length = 0;
}

// Was it told? If not, it is now.
static bool is_new(uint32_t def, uint32_t use) {
  uint64_t pair = (uint64_t)def << 32 | use;
  uint32_t at = (uint32_t)(pair * 0x9e3779b97f4a7c15ull >> 32) % PAIR_SLOTS;
  if (!pairs)
    return false;
  for (; pairs[at]; at = (at + 1) % PAIR_SLOTS)
    if (pairs[at] == pair)
      return false;
  if (npairs >= CLOSE_PAIRS) {
    culprit_note("more pairs than the closer look keeps: some are missing");
    return false;
  }
  npairs++;
  pairs[at] = pair;
  return true;
}

static void tell_pair(PairKind kind, uint32_t def, uint32_t use,
                      const text *name) {
  ItemPair *item = culprit_item(ITEM_PAIR, sizeof *item + name->length);
  if (!item)
    return;
  item->def = def;
  item->use = use;
  item->kind = kind;
  item->length = (uint32_t)name->length;
  memcpy(item + 1, name->bytes, name->length);
  culprit_publish(item);
}

static zend_never_inline void tell_named(const close_at *a, uint32_t writer,
                                         close_name name) {
  text t = {.length = 0};
  name_used(&t, a, name);
  tell_pair(PAIR_VARIABLE, writer, a->statement, &t);
}

void close_pair(const close_at *a, uint32_t writer, close_name name) {
  if (!writer || !a->statement)
    return;
  uint32_t n = (uint32_t)(a->op - a->ex->func->op_array.opcodes);
  uint32_t *last = &a->f->close->last[n][name == NAME_2];
  if (EXPECTED(*last == writer))
    return;
  *last = writer;
  if (is_new(writer, a->statement))
    tell_named(a, writer, name);
}

void close_link(PairKind kind, uint32_t def, uint32_t use) {
  static const text none;
  if (def && use && is_new(def, use))
    tell_pair(kind, def, use, &none);
}

// --- relations --------------------------------------------------------------

static const char *const verbs[OUTCOMES] = {
    [OUTCOME_LESS] = " is less than ",
    [OUTCOME_EQUAL] = " equals ",
    [OUTCOME_GREATER] = " is greater than ",
    [OUTCOME_UNORDERED] = " has no order with ",
    [OUTCOME_NULL] = " is null",
    [OUTCOME_NON_NULL] = " is not null",
    [OUTCOME_NEGATIVE] = " is negative",
    [OUTCOME_ZERO] = " is zero",
    [OUTCOME_POSITIVE] = " is positive",
    [OUTCOME_SAME] = " keeps its value",
    [OUTCOME_CHANGED] = " changes its value",
    [OUTCOME_DIFFERENT] = " differs from ",
};

static void add_quoted(smart_str *out, const close_at *a, zend_uchar type,
                       znode_op node, const char *otherwise) {
  text t = {.length = 0};
  add_operand(&t, &a->ex->func->op_array, a->op, type, node, DEPTH);
  if (t.unknown) {
    smart_str_appends(out, otherwise);
    return;
  }
  smart_str_appendc(out, '`');
  smart_str_appendl(out, t.bytes, t.length);
  smart_str_appendc(out, '`');
}

// isset($a['x']) names an element.
static void add_subject(smart_str *out, const close_at *a) {
  const zend_op *op = a->op;
  bool property = op->opcode == ZEND_ISSET_ISEMPTY_PROP_OBJ;
  text t = {.length = 0};
  if (!property && op->opcode != ZEND_ISSET_ISEMPTY_DIM_OBJ) {
    add_quoted(out, a, op->op1_type, op->op1, "the operand");
    return;
  }
  add_place(&t, &a->ex->func->op_array, op, property, DEPTH);
  if (t.unknown) {
    smart_str_appends(out, property ? "the property" : "the element");
    return;
  }
  smart_str_appendc(out, '`');
  smart_str_appendl(out, t.bytes, t.length);
  smart_str_appendc(out, '`');
}

static bool has_two(unsigned outcome) {
  return outcome <= OUTCOME_UNORDERED || outcome == OUTCOME_DIFFERENT;
}

static void add_clause(smart_str *out, const close_at *a, RelatedKind kind,
                       unsigned outcome) {
  const zend_op *op = a->op;
  if (kind == RELATED_RETURN)
    smart_str_appends(out, "the returned value");
  else if (kind == RELATED_STORE)
    add_quoted(out, a, op->op1_type, op->op1, "the stored value");
  else if (has_two(outcome))
    add_quoted(out, a, op->op1_type, op->op1, "the left operand");
  else
    add_subject(out, a);
  smart_str_appends(out, verbs[outcome]);
  if (has_two(outcome))
    add_quoted(out, a, op->op2_type, op->op2, "the right operand");
}

void close_relation(const close_at *a, RelatedKind kind, unsigned outcome) {
  uint32_t n = (uint32_t)(a->op - a->ex->func->op_array.opcodes);
  uint16_t *seen = &a->f->close->seen[n];
  if (EXPECTED(*seen >> outcome & 1) || !a->statement)
    return;
  *seen |= (uint16_t)(1u << outcome);
  smart_str clause = {0};
  add_clause(&clause, a, kind, outcome);
  size_t length = ZSTR_LEN(clause.s);
  ItemRelation *item = culprit_item(ITEM_RELATION, sizeof *item + length);
  if (item) {
    item->statement = a->statement;
    item->function = a->f->close->slot;
    item->site = n;
    item->outcome = outcome;
    item->kind = kind;
    item->length = (uint32_t)length;
    memcpy(item + 1, ZSTR_VAL(clause.s), length);
    culprit_publish(item);
  }
  smart_str_free(&clause);
}
