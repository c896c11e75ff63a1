// Internal functions: what their result is made of, if an argument has a term.
// A function that term_ops.def names becomes a term of its own; some need more
// (lists, groups of a pattern); of all others the result is opaque: a term that
// says which function it was, with which arguments, and what came out. These
// are counted by name.
#include "shadow.h"

#include "ext/standard/html.h"

typedef void model_function(zend_execute_data *ex, zval *value,
                            const culprit_shadow_args *args);

struct shadow_model {
  const char *class, *function; // lower case
  TermOp op;                    // NONE: call `make`
  unsigned char least, most;
  model_function *make;
};

static zval *argument(zend_execute_data *ex, unsigned i) {
  zval *v = ZEND_CALL_ARG(ex, i + 1);
  ZVAL_DEREF(v);
  return v;
}

// --- what comes from outside ------------------------------------------------

static void from_database(zend_execute_data *ex, zval *value,
                          const culprit_shadow_args *args) {
  shadow_database(value);
}

static void open_session(zend_execute_data *ex, zval *value,
                         const culprit_shadow_args *args) {
  if (Z_TYPE_P(value) == IS_TRUE)
    shadow_session_opened();
}

// Reads the input past its arrays.
static void hide_input(zend_execute_data *ex, zval *value,
                       const culprit_shadow_args *args) {
  SHADOW_LOST("filter_input");
}

// --- patterns ---------------------------------------------------------------

static void tag_groups(zval *groups, const shadow *args) {
  zend_ulong number;
  zend_string *key;
  zval *element;
  if (Z_TYPE_P(groups) != IS_ARRAY || GC_FLAGS(Z_ARR_P(groups)) & GC_IMMUTABLE)
    return;
  SEPARATE_ARRAY(groups);
  ZEND_HASH_FOREACH_KEY_VAL(Z_ARRVAL_P(groups), number, key, element) {
    if (key || Z_TYPE_P(element) != IS_STRING)
      continue;
    shadow all[3] = {args[0], args[1], shadow_int((zend_long)number)};
    shadow_set(element, shadow_make(TERM_PREG_GROUP, all, 3, element));
  }
  ZEND_HASH_FOREACH_END();
}

// Flags and offsets are not understood.
static void match(zend_execute_data *ex, zval *value,
                  const culprit_shadow_args *args) {
  uint32_t n = ZEND_CALL_NUM_ARGS(ex);
  if (!args->any || Z_TYPE_P(value) != IS_LONG)
    return;
  if (n > 3) {
    SHADOW_LOST("preg_match with flags");
    return;
  }
  shadow_set(value, shadow_make(TERM_PREG, args->terms, 2, value));
  if (n == 3)
    tag_groups(argument(ex, 2), args->terms);
}

// --- lists ------------------------------------------------------------------

static void split(zend_execute_data *ex, zval *value,
                  const culprit_shadow_args *args) {
  zend_ulong number;
  zval *element;
  if (!args->any || Z_TYPE_P(value) != IS_ARRAY)
    return;
  if (ZEND_CALL_NUM_ARGS(ex) > 2) {
    SHADOW_LOST("explode with a limit");
    return;
  }
  shadow_exploded(Z_ARRVAL_P(value), args->terms[0], args->terms[1]);
  ZEND_HASH_FOREACH_NUM_KEY_VAL(Z_ARRVAL_P(value), number, element) {
    if (number >= SHADOW_LIST)
      break;
    shadow all[3] = {args->terms[0], args->terms[1],
                     shadow_int((zend_long)number)};
    shadow_set(element, shadow_make(TERM_EXPLODE_AT, all, 3, element));
  }
  ZEND_HASH_FOREACH_END();
}

// array_map('trim', explode(...)): the callback sees to the elements.
static void map(zend_execute_data *ex, zval *value,
                const culprit_shadow_args *args) {
  zval *list = argument(ex, 1);
  if (Z_TYPE_P(value) == IS_ARRAY && Z_TYPE_P(list) == IS_ARRAY)
    shadow_mapped(Z_ARRVAL_P(list), Z_ARRVAL_P(value));
}

