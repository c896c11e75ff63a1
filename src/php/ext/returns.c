// What calls returned, in classes (model/entity.h), and database calls that
// failed.
//
// User functions: their RETURN tells (count.c), the caller's opcode is the call
// site. Internal functions: zend_execute_internal. A value is "constant" as
// long as all values of its call site had the same hash: of scalars and strings
// the value, of arrays the first elements, of objects their number.
#include "php_culprit.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

// --- values -----------------------------------------------------------------

#define ARRAY_ELEMENTS 16
#define ARRAY_DEPTH 3

static uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
}

static uint64_t hash_value(const zval *value, int depth);

static uint64_t hash_array(const HashTable *ht, int depth) {
  uint64_t h = zend_hash_num_elements(ht);
  int left = ARRAY_ELEMENTS;
  zend_ulong number;
  zend_string *key;
  zval *element;
  if (!depth)
    return h;
  ZEND_HASH_FOREACH_KEY_VAL((HashTable *)ht, number, key, element) {
    if (!left--)
      break;
    h = mix(h, key ? XXH3_64bits(ZSTR_VAL(key), ZSTR_LEN(key)) : number);
    h = mix(h, hash_value(element, depth - 1));
  }
  ZEND_HASH_FOREACH_END();
  return h;
}

static uint64_t hash_value(const zval *value, int depth) {
  ZVAL_DEREF(value);
  if (Z_TYPE_P(value) == IS_INDIRECT)
    value = Z_INDIRECT_P(value);
  uint64_t type = Z_TYPE_P(value);
  switch (type) {
  case IS_LONG:
    return mix(type, (uint64_t)Z_LVAL_P(value));
  case IS_DOUBLE: {
    uint64_t bits;
    double d = Z_DVAL_P(value);
    memcpy(&bits, &d, sizeof bits);
    return mix(type, bits);
  }
  case IS_STRING:
    return XXH3_64bits_withSeed(Z_STRVAL_P(value), Z_STRLEN_P(value), type);
  case IS_ARRAY:
    return mix(type, hash_array(Z_ARRVAL_P(value), depth));
  case IS_OBJECT:
    return mix(type, Z_OBJ_HANDLE_P(value));
  case IS_RESOURCE:
    return mix(type, (uint64_t)Z_RES_HANDLE_P(value));
  default:
    return type;
  }
}

#define BIT(class) (1u << CLASS_##class)

static uint32_t classes_of(const zval *value) {
  switch (Z_TYPE_P(value)) {
  case IS_UNDEF:
  case IS_NULL:
    return BIT(NULL);
  case IS_TRUE:
    return BIT(NON_NULL) | BIT(TRUE);
  case IS_FALSE:
    return BIT(NON_NULL) | BIT(FALSE);
  case IS_LONG:
    return BIT(NON_NULL) | (Z_LVAL_P(value) ? BIT(NON_ZERO) : BIT(ZERO)) |
           (Z_LVAL_P(value) < 0 ? BIT(NEGATIVE) : 0);
  case IS_DOUBLE:
    return BIT(NON_NULL) | (Z_DVAL_P(value) != 0 ? BIT(NON_ZERO) : BIT(ZERO)) |
           (Z_DVAL_P(value) < 0 ? BIT(NEGATIVE) : 0) |
           (zend_isnan(Z_DVAL_P(value)) ? BIT(NAN) : 0);
  case IS_STRING:
    return BIT(NON_NULL) | (Z_STRLEN_P(value) ? BIT(NON_EMPTY) : BIT(EMPTY));
  case IS_ARRAY:
    return BIT(NON_NULL) |
           (zend_hash_num_elements(Z_ARRVAL_P(value)) ? BIT(NON_EMPTY)
                                                      : BIT(EMPTY));
  case IS_RESOURCE: // closed: its type is gone
    return BIT(NON_NULL) |
           (Z_RES_TYPE_P(value) >= 0 ? BIT(NON_EMPTY) : BIT(EMPTY));
  default:
    return BIT(NON_NULL);
  }
}

static uint32_t *counter(const culprit_site *s, uint32_t class) {
  return culprit.base + s->slot + s->at[class];
}

static void add_to(uint32_t *c) { *c += *c != UINT32_MAX; }

// So long as there was one value only, CONSTANT counts; then all calls so far
// turn into NON_CONSTANT ones.
static void count_constancy(culprit_site *s, uint64_t value) {
  uint32_t *same = counter(s, CLASS_CONSTANT);
  uint32_t *other = counter(s, CLASS_NON_CONSTANT);
  if (!s->seen) {
    s->seen = true;
    s->value = value;
    *same = 1;
  } else if (*other) {
    add_to(other);
  } else if (s->value == value) {
    add_to(same);
  } else {
    *other = *same;
    add_to(other);
    *same = 0;
  }
}

