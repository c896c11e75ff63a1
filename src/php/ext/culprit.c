// The module "culprit": settings, the start and end of a request, and the
// compilation of scripts. See php_culprit.h.
#include "php_culprit.h"

#include "SAPI.h"
#include "ext/standard/info.h"
#include "php_ini.h"
#include "zend_extensions.h"
#include "zend_language_parser.h"

PHP_INI_BEGIN()
PHP_INI_ENTRY("culprit.dir", "", PHP_INI_SYSTEM, NULL)
PHP_INI_ENTRY("culprit.collect", "", PHP_INI_SYSTEM, NULL)
PHP_INI_ENTRY("culprit.inside", "", PHP_INI_SYSTEM, NULL)
PHP_INI_ENTRY("culprit.outside", "", PHP_INI_SYSTEM, NULL)
PHP_INI_END()

// --- what is collected ------------------------------------------------------

static const struct {
  const char *name;
  unsigned bit;
} kinds[] = {{"statements", COLLECT_STATEMENTS},
             {"conditions", COLLECT_CONDITIONS},
             {"returns", COLLECT_RETURNS},
             {"edges", COLLECT_EDGES},
             {"output", COLLECT_OUTPUT},
             {"compares", COLLECT_COMPARES},
             {"shadows", COLLECT_SHADOWS},
             {"close", COLLECT_CLOSE},
             {"try", COLLECT_TRY}};

static unsigned kind_of(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, name, length))
      return kinds[i].bit;
  zend_error(E_CORE_WARNING,
             "culprit.collect: no such kind \"%.*s\" (statements, conditions, "
             "returns, edges, output, compares, shadows, close, try)",
             (int)length, name);
  return 0;
}

static unsigned parse_collect(const char *list) {
  unsigned bits = 0;
  while (*list) {
    list += strspn(list, ", ");
    size_t n = strcspn(list, ", ");
    if (n)
      bits |= kind_of(list, n);
    list += n;
  }
  if (bits & COLLECT_SHADOWS)
    bits |= COLLECT_CONDITIONS;
  if (bits & (COLLECT_CLOSE | COLLECT_TRY))
    bits |= COLLECT_STATEMENTS;
  return bits ? bits : COLLECT_ALL;
}

// --- compiling --------------------------------------------------------------

static zend_op_array *(*next_compile_file)(zend_file_handle *, int);
static zend_op_array *(*next_compile_string)(zend_string *, const char *,
                                             zend_compile_position);

// What the scanner told of a script. The texts are copies.
typedef struct {
  culprit_inline *pieces;
  size_t npieces, pieces_room;
  uint32_t *switches;
  size_t nswitches, switches_room;
  culprit_tokens all;
} token_list;

// Room for one more; false: no memory, the list stays as it is.
static bool reserve(void **items, size_t n, size_t *room, size_t size) {
  if (n < *room)
    return true;
  size_t want = *room ? *room * 2 : 16;
  void *grown = realloc(*items, want * size);
  if (!grown)
    return false;
  *items = grown;
  *room = want;
  return true;
}

static void add_inline(token_list *l, uint32_t line, const char *text,
                       size_t length) {
  if (!reserve((void **)&l->pieces, l->npieces, &l->pieces_room,
               sizeof *l->pieces))
    return;
  char *copy = malloc(length + 1);
  if (!copy)
    return;
  memcpy(copy, text, length);
  l->pieces[l->npieces++] = (culprit_inline){line, length, copy};
}

static void add_switch(token_list *l, uint32_t line) {
  if (reserve((void **)&l->switches, l->nswitches, &l->switches_room,
              sizeof *l->switches))
    l->switches[l->nswitches++] = line;
}

static void on_token(zend_php_scanner_event event, int token, int line,
                     const char *text, size_t length, void *context) {
  token_list *l = context;
  if (event != ON_TOKEN)
    return;
  culprit_token_add(&l->all, token, (uint32_t)line, text, length);
  if (token == T_INLINE_HTML)
    add_inline(l, (uint32_t)line, text, length);
  else if (token == T_SWITCH || token == T_MATCH)
    add_switch(l, (uint32_t)line);
}