static bool any_tagged(const HashTable *ht) {
  zval *element;
  ZEND_HASH_FOREACH_VAL((HashTable *)ht, element) {
    ZVAL_DEREF(element);
    if (shadow_maybe(element))
      return true;
  }
  ZEND_HASH_FOREACH_END();
  return false;
}

// The pieces joined so far, without the bytes: only its term is wanted.
static shadow join_terms(const HashTable *ht, shadow glue, zval *value) {
  shadow all = 0;
  int left = SHADOW_LIST;
  zval *element, none;
  ZVAL_NULL(&none);
  ZEND_HASH_FOREACH_VAL((HashTable *)ht, element) {
    shadow x = shadow_term(element);
    if (!x || !left--)
      return 0;
    if (all)
      all = shadow_make2(TERM_CONCAT, all, glue, &none);
    all = all ? shadow_make2(TERM_CONCAT, all, x, &none) : x;
    if (!all)
      return 0;
  }
  ZEND_HASH_FOREACH_END();
  return shadow_make(TERM_STRING, &all, 1, value);
}

static void join(zend_execute_data *ex, zval *value,
                 const culprit_shadow_args *args) {
  if (ZEND_CALL_NUM_ARGS(ex) != 2 || Z_TYPE_P(value) != IS_STRING)
    return;
  zval *list = argument(ex, 1);
  if (Z_TYPE_P(list) != IS_ARRAY ||
      (!any_tagged(Z_ARRVAL_P(list)) && !args->any))
    return;
  shadow t = join_terms(Z_ARRVAL_P(list), shadow_term(argument(ex, 0)), value);
  if (t)
    shadow_set(value, t);
  else
    SHADOW_LOST("implode");
}

static void search(zend_execute_data *ex, zval *value,
                   const culprit_shadow_args *args) {
  zval *list = argument(ex, 1), strict;
  if (Z_TYPE_P(list) != IS_ARRAY || Z_TYPE_P(value) > IS_TRUE ||
      (!args->any && !any_tagged(Z_ARRVAL_P(list))))
    return;
  ZVAL_BOOL(&strict,
            ZEND_CALL_NUM_ARGS(ex) > 2 && zend_is_true(argument(ex, 2)));
  shadow all[3] = {shadow_term(argument(ex, 0)),
                   shadow_list(Z_ARRVAL_P(list), false), shadow_term(&strict)};
  shadow t = shadow_make(TERM_IN, all, 3, value);
  if (t)
    shadow_set(value, t);
  else
    SHADOW_LOST("in_array");
}

static void key_exists(zend_execute_data *ex, zval *value,
                       const culprit_shadow_args *args) {
  zval *key = argument(ex, 0), *list = argument(ex, 1);
  if (Z_TYPE_P(list) != IS_ARRAY ||
      (Z_TYPE_P(key) != IS_STRING && Z_TYPE_P(key) != IS_LONG))
    return;
  const HashTable *ht = Z_ARRVAL_P(list);
  zval *there = Z_TYPE_P(key) == IS_STRING
                    ? zend_symtable_find((HashTable *)ht, Z_STR_P(key))
                    : zend_hash_index_find(ht, (zend_ulong)Z_LVAL_P(key));
  shadow var = shadow_key(ht, key, there);
  if (var)
    shadow_set(value, shadow_make(TERM_ISSET, &var, 1, value));
  else if (args->any)
    shadow_set(value, shadow_make2(TERM_KEY_IN, args->terms[0],
                                   shadow_list(ht, true), value));
}

// str_replace() of texts, not of lists.
static void replace(zend_execute_data *ex, zval *value,
                    const culprit_shadow_args *args) {
  if (!args->any || ZEND_CALL_NUM_ARGS(ex) != 3)
    return;
  shadow t = shadow_make(TERM_REPLACE, args->terms, 3, value);
  if (t)
    shadow_set(value, t);
  else
    SHADOW_LOST("str_replace");
}

