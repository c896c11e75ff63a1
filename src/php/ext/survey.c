// A request for PHP_SURVEY_FILE in our directory executes nothing: it compiles the
// scripts that the file lists behind its __halt_compiler(), so that maps/ has a
// map of each. Who counts statements then counts those of scripts that no
// request has reached.
//
// Functions and classes of one script are taken away again before the next is
// compiled: two scripts may declare the same name. A script that does not
// compile has no map.
#include "php_culprit.h"

#include "SAPI.h"
#include "php_ini.h"
#include "zend_exceptions.h"
#include "zend_stream.h"

static bool is_survey(const char *dir) {
  char path[MAXPATHLEN];
  const char *asked = SG(request_info).path_translated;
  snprintf(path, sizeof path, "%s/" PHP_SURVEY_FILE, dir);
  return asked && !strcmp(asked, path);
}

// PHP keeps with the name of a class where it was found last (CE_CACHE): the
// next script that names it must not find it there.
static void forget(const void *class) {
  void **cached = CG(map_ptr_real_base);
  for (size_t i = 0; i < CG(map_ptr_last); i++)
    if (cached[i] == class)
      cached[i] = NULL;
}

// Takes away what stands behind the first `used` entries.
static void shrink(HashTable *table, uint32_t used) {
  for (uint32_t i = table->nNumUsed; i-- > used;) {
    Bucket *b = &table->arData[i];
    if (Z_TYPE(b->val) == IS_UNDEF || !b->key)
      continue;
    forget(Z_PTR(b->val));
    zend_hash_del(table, b->key);
  }
}

static void compile(const char *path) {
  zend_file_handle file;
  zend_stream_init_filename(&file, path);
  zend_try {
    zend_op_array *code = zend_compile_file(&file, ZEND_INCLUDE);
    if (code) {
      destroy_op_array(code);
      efree_size(code, sizeof *code);
    }
  }
  zend_end_try();
  zend_destroy_file_handle(&file);
  if (EG(exception))
    zend_clear_exception();
}

static void compile_all(char *list) {
  char *rest = NULL;
  for (char *path = strtok_r(list, "\n", &rest); path;
       path = strtok_r(NULL, "\n", &rest)) {
    uint32_t functions = CG(function_table)->nNumUsed;
    uint32_t classes = CG(class_table)->nNumUsed;
    compile(path);
    shrink(CG(function_table), functions);
    shrink(CG(class_table), classes);
  }
}

static void no_memory_limit(void) {
  zend_string *name = zend_string_init(ZEND_STRL("memory_limit"), 0);
  zend_alter_ini_entry_chars(name, "-1", 2, PHP_INI_SYSTEM,
                             PHP_INI_STAGE_RUNTIME);
  zend_string_release(name);
}

static char *read_list(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = f ? calloc(1, PHP_SURVEY_MAX + 1) : NULL;
  if (text)
    text[fread(text, 1, PHP_SURVEY_MAX, f)] = '\0';
  if (f)
    fclose(f);
  return text;
}

void culprit_survey(const char *dir) {
  if (!is_survey(dir))
    return;
  char *text = read_list(SG(request_info).path_translated);
  char *list = text ? strchr(text, '\n') : NULL;
  int level = EG(error_reporting);
  no_memory_limit();
  EG(error_reporting) = 0;
  if (list)
    compile_all(list);
  EG(error_reporting) = level;
  free(text);
}