static void token_list_free(token_list *l) {
  for (size_t i = 0; i < l->npieces; i++)
    free((char *)l->pieces[i].text);
  free(l->pieces);
  free(l->switches);
  free(l->all.items);
}

// What the engine's tables held before a compilation: all behind is new.
typedef struct {
  const void *function, *class;
} table_ends;

static const void *last_of(HashTable *table) {
  for (uint32_t i = table->nNumUsed; i-- > 0;)
    if (Z_TYPE(table->arData[i].val) != IS_UNDEF)
      return Z_PTR(table->arData[i].val);
  return NULL;
}

typedef struct {
  zend_op_array **items;
  size_t n, room;
} code_list;

static void add_code(code_list *l, zend_op_array *code) {
  if (code->type != ZEND_USER_FUNCTION && code->type != ZEND_EVAL_CODE)
    return;
  static char listed; // stands there until the plan does
  if (code->reserved[culprit.handle])
    return;
  code->reserved[culprit.handle] = &listed;
  if (l->n == l->room) {
    l->room = l->room ? l->room * 2 : 32;
    zend_op_array **grown = culprit_alloc(l->room * sizeof *grown);
    if (l->n)
      memcpy(grown, l->items, l->n * sizeof *grown);
    l->items = grown;
  }
  l->items[l->n++] = code;
  for (uint32_t i = 0; i < code->num_dynamic_func_defs; i++)
    add_code(l, code->dynamic_func_defs[i]);
}

static uint32_t first_new(HashTable *table, const void *end) {
  uint32_t i = table->nNumUsed;
  while (i && (Z_TYPE(table->arData[i - 1].val) == IS_UNDEF ||
               Z_PTR(table->arData[i - 1].val) != end))
    i--;
  return i;
}

static void add_class(code_list *l, zend_class_entry *ce) {
  zend_op_array *code;
  if (ce->type != ZEND_USER_CLASS)
    return;
  ZEND_HASH_FOREACH_PTR(&ce->function_table, code) {
    if (code->type == ZEND_USER_FUNCTION && code->scope == ce)
      add_code(l, code);
  }
  ZEND_HASH_FOREACH_END();
}

static void collect_code(code_list *l, zend_op_array *main,
                         const table_ends *before) {
  add_code(l, main);
  HashTable *t = CG(function_table);
  for (uint32_t i = first_new(t, before->function); i < t->nNumUsed; i++)
    if (Z_TYPE(t->arData[i].val) == IS_PTR)
      add_code(l, Z_PTR(t->arData[i].val));
  t = CG(class_table);
  for (uint32_t i = first_new(t, before->class); i < t->nNumUsed; i++)
    if (Z_TYPE(t->arData[i].val) == IS_PTR)
      add_class(l, Z_PTR(t->arData[i].val));
}

// A compilation in progress.
typedef struct {
  table_ends before;
  token_list tokens;
  uint32_t options;
  bool is_file;
  bool changed, is_listed; // its tokens are to be
  bool is_evaluated;       // a whole script given to eval()
  bool is_kept;            // the hash of its text is known beforehand:
  uint64_t hash;
  const culprit_text *text; // what the scanner told before; NULL: it tells now
  void (*on_event)(zend_php_scanner_event, int, int, const char *, size_t,
                   void *);
  void *context;
} compilation;

static void begin_compilation(compilation *c) {
  memset(c, 0, sizeof *c);
  c->before.function = last_of(CG(function_table));
  c->before.class = last_of(CG(class_table));
  c->options = CG(compiler_options);
  CG(compiler_options) |=
      ZEND_COMPILE_EXTENDED_STMT | ZEND_COMPILE_NO_JUMPTABLES;
  c->on_event = LANG_SCNG(on_event);
  c->context = LANG_SCNG(on_event_context);
}

static void hear_tokens(compilation *c) {
  LANG_SCNG(on_event) = on_token;
  LANG_SCNG(on_event_context) = &c->tokens;
}

static void end_compilation(compilation *c) {
  CG(compiler_options) = c->options;
  LANG_SCNG(on_event) = c->on_event;
  LANG_SCNG(on_event_context) = c->context;
}