void culprit_site_value(uint32_t site, zval *value) {
  if (site >= culprit_nsites || !culprit.nslots)
    return;
  culprit_site *s = &culprit_sites[site];
  if (!value) { // a new object
    if (s->classes & BIT(NON_NULL))
      add_to(counter(s, CLASS_NON_NULL));
    count_constancy(s, s->seen ? s->value + 1 : 0);
    return;
  }
  for (uint32_t rest = classes_of(value) & s->classes; rest; rest &= rest - 1)
    add_to(counter(s, (uint32_t)__builtin_ctz(rest)));
  bool settled = s->seen && !*counter(s, CLASS_CONSTANT);
  count_constancy(s, settled ? 0 : hash_value(value, ARRAY_DEPTH));
}

// --- call sites -------------------------------------------------------------

static bool is_call(const zend_op *op) {
  return op->opcode == ZEND_DO_FCALL || op->opcode == ZEND_DO_UCALL ||
         op->opcode == ZEND_DO_ICALL || op->opcode == ZEND_DO_FCALL_BY_NAME;
}

// The call site of the function that runs in `ex`; CULPRIT_NONE: called by PHP
// itself or from nowhere.
static zend_always_inline uint32_t site_of(const zend_execute_data *ex) {
  const zend_execute_data *caller = ex->prev_execute_data;
  if (ZEND_CALL_INFO(ex) & (ZEND_CALL_TOP | ZEND_CALL_CODE) || !caller ||
      !caller->func || !ZEND_USER_CODE(caller->func->type) ||
      !is_call(caller->opline))
    return CULPRIT_NONE;
  return caller->opline->op2.num;
}

void culprit_returned(zend_execute_data *ex, zval *value) {
  uint32_t site = site_of(ex);
  if (site != CULPRIT_NONE)
    culprit_site_value(site, value);
}

// --- the database -----------------------------------------------------------

typedef enum { DB_SQL, DB_PREPARE, DB_EXECUTE } db_kind;

// Functions and methods that hand SQL to a database: where it is, and how the
// reason of a failure is asked for.
typedef struct {
  const char *class, *function;
  db_kind kind;
  uint32_t argument; // of the SQL, from 1; 0: what was prepared
  const char *error; // property or method of the object (or first argument)
  bool error_is_method;
} db_call;

static const db_call db_calls[] = {
    {NULL, "mysqli_query", DB_SQL, 2, "error", false},
    {NULL, "mysqli_real_query", DB_SQL, 2, "error", false},
    {NULL, "mysqli_multi_query", DB_SQL, 2, "error", false},
    {NULL, "mysqli_execute_query", DB_SQL, 2, "error", false},
    {NULL, "mysqli_prepare", DB_PREPARE, 2, "error", false},
    {NULL, "mysqli_stmt_prepare", DB_PREPARE, 2, "error", false},
    {NULL, "mysqli_stmt_execute", DB_EXECUTE, 0, "error", false},
    {NULL, "mysqli_execute", DB_EXECUTE, 0, "error", false},
    {"mysqli", "query", DB_SQL, 1, "error", false},
    {"mysqli", "real_query", DB_SQL, 1, "error", false},
    {"mysqli", "multi_query", DB_SQL, 1, "error", false},
    {"mysqli", "execute_query", DB_SQL, 1, "error", false},
    {"mysqli", "prepare", DB_PREPARE, 1, "error", false},
    {"mysqli_stmt", "prepare", DB_PREPARE, 1, "error", false},
    {"mysqli_stmt", "execute", DB_EXECUTE, 0, "error", false},
    {"pdo", "query", DB_SQL, 1, "errorinfo", true},
    {"pdo", "exec", DB_SQL, 1, "errorinfo", true},
    {"pdo", "prepare", DB_PREPARE, 1, "errorinfo", true},
    {"pdostatement", "execute", DB_EXECUTE, 0, "errorinfo", true},
    {"sqlite3", "query", DB_SQL, 1, "lasterrormsg", true},
    {"sqlite3", "querysingle", DB_SQL, 1, "lasterrormsg", true},
    {"sqlite3", "exec", DB_SQL, 1, "lasterrormsg", true},
    {"sqlite3", "prepare", DB_PREPARE, 1, "lasterrormsg", true},
    {"sqlite3stmt", "execute", DB_EXECUTE, 0, NULL, false},
};

