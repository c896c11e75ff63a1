// What the application compared its input with: the other side of a comparison
// is a value worth sending. Collected only if culprit.collect names `compares`.
//
//   $pw = $_POST['pw'] ?? '';     nothing was sent: ABSENT, "_POST", "pw"
//   if ($pw == 'x')               sent "a7": EQUAL, "a7", "x", outcome 0
//
// Which operand is input is told by its value: it equals or contains, blanks
// around it and case aside, a value of $_GET, $_POST or $_COOKIE, or one that
// the session kept. Nothing is followed through the program, so what an
// application computes from its input before it compares (a hash, a sum) is not
// recognized. Comparisons of other values are left out, and so is one that was
// told before.
//
// Memory: fixed tables of this process, one request at a time.
#include "shadow.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
  VALUES_MOST = 128,   // of the input that are looked for
  DEPTH_MOST = 3,      // of arrays in the input
  TOLD_MOST = 4096,    // items of one request
  OPERAND_MOST = 256,  // bytes of an operand
  LIST_MOST = 48,      // elements of a list that are told
  CONTAINED_LEAST = 3, // bytes that a contained value must have
};

typedef struct {
  size_t length;
  char text[OPERAND_MOST];
} word;

static word values[VALUES_MOST];
static size_t nvalues;
static uint64_t told[2 * TOLD_MOST]; // hashes; 0: free
static size_t ntold;
static bool begun;

// The arrays of input as they were when the script last named them.
enum { SOURCE_SESSION = 4, SOURCES };
static const char *const sources[SOURCES] = {"_GET", "_POST", "_COOKIE",
                                             "_REQUEST", "_SESSION"};
static const HashTable *arrays[SOURCES];

void culprit_compare_begin(void) {
  if (ntold)
    memset(told, 0, sizeof told);
  begun = false;
  nvalues = ntold = 0;
  memset(arrays, 0, sizeof arrays);
}

// --- the input's values -----------------------------------------------------

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v';
}

// Without blanks around it, in lower case; false: too long to be looked at.
static bool normalize(word *w, const char *text, size_t length) {
  while (length && is_blank(*text))
    text++, length--;
  while (length && is_blank(text[length - 1]))
    length--;
  if (length > sizeof w->text)
    return false;
  for (size_t i = 0; i < length; i++)
    w->text[i] = (char)zend_tolower_ascii(text[i]);
  w->length = length;
  return true;
}

