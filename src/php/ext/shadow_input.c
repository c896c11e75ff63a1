// Where terms begin: the arrays of input, the session, what a database says.
//
//   $_GET['a']      VAR "GET.a"; present or not
//   $_POST['f'][0]  VAR "POST.f[0]"
//   $_REQUEST['a']  what it was merged from; VAR "REQUEST.a" if it is absent
//   $_FILES['u']['name']              VAR "FILES.u[name]"
//   $_SERVER['REQUEST_METHOD']        VAR "SERVER.REQUEST_METHOD"
//   $_SESSION['k']  VAR "SESSION.k", unless this request itself put it there
//   $row['pw']      VAR "DB.3.pw": the third answer of a database
//
// At the end of a request, what the session keeps is told with its terms, so
// that a later request's SESSION.k can be followed to the request that set it.
#include "shadow.h"

enum { DEPTH_MOST = 3, KNOWN_MOST = 64, NAME_MOST = 256, ANSWERS_MOST = 512 };

// An array whose absent keys are absent inputs, or pieces of a text.
typedef struct {
  const HashTable *ht;
  char name[NAME_MOST]; // "GET", "POST.f"; "" of pieces
  shadow glue, text;    // of pieces
  bool held;            // counted, so that it is not freed
} known_array;

// The last absent element that was read, and where.
static struct {
  const zend_op *op;
  char name[NAME_MOST];
} absent;

enum { GET, POST, COOKIE, REQUEST, FILES, SERVER, SESSION, SOURCES };
static const struct {
  const char *global, *name;
} sources[SOURCES] = {
    {"_GET", "GET"},         {"_POST", "POST"},   {"_COOKIE", "COOKIE"},
    {"_REQUEST", "REQUEST"}, {"_FILES", "FILES"}, {"_SERVER", "SERVER"},
    {"_SESSION", "SESSION"},
};

static known_array known[KNOWN_MOST]; // the sources first
static unsigned nknown;
static unsigned nanswers;
uint64_t shadow_arrays;
static bool server_seen;

// --- names ------------------------------------------------------------------

// "GET" and "a": "GET.a"; "GET.a" and "b": "GET.a[b]". False: too long.
static bool join(char *out, const char *name, const char *key, size_t length) {
  bool top = !strchr(name, '.');
  int n = snprintf(out, NAME_MOST, top ? "%s.%.*s" : "%s[%.*s]", name,
                   (int)(length < NAME_MOST ? length : NAME_MOST), key);
  return n < NAME_MOST && !memchr(key, '\0', length);
}

static bool join_key(char *out, const char *name, const zend_string *key,
                     zend_ulong number) {
  char digits[24];
  if (key)
    return join(out, name, ZSTR_VAL(key), ZSTR_LEN(key));
  snprintf(digits, sizeof digits, ZEND_LONG_FMT, (zend_long)number);
  return join(out, name, digits, strlen(digits));
}

// --- marking ----------------------------------------------------------------

static void mark_array(HashTable *ht, const char *name, int depth);

static void mark_value(zval *value, const char *name, int depth) {
  ZVAL_DEINDIRECT(value);
  ZVAL_DEREF(value);
  switch (Z_TYPE_P(value)) {
  case IS_FALSE:
  case IS_TRUE:
  case IS_LONG:
  case IS_DOUBLE:
  case IS_STRING:
    shadow_set(value, shadow_var(name, strlen(name), value));
    break;
  case IS_ARRAY:
    if (depth && !(GC_FLAGS(Z_ARR_P(value)) & GC_IMMUTABLE)) {
      SEPARATE_ARRAY(value);
      mark_array(Z_ARR_P(value), name, depth - 1);
    }
    break;
  default:
    break;
  }
}

static void know(HashTable *ht, const char *name) {
  if (nknown == KNOWN_MOST)
    return;
  known[nknown].ht = ht;
  known[nknown].held = true;
  snprintf(known[nknown].name, NAME_MOST, "%s", name);
  nknown++;
  shadow_arrays |= shadow_bit(ht);
  GC_ADDREF(ht);
}

void shadow_exploded(HashTable *ht, shadow glue, shadow text) {
  if (nknown == KNOWN_MOST || !glue || !text)
    return;
  know(ht, "");
  known[nknown - 1].glue = glue;
  known[nknown - 1].text = text;
}

static const known_array *find_known(const HashTable *ht) {
  for (unsigned i = 0; shadow_arrays & shadow_bit(ht) && i < nknown; i++)
    if (known[i].ht == ht)
      return &known[i];
  return NULL;
}