// Template engines evaluate many scripts in one place, which is all that PHP
// names them by.
static void tell_apart(char *path, size_t room, const char *text,
                       size_t length) {
  size_t n = strlen(path);
  snprintf(path + n, room - n, " #%08x",
           (unsigned)zend_hash_func(text, length));
}

// A program may give eval() another text each time it comes by: such texts are
// one source, which no hash tells apart.
static uint64_t hash_of(const compilation *c, const char *text, size_t length) {
  if (c->is_kept)
    return c->hash;
  return c->is_file || c->is_evaluated ? culprit_hash(text, length) : 0;
}

static void plan(compilation *c, zend_op_array *code, const char *text,
                 size_t length) {
  char room[MAXPATHLEN], own[MAXPATHLEN];
  if (code && code->filename) {
    code_list all = {0};
    collect_code(&all, code, &c->before);
    culprit_text told = {c->tokens.pieces, c->tokens.npieces,
                         c->tokens.switches, c->tokens.nswitches};
    if (c->text)
      told = *c->text;
    culprit_source source = {.text = text,
                             .length = length,
                             .pieces = told.pieces,
                             .npieces = told.npieces,
                             .switches = told.switches,
                             .nswitches = told.nswitches,
                             .hash = hash_of(c, text, length),
                             .is_kept = c->is_kept,
                             .changed = c->changed};
    source.path = culprit_absolute(ZSTR_VAL(code->filename),
                                   ZSTR_LEN(code->filename), room);
    if (c->is_evaluated) {
      snprintf(own, sizeof own, "%s", source.path);
      tell_apart(own, sizeof own, text, length);
      source.path = own;
    }
    source.path_length = strlen(source.path);
    culprit_plan(&source, all.items, all.n);
    if (c->is_listed && !c->text)
      culprit_tokens_write(INI_STR("culprit.dir"), text, length,
                           &c->tokens.all);
    if (c->is_kept && !c->text)
      culprit_text_keep(c->hash, &told);
  }
  token_list_free(&c->tokens);
}

static void tell_include(const zend_file_handle *file) {
  const zend_string *path =
      file->opened_path ? file->opened_path : file->filename;
  if (path && EG(current_execute_data))
    culprit_include(culprit_file(ZSTR_VAL(path), ZSTR_LEN(path)));
}

// A compilation that ends in a fatal error jumps over us: then nothing was
// compiled, but the engine is to be left as it was found.
static zend_op_array *plan_file(zend_file_handle *file, int type) {
  if (!culprit.recording)
    return next_compile_file(file, type);
  compilation c;
  zend_op_array *volatile code = NULL;
  volatile bool died = false;
  begin_compilation(&c);
  c.is_file = true;
  c.changed = culprit_change_apply(file);
  c.is_listed = !c.changed;
  c.is_kept = !c.changed && culprit_text_hash(file, &c.hash);
  c.text = c.is_kept ? culprit_text_find(c.hash) : NULL;
  if (!c.text)
    hear_tokens(&c);
  zend_try { code = next_compile_file(file, type); }
  zend_catch { died = true; }
  zend_end_try();
  end_compilation(&c);
  plan(&c, code, file->buf ? file->buf : "", file->buf ? file->len : 0);
  if (died)
    zend_bailout();
  if (code)
    tell_include(file);
  return code;
}

static zend_op_array *plan_string(zend_string *text, const char *name,
                                  zend_compile_position position) {
  if (!culprit.recording)
    return next_compile_string(text, name, position);
  compilation c;
  zend_op_array *volatile code = NULL;
  volatile bool died = false;
  begin_compilation(&c);
  c.is_evaluated = ZSTR_LEN(text) > 2 && !memcmp(ZSTR_VAL(text), "?>", 2);
  c.is_listed = c.is_evaluated;
  hear_tokens(&c);
  zend_try { code = next_compile_string(text, name, position); }
  zend_catch { died = true; }
  zend_end_try();
  end_compilation(&c);
  plan(&c, code, ZSTR_VAL(text), ZSTR_LEN(text));
  if (died)
    zend_bailout();
  return code;
}

// --- the module -------------------------------------------------------------