static bool is_same(const word *a, const word *b) {
  return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static void add_value(const char *text, size_t length) {
  word *w = &values[nvalues];
  if (nvalues == VALUES_MOST || !normalize(w, text, length) || !w->length)
    return;
  for (size_t i = 0; i < nvalues; i++)
    if (is_same(&values[i], w))
      return;
  nvalues++;
}

static void add_values(const HashTable *ht, int depth) {
  zval *value;
  ZEND_HASH_FOREACH_VAL((HashTable *)ht, value) {
    ZVAL_DEINDIRECT(value);
    ZVAL_DEREF(value);
    if (Z_TYPE_P(value) == IS_STRING)
      add_value(Z_STRVAL_P(value), Z_STRLEN_P(value));
    else if (Z_TYPE_P(value) == IS_ARRAY && depth)
      add_values(Z_ARRVAL_P(value), depth - 1);
  }
  ZEND_HASH_FOREACH_END();
}

static void begin(void) {
  static const int tracks[] = {TRACK_VARS_GET, TRACK_VARS_POST,
                               TRACK_VARS_COOKIE};
  begun = true;
  for (size_t i = 0; i < sizeof tracks / sizeof *tracks; i++) {
    const zval *array = &PG(http_globals)[tracks[i]];
    if (Z_TYPE_P(array) == IS_ARRAY)
      add_values(Z_ARRVAL_P(array), DEPTH_MOST);
  }
}

static bool has(const word *w, const word *value) {
  if (is_same(w, value))
    return true;
  return value->length >= CONTAINED_LEAST && w->length > value->length &&
         zend_memnstr(w->text, value->text, value->length, w->text + w->length);
}

static bool is_input(const char *text, size_t length) {
  word w;
  if (!begun)
    begin();
  if (!nvalues || !normalize(&w, text, length))
    return false;
  for (size_t i = 0; i < nvalues; i++)
    if (has(&w, &values[i]))
      return true;
  return false;
}

// --- telling ----------------------------------------------------------------

// An operand as text; false: it is none that could be sent.
typedef struct {
  const char *text;
  size_t length;
  char room[32];
} operand_text;

static bool read_operand(operand_text *o, const zval *value) {
  ZVAL_DEREF(value);
  switch (Z_TYPE_P(value)) {
  case IS_STRING:
    o->text = Z_STRVAL_P(value);
    o->length = Z_STRLEN_P(value);
    return o->length <= OPERAND_MOST;
  case IS_LONG:
    o->length = (size_t)snprintf(o->room, sizeof o->room, ZEND_LONG_FMT,
                                 Z_LVAL_P(value));
    break;
  case IS_DOUBLE:
    o->length =
        (size_t)snprintf(o->room, sizeof o->room, "%.15g", Z_DVAL_P(value));
    break;
  case IS_TRUE:
    o->length = (size_t)snprintf(o->room, sizeof o->room, "1");
    break;
  case IS_UNDEF:
  case IS_NULL:
  case IS_FALSE:
    o->length = 0;
    break;
  default:
    return false;
  }
  o->text = o->room;
  return true;
}

static bool is_new(const ItemCompare *key, const char *left,
                   const char *right) {
  uint64_t h = XXH3_64bits(key, sizeof *key);
  h = XXH3_64bits_withSeed(left, key->left_length, h);
  h = XXH3_64bits_withSeed(right, key->right_length, h) | 1;
  size_t mask = 2 * TOLD_MOST - 1, i = h & mask;
  while (told[i] && told[i] != h)
    i = (i + 1) & mask;
  if (told[i] || ntold == TOLD_MOST)
    return false;
  told[i] = h;
  ntold++;
  return true;
}

static void tell(CompareKind kind, int outcome, const operand_text *left,
                 const operand_text *right) {
  ItemCompare key = {.kind = kind, .outcome = (uint32_t)outcome};
  culprit_place(&key.file, &key.line);
  key.line &= ~FRAME_TEMPLATE;
  key.left_length = (uint32_t)left->length;
  key.right_length = (uint32_t)right->length;
  if (key.file == NO_FILE || !is_new(&key, left->text, right->text))
    return;
  size_t n = left->length + right->length;
  ItemCompare *item = culprit_item(ITEM_COMPARE, sizeof *item + n);
  if (!item)
    return;
  key.head = item->head;
  *item = key;
  memcpy(item + 1, left->text, left->length);
  memcpy((char *)(item + 1) + left->length, right->text, right->length);
  culprit_publish(item);
}

// With shadows there is little left to tell by values: strings that came by a
// way that is not followed. What has a term is told by its decision.
static bool has_shadows(void) { return culprit.collect & COLLECT_SHADOWS; }

static bool has_shadow(const zval *value) {
  ZVAL_DEREF(value);
  return has_shadows() && shadow_find(value);
}

static bool is_worth_a_look(const zval *a, const zval *b) {
  if (!culprit.recording || Z_TYPE_P(a) > IS_STRING || Z_TYPE_P(b) > IS_STRING)
    return false;
  return !has_shadows() || Z_TYPE_P(a) == IS_STRING || Z_TYPE_P(b) == IS_STRING;
}

// The input comes first; two of them are told both ways.
static void tell_pair(CompareKind kind, int outcome, const zval *a,
                      const zval *b) {
  operand_text x, y;
  static const CompareKind turned[COMPARE_KINDS] = {
      [COMPARE_EQUAL] = COMPARE_EQUAL,  [COMPARE_LESS] = COMPARE_GREATER,
      [COMPARE_GREATER] = COMPARE_LESS, [COMPARE_CONTAINS] = COMPARE_EQUAL,
      [COMPARE_STARTS] = COMPARE_EQUAL, [COMPARE_ENDS] = COMPARE_EQUAL};
  if (has_shadow(a) || has_shadow(b) || !read_operand(&x, a) ||
      !read_operand(&y, b))
    return;
  if (is_input(x.text, x.length))
    tell(kind, outcome, &x, &y);
  if (is_input(y.text, y.length))
    tell(turned[kind], outcome, &y, &x);
}

// --- operators --------------------------------------------------------------

static bool is_scalar(const zval *value) {
  return Z_TYPE_P(value) <= IS_STRING;
}

// An undefined variable compares like null, without its warning.
static int compare(const zval *a, const zval *b) {
  zval x, y;
  ZVAL_COPY_VALUE(&x, a);
  ZVAL_COPY_VALUE(&y, b);
  if (Z_TYPE(x) == IS_UNDEF)
    ZVAL_NULL(&x);
  if (Z_TYPE(y) == IS_UNDEF)
    ZVAL_NULL(&y);
  return zend_compare(&x, &y);
}

static int on_equal(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const zval *a = OPERAND(ex, op, 1), *b = OPERAND(ex, op, 2);
  if (is_worth_a_look(a, b))
    tell_pair(COMPARE_EQUAL, compare(a, b) == 0, a, b);
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_identical(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const zval *a = OPERAND(ex, op, 1), *b = OPERAND(ex, op, 2);
  if (is_worth_a_look(a, b))
    tell_pair(COMPARE_EQUAL, zend_is_identical((zval *)a, (zval *)b), a, b);
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_smaller(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const zval *a = OPERAND(ex, op, 1), *b = OPERAND(ex, op, 2);
  if (is_worth_a_look(a, b))
    tell_pair(COMPARE_LESS, compare(a, b) < 0, a, b);
  return ZEND_USER_OPCODE_DISPATCH;
}

// --- lists and keys ---------------------------------------------------------

// The value is looked for among the elements, or the keys, of an array.
static void tell_list(const zval *value, const HashTable *ht, bool keys) {
  operand_text x, y;
  zend_ulong number;
  zend_string *key;
  zval *element, of_key;
  int left = LIST_MOST;
  if (has_shadow(value) || !read_operand(&x, value) ||
      !is_input(x.text, x.length))
    return;
  ZEND_HASH_FOREACH_KEY_VAL((HashTable *)ht, number, key, element) {
    if (!left--)
      break;
    if (keys && key)
      ZVAL_STR(&of_key, key);
    else if (keys)
      ZVAL_LONG(&of_key, (zend_long)number);
    if (read_operand(&y, keys ? &of_key : element))
      tell(COMPARE_EQUAL, compare(value, keys ? &of_key : element) == 0, &x,
           &y);
  }
  ZEND_HASH_FOREACH_END();
}

static int source_of(const HashTable *ht) {
  for (int i = 0; i < SOURCES; i++)
    if (arrays[i] == ht)
      return i;
  return -1;
}

// A key is looked up, by [], isset, empty or array_key_exists.
static void look_up(const zval *container, const zval *key) {
  operand_text k;
  if (!culprit.recording || Z_TYPE_P(container) != IS_ARRAY ||
      (Z_TYPE_P(key) != IS_STRING && Z_TYPE_P(key) != IS_LONG))
    return;
  const HashTable *ht = Z_ARRVAL_P(container);
  int source = source_of(ht);
  if (source < 0) {
    if (Z_TYPE_P(key) == IS_STRING && !has_shadows())
      tell_list(key, ht, true);
    return;
  }
  const zval *there = Z_TYPE_P(key) == IS_STRING
                          ? zend_symtable_find((HashTable *)ht, Z_STR_P(key))
                          : zend_hash_index_find(ht, (zend_ulong)Z_LVAL_P(key));
  operand_text from = {.text = sources[source],
                       .length = strlen(sources[source])};
  if (read_operand(&k, key) && !there)
    tell(COMPARE_ABSENT, 0, &from, &k);
}

static int on_dim(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  look_up(OPERAND(ex, op, 1), OPERAND(ex, op, 2));
  return ZEND_USER_OPCODE_DISPATCH;
}

static int on_key_exists(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  look_up(OPERAND(ex, op, 2), OPERAND(ex, op, 1));
  return ZEND_USER_OPCODE_DISPATCH;
}

// in_array() of constants: they are the keys of a table.
static int on_in_array(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const zval *value = OPERAND(ex, op, 1), *list = OPERAND(ex, op, 2);
  if (culprit.recording && is_scalar(value) && Z_TYPE_P(list) == IS_ARRAY)
    tell_list(value, Z_ARRVAL_P(list), true);
  return ZEND_USER_OPCODE_DISPATCH;
}

// A global is fetched by name: where are the input's arrays now?
static int on_fetch_global(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const zval *name = OPERAND(ex, op, 1);
  if (!culprit.recording || Z_TYPE_P(name) != IS_STRING ||
      *Z_STRVAL_P(name) != '_')
    return ZEND_USER_OPCODE_DISPATCH;
  for (int i = 0; i < SOURCES; i++) {
    if (!zend_string_equals_cstr(Z_STR_P(name), sources[i], strlen(sources[i])))
      continue;
    zval *value = zend_hash_find(&EG(symbol_table), Z_STR_P(name));
    if (value) {
      ZVAL_DEINDIRECT(value);
      ZVAL_DEREF(value);
    }
    arrays[i] = value && Z_TYPE_P(value) == IS_ARRAY ? Z_ARRVAL_P(value) : NULL;
    if (!begun)
      begin();
    if (i == SOURCE_SESSION && arrays[i])
      add_values(arrays[i], 0);
  }
  return ZEND_USER_OPCODE_DISPATCH;
}

// --- functions --------------------------------------------------------------

typedef enum { CALL_PAIR, CALL_LIST, CALL_KEY } call_kind;

static const struct call {
  const char *name;
  call_kind kind;
  CompareKind compare;
} calls[] = {
    {"strcmp", CALL_PAIR, COMPARE_EQUAL},
    {"strcasecmp", CALL_PAIR, COMPARE_EQUAL},
    {"strncmp", CALL_PAIR, COMPARE_STARTS},
    {"strncasecmp", CALL_PAIR, COMPARE_STARTS},
    {"strnatcmp", CALL_PAIR, COMPARE_EQUAL},
    {"hash_equals", CALL_PAIR, COMPARE_EQUAL},
    {"str_starts_with", CALL_PAIR, COMPARE_STARTS},
    {"str_ends_with", CALL_PAIR, COMPARE_ENDS},
    {"str_contains", CALL_PAIR, COMPARE_CONTAINS},
    {"strpos", CALL_PAIR, COMPARE_CONTAINS},
    {"stripos", CALL_PAIR, COMPARE_CONTAINS},
    {"strstr", CALL_PAIR, COMPARE_CONTAINS},
    {"in_array", CALL_LIST, COMPARE_EQUAL},
    {"array_search", CALL_LIST, COMPARE_EQUAL},
    {"array_key_exists", CALL_KEY, COMPARE_EQUAL},
    {"key_exists", CALL_KEY, COMPARE_EQUAL},
};
enum { CALLS = sizeof calls / sizeof *calls };
static const zend_function *functions[CALLS];

static void find_functions(void) {
  for (int i = 0; i < CALLS; i++)
    functions[i] = zend_hash_str_find_ptr(CG(function_table), calls[i].name,
                                          strlen(calls[i].name));
}

static const struct call *call_of(const zend_function *f) {
  for (int i = 0; i < CALLS; i++)
    if (functions[i] &&
        functions[i]->internal_function.handler == f->internal_function.handler)
      return &calls[i];
  return NULL;
}

void culprit_compare_call(zend_execute_data *ex) {
  if (!functions[0])
    find_functions();
  const struct call *c = call_of(ex->func);
  if (!c || ZEND_CALL_NUM_ARGS(ex) < 2 || EG(exception))
    return;
  zval *a = ZEND_CALL_ARG(ex, 1), *b = ZEND_CALL_ARG(ex, 2);
  ZVAL_DEREF(a);
  ZVAL_DEREF(b);
  if (c->kind == CALL_PAIR)
    tell_pair(c->compare, 0, a, b);
  else if (c->kind == CALL_LIST && Z_TYPE_P(b) == IS_ARRAY && is_scalar(a))
    tell_list(a, Z_ARRVAL_P(b), false);
  else if (c->kind == CALL_KEY)
    look_up(b, a);
}

// --- registration -----------------------------------------------------------

static const struct {
  zend_uchar opcode;
  user_opcode_handler_t handler; // only looks: the VM does the rest
} handlers[] = {
    {ZEND_IS_EQUAL, on_equal},
    {ZEND_IS_NOT_EQUAL, on_equal},
    {ZEND_CASE, on_equal},
    {ZEND_IS_IDENTICAL, on_identical},
    {ZEND_IS_NOT_IDENTICAL, on_identical},
    {ZEND_CASE_STRICT, on_identical},
    {ZEND_IS_SMALLER, on_smaller},
    {ZEND_IS_SMALLER_OR_EQUAL, on_smaller},
    {ZEND_SPACESHIP, on_smaller},
    {ZEND_FETCH_DIM_R, on_dim},
    {ZEND_FETCH_DIM_IS, on_dim},
    {ZEND_ISSET_ISEMPTY_DIM_OBJ, on_dim},
    {ZEND_ARRAY_KEY_EXISTS, on_key_exists},
    {ZEND_IN_ARRAY, on_in_array},
    {ZEND_FETCH_R, on_fetch_global},
    {ZEND_FETCH_IS, on_fetch_global},
    {ZEND_FETCH_W, on_fetch_global},
    {ZEND_FETCH_RW, on_fetch_global},
};

static user_opcode_handler_t handler_of[256];

void culprit_compare_op(zend_execute_data *ex) {
  user_opcode_handler_t handler = handler_of[ex->opline->opcode];
  if (handler)
    handler(ex);
}

void culprit_compare_start(void) {
  for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
    zend_set_user_opcode_handler(handlers[i].opcode, handlers[i].handler);
    handler_of[handlers[i].opcode] = handlers[i].handler;
  }
}