static bool is_utf8(const zend_string *s) {
  size_t at = 0;
  int status = SUCCESS;
  while (at < ZSTR_LEN(s) && status == SUCCESS)
    php_next_utf8_char((const unsigned char *)ZSTR_VAL(s), ZSTR_LEN(s), &at,
                       &status);
  return status == SUCCESS;
}

static bool is_ascii(const zend_string *s) {
  for (size_t i = 0; i < ZSTR_LEN(s); i++)
    if ((unsigned char)ZSTR_VAL(s)[i] >= 128)
      return false;
  return true;
}

// htmlspecialchars() of good UTF-8; htmlentities() is the same for ASCII.
static void escape(zend_execute_data *ex, zval *value,
                   const culprit_shadow_args *args) {
  uint32_t n = ZEND_CALL_NUM_ARGS(ex);
  const zval *text = argument(ex, 0);
  const zend_string *name = ex->func->common.function_name;
  if (!args->any)
    return;
  if (n <= 3 && Z_TYPE_P(text) == IS_STRING &&
      (is_ascii(Z_STR_P(text)) ||
       (ZSTR_LEN(name) > 12 && is_utf8(Z_STR_P(text)))))
    shadow_set(value, shadow_make(TERM_ESCAPE_HTML, args->terms, n, value));
  else
    shadow_lost(ZSTR_VAL(name), ZSTR_LEN(name));
}

// --- models -----------------------------------------------------------------

static const shadow_model models[] = {
#define TERM(name, function, least, most)                                      \
  {NULL, function, TERM_##name, least, most, NULL},
#include "../record/term_ops.def"
#undef TERM
    {NULL, "chop", TERM_RTRIM, 1, 2, NULL},
    {NULL, "doubleval", TERM_FLOAT, 1, 1, NULL},
    {NULL, "htmlentities", TERM_NONE, 1, 4, escape},
    {NULL, "htmlspecialchars", TERM_NONE, 1, 4, escape},
    {NULL, "preg_match", TERM_NONE, 2, 9, match},
    {NULL, "explode", TERM_NONE, 2, 3, split},
    {NULL, "array_map", TERM_NONE, 2, 2, map},
    {NULL, "implode", TERM_NONE, 1, 2, join},
    {NULL, "join", TERM_NONE, 1, 2, join},
    {NULL, "in_array", TERM_NONE, 2, 3, search},
    {NULL, "array_key_exists", TERM_NONE, 2, 2, key_exists},
    {NULL, "key_exists", TERM_NONE, 2, 2, key_exists},
    {NULL, "str_replace", TERM_NONE, 3, 4, replace},
    {NULL, "session_start", TERM_NONE, 0, 1, open_session},
    {NULL, "filter_input", TERM_NONE, 2, 4, hide_input},
    {NULL, "mysqli_fetch_assoc", TERM_NONE, 1, 1, from_database},
    {NULL, "mysqli_fetch_array", TERM_NONE, 1, 2, from_database},
    {NULL, "mysqli_fetch_row", TERM_NONE, 1, 1, from_database},
    {NULL, "mysqli_fetch_all", TERM_NONE, 1, 2, from_database},
    {NULL, "mysqli_fetch_object", TERM_NONE, 1, 3, from_database},
    {"mysqli_result", "fetch_assoc", TERM_NONE, 0, 0, from_database},
    {"mysqli_result", "fetch_array", TERM_NONE, 0, 1, from_database},
    {"mysqli_result", "fetch_row", TERM_NONE, 0, 0, from_database},
    {"mysqli_result", "fetch_all", TERM_NONE, 0, 1, from_database},
    {"mysqli_result", "fetch_object", TERM_NONE, 0, 2, from_database},
    {"mysqli_result", "fetch_column", TERM_NONE, 0, 1, from_database},
    {"pdostatement", "fetch", TERM_NONE, 0, 3, from_database},
    {"pdostatement", "fetchall", TERM_NONE, 0, 9, from_database},
    {"pdostatement", "fetchcolumn", TERM_NONE, 0, 1, from_database},
    {"pdostatement", "fetchobject", TERM_NONE, 0, 2, from_database},
    {"sqlite3result", "fetcharray", TERM_NONE, 0, 1, from_database},
    {"sqlite3", "querysingle", TERM_NONE, 1, 2, from_database},
};

static zend_function *find_function(const shadow_model *m) {
  HashTable *functions = CG(function_table);
  if (m->class) {
    zend_class_entry *ce =
        zend_hash_str_find_ptr(CG(class_table), m->class, strlen(m->class));
    if (!ce)
      return NULL;
    functions = &ce->function_table;
  }
  zend_function *fn =
      zend_hash_str_find_ptr(functions, m->function, strlen(m->function));
  return fn && fn->type == ZEND_INTERNAL_FUNCTION ? fn : NULL;
}

// The later ones replace the earlier: str_replace is a term and more.
void culprit_shadow_models(void) {
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    zend_function *fn = *models[i].function ? find_function(&models[i]) : NULL;
    if (fn)
      culprit_internal_of(fn)->model = &models[i];
  }
}

