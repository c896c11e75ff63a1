// Terms and their tags, and how they get into the record: see shadow.h.
//
// Memory: the tables belong to the process and are used again by the next
// request; names and constants are the request's (culprit_alloc). A request
// that needs more than SHADOW_TERMS terms, SHADOW_TEXT bytes or 65,535 tagged
// numbers goes on without shadows for the rest; that is counted as lost.
#include "shadow.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct {
  uint16_t op;
  uint8_t type, nargs;
  bool input; // a visitor could have chosen it otherwise
  uint32_t args[TERM_ARGS];
  uint64_t value; // of a string: its length
  uint64_t check; // of a string: PHP's hash, else as value
  const char *text;
  uint32_t name_length, length; // in text: the name, then the string
  uint32_t hash;
  uint32_t tag;  // of numbers and booleans; 0: none yet
  uint32_t item; // number in the record; 0: not there yet
} term;

static term *terms; // from 1
static uint32_t nterms, terms_room;
static uint32_t *table; // hash -> number; a power of two of them
static uint32_t table_size;
static shadow tags[1 << 16]; // number or boolean
static uint32_t ntags;
static uint32_t nitems, nbranches;
static size_t text_used;
static HashTable lost; // what -> its item
static bool has_lost;

// --- requests ---------------------------------------------------------------

void culprit_shadow_begin(void) {
  if (!(culprit.collect & COLLECT_SHADOWS))
    return;
  if (table)
    memset(table, 0, table_size * sizeof *table);
  nterms = ntags = 1;
  nitems = nbranches = 0;
  text_used = 0;
  zend_hash_init(&lost, 8, NULL, NULL, 1);
  has_lost = true;
  shadow_input_begin();
}

void culprit_shadow_end(void) {
  if (!has_lost)
    return;
  shadow_input_end();
  zend_hash_destroy(&lost);
  has_lost = false;
  nterms = ntags = 0;
}

void shadow_lost(const char *what, size_t length) {
  if (!has_lost)
    return;
  zval *known = zend_hash_str_find(&lost, what, length);
  if (known) {
    ((ItemNamed *)Z_PTR_P(known))->number++;
    return;
  }
  if (zend_hash_num_elements(&lost) >= 1000)
    return;
  ItemNamed *item = culprit_item(ITEM_OPAQUE, sizeof *item + length);
  if (!item)
    return;
  item->number = 1;
  item->length = (uint32_t)length;
  memcpy(item + 1, what, length);
  culprit_publish(item);
  zend_hash_str_add_new_ptr(&lost, what, length, item);
}

// --- terms ------------------------------------------------------------------

static void describe(term *t, const zval *v) {
  switch (Z_TYPE_P(v)) {
  case IS_FALSE:
    t->type = VALUE_FALSE;
    break;
  case IS_TRUE:
    t->type = VALUE_TRUE;
    break;
  case IS_LONG:
    t->type = VALUE_INT;
    t->value = (uint64_t)Z_LVAL_P(v);
    break;
  case IS_DOUBLE:
    t->type = VALUE_FLOAT;
    memcpy(&t->value, &Z_DVAL_P(v), sizeof t->value);
    break;
  case IS_STRING:
    t->type = VALUE_STRING;
    t->value = Z_STRLEN_P(v);
    t->check = zend_string_hash_val(Z_STR_P(v));
    return;
  default:
    t->type = VALUE_NULL;
  }
  t->check = t->value;
}

static uint32_t hash_term(const term *t, const char *name, const char *text) {
  struct {
    uint16_t op;
    uint8_t type, nargs;
    uint32_t args[TERM_ARGS];
    uint64_t check;
  } key;
  memset(&key, 0, sizeof key);
  key.op = t->op;
  key.type = t->type;
  key.nargs = t->nargs;
  memcpy(key.args, t->args, sizeof key.args);
  key.check = t->check;
  uint64_t h = XXH3_64bits(&key, sizeof key);
  if (t->name_length)
    h = XXH3_64bits_withSeed(name, t->name_length, h);
  if (t->length)
    h = XXH3_64bits_withSeed(text, t->length, h);
  return (uint32_t)(h ^ h >> 32);
}

static bool is_same(const term *a, const term *b, const char *name,
                    const char *text) {
  return a->hash == b->hash && a->op == b->op && a->type == b->type &&
         a->nargs == b->nargs && !memcmp(a->args, b->args, sizeof a->args) &&
         a->check == b->check && a->value == b->value &&
         a->name_length == b->name_length && a->length == b->length &&
         (!a->name_length || !memcmp(a->text, name, a->name_length)) &&
         (!a->length || !memcmp(a->text + a->name_length, text, a->length));
}

static void insert(uint32_t n) {
  uint32_t mask = table_size - 1, i = terms[n].hash & mask;
  while (table[i])
    i = (i + 1) & mask;
  table[i] = n;
}