static bool is_on(void) {
  const char *dir = INI_STR("culprit.dir");
  return dir && *dir;
}

static PHP_MINIT_FUNCTION(culprit) {
  REGISTER_INI_ENTRIES();
  if (!is_on())
    return SUCCESS;
  culprit.collect = parse_collect(INI_STR("culprit.collect"));
  culprit_names_start(INI_STR("culprit.inside"), INI_STR("culprit.outside"));
  culprit.handle = zend_get_resource_handle("culprit");
  if (culprit.handle < 0)
    return FAILURE;
  next_compile_file = zend_compile_file;
  zend_compile_file = plan_file;
  next_compile_string = zend_compile_string;
  zend_compile_string = plan_string;
  culprit_count_start();
  if (culprit.collect & COLLECT_COMPARES)
    culprit_compare_start();
  if (culprit.collect & COLLECT_SHADOWS)
    culprit_shadow_start();
  culprit_returns_start();
  if (culprit.collect & COLLECT_CLOSE)
    culprit_close_start();
  if (culprit.collect & COLLECT_OUTPUT)
    culprit_output_start();
  culprit_faults_start();
  return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(culprit) {
  culprit_record_close();
  culprit_map_close();
  culprit_kept_close();
  culprit_returns_close();
  culprit_close_free();
  culprit_tokens_close();
  UNREGISTER_INI_ENTRIES();
  return SUCCESS;
}

// A cached or optimized script would not be the one we plan.
static void turn_off_opcache(void) {
  zend_string *name = zend_string_init(ZEND_STRL("opcache.enable"), 0);
  if (zend_ini_long(ZEND_STRL("opcache.enable"), 0))
    zend_alter_ini_entry_chars(name, "0", 1, PHP_INI_SYSTEM,
                               PHP_INI_STAGE_RUNTIME);
  zend_string_release(name);
}

static void tell_entry(void) {
  const char *path = SG(request_info).path_translated;
  if (path)
    culprit_ref(ITEM_ENTRY, culprit_file(path, strlen(path)));
}

static PHP_RINIT_FUNCTION(culprit) {
  if (!is_on() || culprit_record_begin(INI_STR("culprit.dir")))
    return SUCCESS;
  turn_off_opcache();
  culprit_change_begin(INI_STR("culprit.dir"));
  tell_entry();
  culprit_faults_begin();
  culprit_returns_begin();
  culprit_compare_begin();
  culprit_shadow_begin();
  culprit_close_begin();
  if (culprit.collect & COLLECT_OUTPUT)
    culprit_output_begin();
  culprit_survey(INI_STR("culprit.dir"));
  return SUCCESS;
}

static PHP_RSHUTDOWN_FUNCTION(culprit) {
  if (!culprit.recording)
    return SUCCESS;
  culprit_shadow_end();
  culprit_close_end();
  if (culprit.collect & COLLECT_OUTPUT)
    culprit_output_end();
  culprit_record_end();
  return SUCCESS;
}

// Code is freed after RSHUTDOWN, and destructors may still run until then.
static int post_deactivate(void) {
  if (is_on()) {
    culprit_change_end();
    culprit_plan_reset();
    culprit_returns_reset();
  }
  return SUCCESS;
}

static PHP_MINFO_FUNCTION(culprit) {
  php_info_print_table_start();
  php_info_print_table_row(2, "culprit", is_on() ? "recording" : "off");
  php_info_print_table_end();
  DISPLAY_INI_ENTRIES();
}

#ifndef CULPRIT_VERSION
#define CULPRIT_VERSION "0.1.0"
#endif

zend_module_entry culprit_module_entry = {STANDARD_MODULE_HEADER,
                                          "culprit",
                                          NULL,
                                          PHP_MINIT(culprit),
                                          PHP_MSHUTDOWN(culprit),
                                          PHP_RINIT(culprit),
                                          PHP_RSHUTDOWN(culprit),
                                          PHP_MINFO(culprit),
                                          CULPRIT_VERSION,
                                          0,
                                          NULL,
                                          NULL,
                                          NULL,
                                          post_deactivate,
                                          STANDARD_MODULE_PROPERTIES_EX};

ZEND_GET_MODULE(culprit)