// --- calls ------------------------------------------------------------------

// PHP may convert arguments in place: their terms are looked up before.
void culprit_shadow_before(zend_execute_data *ex, culprit_shadow_args *args) {
  uint32_t n = ZEND_CALL_NUM_ARGS(ex);
  args->any = false;
  args->n = n < SHADOW_CALL_ARGS ? n : SHADOW_CALL_ARGS;
  for (unsigned i = 0; i < args->n; i++) {
    zval *v = ZEND_CALL_ARG(ex, i + 1);
    ZVAL_DEREF(v);
    args->any |= shadow_maybe(v) && shadow_find(v);
  }
  for (unsigned i = 0; args->any && i < args->n; i++)
    args->terms[i] = shadow_term(ZEND_CALL_ARG(ex, i + 1));
}

// Functions that only look, or hand on what they are given.
static bool is_harmless(const zend_function *fn) {
  static const char *const names[] = {
      "header",     "error_log",      "trigger_error",
      "is_string",  "is_array",       "is_bool",
      "is_int",     "is_null",        "is_scalar",
      "print_r",    "var_dump",       "printf",
      "array_push", "call_user_func", "call_user_func_array",
      "setcookie"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (zend_string_equals_cstr(fn->common.function_name, names[i],
                                strlen(names[i])))
      return true;
  return false;
}

static void call_opaque(zend_execute_data *ex, zval *value,
                        const culprit_shadow_args *args) {
  const zend_string *name = ex->func->common.function_name;
  if (!name || is_harmless(ex->func))
    return;
  shadow_lost(ZSTR_VAL(name), ZSTR_LEN(name));
  shadow known[SHADOW_CALL_ARGS];
  unsigned n = 0;
  while (n < args->n && args->terms[n]) {
    known[n] = args->terms[n];
    n++;
  }
  if (Z_TYPE_P(value) > IS_NULL && Z_TYPE_P(value) <= IS_STRING)
    shadow_set(value,
               shadow_opaque(ZSTR_VAL(name), ZSTR_LEN(name), known, n, value));
}

void culprit_shadow_after(zend_execute_data *ex, zval *value,
                          const culprit_shadow_args *args, const void *model) {
  const shadow_model *m = model;
  uint32_t n = ZEND_CALL_NUM_ARGS(ex);
  if (EG(exception) || Z_ISREF_P(value))
    return;
  bool fits = m && n >= m->least && n <= m->most;
  if (fits && m->make) {
    m->make(ex, value, args);
  } else if (args->any) {
    shadow t = fits ? shadow_make(m->op, args->terms, n, value) : 0;
    if (t)
      shadow_set(value, t);
    else
      call_opaque(ex, value, args);
  }
}