void shadow_mapped(const HashTable *from, HashTable *to) {
  const known_array *k = find_known(from);
  if (k && k->text)
    shadow_exploded(to, k->glue, k->text);
}

shadow shadow_count(const HashTable *ht, const zval *count) {
  const known_array *k = find_known(ht);
  return k && k->text
             ? shadow_make2(TERM_EXPLODE_COUNT, k->glue, k->text, count)
             : 0;
}

static void know_source(int source, const HashTable *ht) {
  known[source].ht = ht;
  if (ht)
    shadow_arrays |= shadow_bit(ht);
}

static void mark_array(HashTable *ht, const char *name, int depth) {
  zend_ulong number;
  zend_string *key;
  zval *value;
  char room[NAME_MOST];
  ZEND_HASH_FOREACH_KEY_VAL(ht, number, key, value) {
    if (join_key(room, name, key, number))
      mark_value(value, room, depth);
  }
  ZEND_HASH_FOREACH_END();
  if (strchr(name, '.'))
    know(ht, name);
}

// --- requests ---------------------------------------------------------------

void shadow_input_begin(void) {
  static const struct {
    int track, source;
  } tracks[] = {{TRACK_VARS_GET, GET},
                {TRACK_VARS_POST, POST},
                {TRACK_VARS_COOKIE, COOKIE},
                {TRACK_VARS_FILES, FILES}};
  memset(known, 0, sizeof known);
  nknown = SOURCES;
  nanswers = 0;
  server_seen = false;
  shadow_arrays = 0;
  absent.op = NULL;
  for (int i = 0; i < SOURCES; i++)
    strcpy(known[i].name, sources[i].name);
  for (size_t i = 0; i < sizeof tracks / sizeof *tracks; i++) {
    zval *array = &PG(http_globals)[tracks[i].track];
    if (Z_TYPE_P(array) != IS_ARRAY)
      continue;
    know_source(tracks[i].source, Z_ARRVAL_P(array));
    if (!(GC_FLAGS(Z_ARR_P(array)) & GC_IMMUTABLE))
      mark_array(Z_ARR_P(array), known[tracks[i].source].name, DEPTH_MOST);
  }
}

static zval *find_global(const char *name) {
  zval *value = zend_hash_str_find(&EG(symbol_table), name, strlen(name));
  if (value) {
    ZVAL_DEINDIRECT(value);
    ZVAL_DEREF(value);
  }
  return value && Z_TYPE_P(value) == IS_ARRAY ? value : NULL;
}

void shadow_session_opened(void) {
  zval *session = find_global("_SESSION");
  if (!session || GC_FLAGS(Z_ARR_P(session)) & GC_IMMUTABLE)
    return;
  SEPARATE_ARRAY(session);
  mark_array(Z_ARR_P(session), "SESSION", DEPTH_MOST);
  know_source(SESSION, Z_ARRVAL_P(session));
}

static void keep_array(const HashTable *ht, const char *name, int depth) {
  zend_ulong number;
  zend_string *key;
  zval *value;
  char room[NAME_MOST];
  ZEND_HASH_FOREACH_KEY_VAL((HashTable *)ht, number, key, value) {
    ZVAL_DEINDIRECT(value);
    ZVAL_DEREF(value);
    if (!join_key(room, name, key, number))
      continue;
    if (Z_TYPE_P(value) == IS_ARRAY && depth)
      keep_array(Z_ARRVAL_P(value), room, depth - 1);
    else
      shadow_keep(room, strlen(room), shadow_find(value));
  }
  ZEND_HASH_FOREACH_END();
}

void shadow_input_end(void) {
  zval *session = find_global("_SESSION");
  if (session)
    keep_array(Z_ARRVAL_P(session), "SESSION", DEPTH_MOST);
  for (unsigned i = SOURCES; i < nknown; i++)
    if (known[i].held)
      zend_array_release((zend_array *)known[i].ht);
  nknown = 0;
}

// --- the database -----------------------------------------------------------

static void mark_fields(HashTable *ht, char *name, int depth) {
  zend_ulong number;
  zend_string *key;
  zval *value;
  char room[NAME_MOST];
  ZEND_HASH_FOREACH_KEY_VAL(ht, number, key, value) {
    if (nanswers >= ANSWERS_MOST)
      return;
    if (depth && Z_TYPE_P(value) == IS_ARRAY) {
      snprintf(room, sizeof room, "DB.%u", ++nanswers);
      SEPARATE_ARRAY(value);
      mark_fields(Z_ARR_P(value), room, depth - 1);
    } else if (join_key(room, name, key, number)) {
      mark_value(value, room, 0);
      nanswers++;
    }
  }
  ZEND_HASH_FOREACH_END();
}