static zend_function *find_function(const db_call *d) {
  HashTable *table = CG(function_table);
  if (d->class) {
    zend_class_entry *ce =
        zend_hash_str_find_ptr(CG(class_table), d->class, strlen(d->class));
    if (!ce)
      return NULL;
    table = &ce->function_table;
  }
  zend_function *fn =
      zend_hash_str_find_ptr(table, d->function, strlen(d->function));
  return fn && fn->type == ZEND_INTERNAL_FUNCTION ? fn : NULL;
}

// The functions we know are marked: one look tells all others apart.
static void mark_db_calls(void) {
  for (size_t i = 0; i < sizeof db_calls / sizeof *db_calls; i++) {
    zend_function *fn = find_function(&db_calls[i]);
    if (fn)
      culprit_internal_of(fn)->database = &db_calls[i];
  }
}

// Kept as long as the process, as the functions are.
static culprit_internal *internals;

culprit_internal *culprit_internal_of(zend_function *fn) {
  void **at = &fn->internal_function.reserved[culprit.handle];
  if (!*at) {
    culprit_internal *made = pecalloc(1, sizeof *made, 1);
    made->next = internals;
    *at = internals = made;
  }
  return *at;
}

void culprit_returns_close(void) {
  while (internals) {
    culprit_internal *next = internals->next;
    pefree(internals, 1);
    internals = next;
  }
}

// The SQL of prepared statements, by number of the object.
static HashTable prepared;
static bool has_prepared;

// Enough to tell which tables a request reads and writes.
enum { QUERIES_MOST = 400, QUERY_BYTES = 1000 };
static unsigned nqueries; // of this request

void culprit_returns_reset(void) {
  nqueries = 0;
  if (has_prepared)
    zend_hash_destroy(&prepared);
  has_prepared = false;
}

static void free_sql(zval *sql) { zend_string_release_ex(Z_STR_P(sql), 1); }

static void remember_sql(const zval *statement, const zend_string *sql) {
  if (Z_TYPE_P(statement) != IS_OBJECT || !sql)
    return;
  if (!has_prepared)
    zend_hash_init(&prepared, 8, NULL, free_sql, 1);
  has_prepared = true;
  zval copy;
  ZVAL_STR(&copy, zend_string_init(ZSTR_VAL(sql), ZSTR_LEN(sql), 1));
  zend_hash_index_update(&prepared, Z_OBJ_HANDLE_P(statement), &copy);
}

// The object the call is about: the connection or the statement.
static zval *subject_of(zend_execute_data *ex, const db_call *d) {
  if (d->class)
    return Z_TYPE(ex->This) == IS_OBJECT ? &ex->This : NULL;
  zval *first = ZEND_CALL_NUM_ARGS(ex) ? ZEND_CALL_ARG(ex, 1) : NULL;
  return first && Z_TYPE_P(first) == IS_OBJECT ? first : NULL;
}

static zend_string *sql_of(zend_execute_data *ex, const db_call *d) {
  if (d->argument && d->argument <= ZEND_CALL_NUM_ARGS(ex)) {
    zval *sql = ZEND_CALL_ARG(ex, d->argument);
    ZVAL_DEREF(sql);
    return Z_TYPE_P(sql) == IS_STRING ? Z_STR_P(sql) : NULL;
  }
  zval *subject = subject_of(ex, d), *sql = NULL;
  if (!d->argument && subject && has_prepared)
    sql = zend_hash_index_find(&prepared, Z_OBJ_HANDLE_P(subject));
  return sql ? Z_STR_P(sql) : NULL;
}

static zend_string *text_of(const zval *value) {
  if (Z_TYPE_P(value) == IS_ARRAY) // errorInfo: SQLSTATE, code, message
    value = zend_hash_index_find(Z_ARRVAL_P(value), 2);
  if (!value || Z_TYPE_P(value) != IS_STRING)
    return NULL;
  return zend_string_copy(Z_STR_P(value));
}

// What the driver says; NULL: nothing. Asking changes nothing.
static zend_string *ask_error(zval *subject, const db_call *d) {
  zval answer, *got = &answer;
  zend_string *text = NULL;
  ZVAL_UNDEF(&answer);
  if (!subject || !d->error)
    return NULL;
  if (d->error_is_method)
    zend_call_method(Z_OBJ_P(subject), Z_OBJCE_P(subject), NULL, d->error,
                     strlen(d->error), &answer, 0, NULL, NULL);
  else
    got = zend_read_property(Z_OBJCE_P(subject), Z_OBJ_P(subject), d->error,
                             strlen(d->error), 1, &answer);
  if (got && !EG(exception))
    text = text_of(got);
  zval_ptr_dtor(&answer);
  return text;
}