// Room for one more term; false: there is none.
static bool grow(void) {
  if (nterms < terms_room && nterms * 2 < table_size)
    return true;
  if (nterms >= SHADOW_TERMS)
    return false;
  uint32_t room = terms_room ? terms_room * 2 : 1024;
  term *more = realloc(terms, room * sizeof *more);
  if (!more)
    return false;
  terms = more;
  terms_room = room;
  uint32_t *wider = calloc(room * 4, sizeof *wider);
  if (!wider)
    return false;
  free(table);
  table = wider;
  table_size = room * 4;
  for (uint32_t n = 1; n < nterms; n++)
    insert(n);
  return true;
}

static const char *keep_text(const term *t, const char *name,
                             const char *text) {
  size_t n = (size_t)t->name_length + t->length;
  if (!n)
    return NULL;
  char *copy = culprit_alloc(n);
  if (t->name_length)
    memcpy(copy, name, t->name_length);
  if (t->length)
    memcpy(copy + t->name_length, text, t->length);
  text_used += n;
  return copy;
}

// What a database says is no visitor's choice, nor what is made of it alone.
static bool is_input(const term *t, const char *name) {
  if (t->op == TERM_VAR)
    return t->name_length < 3 || memcmp(name, "DB.", 3) != 0;
  for (unsigned i = 0; i < t->nargs; i++)
    if (t->args[i] && terms[t->args[i]].input)
      return true;
  return false;
}

static shadow intern(term *t, const char *name, const char *text) {
  if (!nterms || culprit.forked)
    return 0;
  if (t->length > SHADOW_STRING || t->name_length > SHADOW_STRING) {
    SHADOW_LOST("(long strings)");
    return 0;
  }
  if (!grow() || text_used + t->name_length + t->length > SHADOW_TEXT) {
    SHADOW_LOST("(too many terms)");
    return 0;
  }
  t->hash = hash_term(t, name, text);
  uint32_t mask = table_size - 1, i = t->hash & mask;
  for (; table[i]; i = (i + 1) & mask)
    if (is_same(&terms[table[i]], t, name, text))
      return table[i];
  t->text = keep_text(t, name, text);
  t->input = is_input(t, name);
  terms[nterms] = *t;
  return table[i] = nterms++;
}

static void add_string(term *t, const zval *v, const char **text) {
  *text = NULL;
  if (t->type != VALUE_STRING)
    return;
  *text = Z_STRVAL_P(v);
  t->length =
      Z_STRLEN_P(v) > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)Z_STRLEN_P(v);
}

shadow shadow_var(const char *name, size_t length, const zval *value) {
  static const zval nothing;
  term t = {.op = TERM_VAR, .name_length = (uint32_t)length};
  const char *text;
  describe(&t, value ? value : &nothing);
  add_string(&t, value, &text);
  return intern(&t, name, text);
}

static shadow constant(const zval *v) {
  term t = {.op = TERM_CONST};
  const char *text;
  if (Z_TYPE_P(v) > IS_STRING || Z_TYPE_P(v) == IS_UNDEF)
    return 0;
  describe(&t, v);
  add_string(&t, v, &text);
  return intern(&t, NULL, text);
}

shadow shadow_int(zend_long n) {
  zval v;
  ZVAL_LONG(&v, n);
  return constant(&v);
}

shadow shadow_opaque(const char *name, size_t length, const shadow *args,
                     unsigned n, const zval *result) {
  term t = {
      .op = TERM_OPAQUE, .nargs = (uint8_t)n, .name_length = (uint32_t)length};
  const char *text;
  if (Z_TYPE_P(result) > IS_STRING)
    return 0;
  describe(&t, result);
  add_string(&t, result, &text);
  memcpy(t.args, args, n * sizeof *args);
  return intern(&t, name, text);
}

shadow shadow_make(TermOp op, const shadow *args, unsigned n,
                   const zval *result) {
  term t = {.op = (uint16_t)op, .nargs = (uint8_t)n};
  if (Z_TYPE_P(result) > IS_STRING)
    return 0;
  for (unsigned i = 0; i < n; i++)
    if (!(t.args[i] = args[i]) && !(op == TERM_LIST && i == 0))
      return 0;
  describe(&t, result);
  return intern(&t, NULL, NULL);
}

shadow shadow_make2(TermOp op, shadow a, shadow b, const zval *result) {
  return shadow_make(op, (shadow[]){a, b}, 2, result);
}

// --- tags -------------------------------------------------------------------

static bool fits(const term *t, const zval *v) {
  switch (Z_TYPE_P(v)) {
  case IS_FALSE:
    return t->type == VALUE_FALSE;
  case IS_TRUE:
    return t->type == VALUE_TRUE;
  case IS_LONG:
    return t->type == VALUE_INT && t->check == (uint64_t)Z_LVAL_P(v);
  case IS_DOUBLE:
    return t->type == VALUE_FLOAT && !memcmp(&t->check, &Z_DVAL_P(v), 8);
  case IS_STRING:
    return t->type == VALUE_STRING && t->check == ZSTR_H(Z_STR_P(v));
  default:
    return false;
  }
}