void shadow_database(zval *answer) {
  char name[32];
  if (nanswers >= ANSWERS_MOST) {
    SHADOW_LOST("(many database values)");
    return;
  }
  snprintf(name, sizeof name, "DB.%u", ++nanswers);
  if (Z_TYPE_P(answer) == IS_ARRAY &&
      !(GC_FLAGS(Z_ARR_P(answer)) & GC_IMMUTABLE)) {
    SEPARATE_ARRAY(answer);
    mark_fields(Z_ARR_P(answer), name, 1);
  } else if (Z_TYPE_P(answer) == IS_OBJECT &&
             Z_OBJCE_P(answer) == zend_standard_class_def) {
    mark_fields(Z_OBJPROP_P(answer), name, 0);
  } else {
    mark_value(answer, name, 0);
  }
}

// --- keys -------------------------------------------------------------------

static bool join_zval(char *out, const char *name, const zval *key) {
  if (Z_TYPE_P(key) == IS_STRING)
    return join_key(out, name, Z_STR_P(key), 0);
  return Z_TYPE_P(key) == IS_LONG &&
         join_key(out, name, NULL, (zend_ulong)Z_LVAL_P(key));
}

static shadow absent_piece(const known_array *k, const zval *key) {
  zval none;
  ZVAL_NULL(&none);
  if (Z_TYPE_P(key) != IS_LONG)
    return 0;
  shadow args[3] = {k->glue, k->text, shadow_int(Z_LVAL_P(key))};
  return shadow_make(TERM_EXPLODE_AT, args, 3, &none);
}

shadow shadow_key(const HashTable *ht, const zval *key, const zval *value) {
  const known_array *k = find_known(ht);
  if (!k)
    return 0;
  if (value)
    return shadow_find(value);
  if (k->text)
    return absent_piece(k, key);
  if (k == &known[SERVER] || !join_zval(absent.name, k->name, key))
    return 0;
  absent.op = EG(current_execute_data)->opline;
  return shadow_var(absent.name, strlen(absent.name), NULL);
}

shadow shadow_key_of_absent(const zend_execute_data *ex, const zval *key) {
  char room[NAME_MOST];
  const zend_op *op = ex->opline;
  if (!absent.op || absent.op + 1 != op ||
      absent.op->result.var != op->op1.var ||
      !join_zval(room, absent.name, key))
    return 0;
  memcpy(absent.name, room, sizeof room);
  absent.op = op;
  return shadow_var(room, strlen(room), NULL);
}

// --- globals ----------------------------------------------------------------

static void mark_server(zval *server) {
  server_seen = true;
  if (GC_FLAGS(Z_ARR_P(server)) & GC_IMMUTABLE)
    return;
  zval *method =
      zend_hash_str_find(Z_ARRVAL_P(server), ZEND_STRL("REQUEST_METHOD"));
  if (method)
    mark_value(method, "SERVER.REQUEST_METHOD", 0);
}

// A global is fetched by name: where is its array now?
static int on_fetch_global(zend_execute_data *ex) {
  const zend_op *op = ex->opline;
  const zval *name = op->op1_type == IS_CONST ? RT_CONSTANT(op, op->op1) : NULL;
  if (culprit.collect & COLLECT_COMPARES)
    culprit_compare_op(ex);
  if (!culprit.recording || !name || Z_TYPE_P(name) != IS_STRING ||
      *Z_STRVAL_P(name) != '_')
    return ZEND_USER_OPCODE_DISPATCH;
  for (int i = 0; i < SOURCES; i++) {
    if (strcmp(Z_STRVAL_P(name), sources[i].global) != 0)
      continue;
    zval *value = find_global(sources[i].global);
    know_source(i, value ? Z_ARRVAL_P(value) : NULL);
    if (i == SERVER && value && !server_seen)
      mark_server(value);
  }
  return ZEND_USER_OPCODE_DISPATCH;
}

void shadow_input_start(void) {
  static const zend_uchar opcodes[] = {ZEND_FETCH_R, ZEND_FETCH_IS,
                                       ZEND_FETCH_W, ZEND_FETCH_RW,
                                       ZEND_FETCH_FUNC_ARG};
  for (size_t i = 0; i < sizeof opcodes; i++)
    zend_set_user_opcode_handler(opcodes[i], on_fetch_global);
}