static bool is_db_exception(const zend_object *e) {
  const char *name = ZSTR_VAL(e->ce->name);
  return !strcasecmp(name, "mysqli_sql_exception") ||
         !strcasecmp(name, "PDOException") ||
         (e->ce->parent &&
          (!strcasecmp(ZSTR_VAL(e->ce->parent->name), "mysqli_sql_exception") ||
           !strcasecmp(ZSTR_VAL(e->ce->parent->name), "PDOException")));
}

static zend_string *exception_text(zend_object *e) {
  zval answer, *got = zend_read_property(zend_get_exception_base(e), e,
                                         ZEND_STRL("message"), 1, &answer);
  return got ? text_of(got) : NULL;
}

static void tell_query(const zend_string *sql) {
  if (!sql || !(culprit.collect & COLLECT_SHADOWS) || nqueries >= QUERIES_MOST)
    return;
  size_t length = ZSTR_LEN(sql) < QUERY_BYTES ? ZSTR_LEN(sql) : QUERY_BYTES;
  ItemText *item = culprit_item(ITEM_QUERY, sizeof *item + length);
  if (!item)
    return;
  nqueries++;
  item->length = (uint32_t)length;
  memcpy(item + 1, ZSTR_VAL(sql), length);
  culprit_publish(item);
}

static void after_db_call(zend_execute_data *ex, const db_call *d,
                          zval *value) {
  bool thrown = EG(exception) != NULL;
  if (thrown && !is_db_exception(EG(exception)))
    return;
  zend_string *sql = sql_of(ex, d);
  if (!thrown && Z_TYPE_P(value) != IS_FALSE) {
    if (d->kind == DB_PREPARE)
      remember_sql(Z_TYPE_P(value) == IS_OBJECT ? value : subject_of(ex, d),
                   sql);
    else
      tell_query(sql);
    return;
  }
  zend_string *text =
      thrown ? exception_text(EG(exception)) : ask_error(subject_of(ex, d), d);
  uint32_t file, line;
  culprit_place(&file, &line);
  if (culprit_fault(SEVERITY_QUERY, 0, file, line,
                    text ? text : ZSTR_EMPTY_ALLOC(),
                    sql ? sql : ZSTR_EMPTY_ALLOC()))
    culprit_callers();
  if (text)
    zend_string_release(text);
}

// --- internal functions -----------------------------------------------------

static void (*next_internal)(zend_execute_data *ex, zval *value);

static void run_internal(zend_execute_data *ex, zval *value) {
  const culprit_internal *known =
      ex->func->internal_function.reserved[culprit.handle];
  const db_call *d = known ? known->database : NULL;
  const void *sent = known ? known->sent : NULL;
  unsigned collect = culprit.recording ? culprit.collect : 0;
  culprit_shadow_args args;
  if (UNEXPECTED(collect & COLLECT_SHADOWS))
    culprit_shadow_before(ex, &args);
  if (collect & COLLECT_OUTPUT)
    culprit_output_before(ex);
  int status = UNEXPECTED(sent != NULL) ? culprit_sent_before(sent) : -1;
  if (next_internal)
    next_internal(ex, value);
  else
    ex->func->internal_function.handler(ex, value);
  if (collect & COLLECT_OUTPUT)
    culprit_output_after(ex, value);
  if (UNEXPECTED(collect & COLLECT_COMPARES))
    culprit_compare_call(ex);
  if (UNEXPECTED(collect & COLLECT_SHADOWS) && culprit.recording)
    culprit_shadow_after(ex, value, &args, known ? known->model : NULL);
  if (UNEXPECTED(collect & COLLECT_CLOSE))
    culprit_close_called(ex);
  if (UNEXPECTED(d != NULL) && collect)
    after_db_call(ex, d, value);
  if (UNEXPECTED(sent != NULL) && collect)
    culprit_sent_after(ex, sent, status);
  if (collect & COLLECT_RETURNS && EXPECTED(!EG(exception))) {
    uint32_t site = site_of(ex);
    if (site != CULPRIT_NONE) {
      zval *v = value;
      ZVAL_DEREF(v);
      culprit_site_value(site, v);
    }
  }
}

void culprit_returns_start(void) {
  next_internal = zend_execute_internal;
  zend_execute_internal = run_internal;
}

// Not earlier: other extensions may be loaded after us.
void culprit_returns_begin(void) {
  static bool marked;
  if (!marked) {
    mark_db_calls();
    culprit_sent_start();
    if (culprit.collect & COLLECT_SHADOWS)
      culprit_shadow_models();
  }
  marked = true;
}