shadow shadow_find(const zval *v) {
  ZVAL_DEREF(v);
  if (!shadow_maybe(v))
    return 0;
  shadow n;
  if (Z_TYPE_P(v) == IS_STRING) {
    n = GC_TYPE_INFO(Z_STR_P(v)) >> GC_INFO_SHIFT;
  } else {
    uint32_t tag = Z_TYPE_INFO_P(v) >> 16;
    n = tag < ntags ? tags[tag] : 0;
  }
  return n && n < nterms && fits(&terms[n], v) ? n : 0;
}

shadow shadow_term(const zval *v) {
  ZVAL_DEREF(v);
  shadow n = shadow_find(v);
  return n ? n : constant(v);
}

static void tag_string(zval *v, shadow n) {
  zend_string *s = Z_STR_P(v);
  if (ZSTR_IS_INTERNED(s) || GC_REFCOUNT(s) > 1) {
    zend_string *copy = zend_string_init(ZSTR_VAL(s), ZSTR_LEN(s), 0);
    zend_string_release(s);
    ZVAL_NEW_STR(v, s = copy);
  }
  zend_string_hash_val(s);
  GC_TYPE_INFO(s) =
      (GC_TYPE_INFO(s) & ((1u << GC_INFO_SHIFT) - 1)) | n << GC_INFO_SHIFT;
}

static void tag_number(zval *v, shadow n) {
  term *t = &terms[n];
  if (!t->tag) {
    if (ntags == 1 << 16) {
      SHADOW_LOST("(too many numbers)");
      return;
    }
    t->tag = ntags;
    tags[ntags++] = n;
  }
  Z_TYPE_INFO_P(v) = Z_TYPE_P(v) | t->tag << 16;
}

void shadow_set(zval *v, shadow n) {
  if (!n)
    return;
  if (Z_TYPE_P(v) == IS_STRING)
    tag_string(v, n);
  else if (Z_TYPE_P(v) > IS_NULL && Z_TYPE_P(v) < IS_STRING)
    tag_number(v, n);
}

// --- the record -------------------------------------------------------------

static bool has_value(const term *t) {
  return t->op == TERM_VAR || t->op == TERM_CONST || t->op == TERM_OPAQUE;
}

static bool write_term(term *t) {
  size_t size = (size_t)t->name_length + t->length;
  ItemTerm *item = culprit_item(ITEM_TERM, sizeof *item + size);
  if (!item)
    return false;
  item->op = t->op;
  item->type = t->type;
  item->nargs = t->nargs;
  for (unsigned i = 0; i < t->nargs; i++)
    item->args[i] = t->args[i] ? terms[t->args[i]].item : 0;
  item->name_length = t->name_length;
  item->value = has_value(t) && t->type == VALUE_STRING ? t->length : t->value;
  if (size)
    memcpy(item + 1, t->text, size);
  culprit_publish(item);
  t->item = ++nitems;
  return true;
}

// Arguments first; they are older than what is made of them.
static uint32_t write_terms(shadow n) {
  enum { DEEP = 4096 };
  static shadow stack[DEEP];
  uint32_t depth = 0;
  stack[depth++] = n;
  while (depth) {
    term *t = &terms[stack[depth - 1]];
    uint32_t before = depth;
    for (unsigned i = 0; i < t->nargs && !t->item; i++)
      if (t->args[i] && !terms[t->args[i]].item && depth < DEEP)
        stack[depth++] = t->args[i];
    if (depth == DEEP)
      return 0;
    if (depth > before)
      continue;
    if (!t->item && !write_term(t))
      return 0;
    depth--;
  }
  return terms[n].item;
}

void shadow_branch(shadow n, bool outcome, uint32_t counter) {
  if (!n || !terms[n].input)
    return;
  if (nbranches == SHADOW_BRANCHES) {
    SHADOW_LOST("(too many decisions)");
    return;
  }
  uint32_t number = write_terms(n), file, line;
  if (!number) {
    SHADOW_LOST("(too deep a term)");
    return;
  }
  culprit_place(&file, &line);
  ItemBranch *item = culprit_item(ITEM_BRANCH, sizeof *item);
  if (!item)
    return;
  item->term = number;
  item->outcome = outcome;
  item->counter = counter;
  item->file = file;
  item->line = line & ~FRAME_TEMPLATE;
  culprit_publish(item);
  nbranches++;
}

void culprit_shadow_decided(const zval *value, bool outcome, uint32_t counter) {
  shadow_branch(shadow_find(value), outcome, counter);
}

void shadow_keep(const char *name, size_t length, shadow n) {
  uint32_t number = n ? write_terms(n) : 0;
  if (!number)
    return;
  ItemNamed *item = culprit_item(ITEM_KEPT, sizeof *item + length);
  if (!item)
    return;
  item->number = number;
  item->length = (uint32_t)length;
  memcpy(item + 1, name, length);
  culprit_publish(item);
}

void culprit_shadow_start(void) {
  shadow_ops_start();
  shadow_input_start();
}
