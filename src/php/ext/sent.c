// Text that a call hands to the world: a header, a cookie, a mail, a file.
//
// Such calls are told only if something comes of them: a message of PHP, an
// exception, a status of the response. What was sent then follows the fault.
#include "php_culprit.h"

#include "SAPI.h"

#define MAX_SENT 65536

typedef struct {
  const char *function;
  uint32_t arguments; // bit i: argument i, from 1
  bool sets_status;   // of the response, perhaps
} sent_call;

#define ARG(i) (1u << (i))

static const sent_call sent_calls[] = {
    {"header", ARG(1), true},
    {"http_response_code", ARG(1), true},
    {"setcookie", ARG(1) | ARG(2) | ARG(3) | ARG(4) | ARG(5), false},
    {"setrawcookie", ARG(1) | ARG(2) | ARG(3) | ARG(4) | ARG(5), false},
    {"session_start", 0, false},
    {"mail", ARG(1) | ARG(2) | ARG(3) | ARG(4) | ARG(5), false},
    {"mb_send_mail", ARG(1) | ARG(2) | ARG(3) | ARG(4) | ARG(5), false},
    {"file_put_contents", ARG(1) | ARG(2), false},
    {"fopen", ARG(1), false},
    {"fwrite", ARG(2), false},
    {"fputs", ARG(2), false},
    {"fputcsv", ARG(2), false},
};

void culprit_sent_start(void) {
  for (size_t i = 0; i < sizeof sent_calls / sizeof *sent_calls; i++) {
    const char *name = sent_calls[i].function;
    zend_function *fn =
        zend_hash_str_find_ptr(CG(function_table), name, strlen(name));
    if (fn && fn->type == ZEND_INTERNAL_FUNCTION)
      culprit_internal_of(fn)->sent = &sent_calls[i];
  }
}

// --- what was sent ----------------------------------------------------------

typedef struct {
  char bytes[MAX_SENT];
  size_t length;
} sent_text;

static void add_bytes(sent_text *t, const char *bytes, size_t n) {
  size_t room = sizeof t->bytes - t->length;
  n = n < room ? n : room;
  memcpy(t->bytes + t->length, bytes, n);
  t->length += n;
}

// Strings only: nothing of the application is to be called. Of arrays (the
// headers of a mail, the options of a cookie) keys and values, one level deep.
static void add_value(sent_text *t, const zval *value, bool nested) {
  zend_string *key;
  zval *element;
  ZVAL_DEREF(value);
  if (Z_TYPE_P(value) == IS_STRING) {
    add_bytes(t, "\n", t->length ? 1 : 0);
    add_bytes(t, Z_STRVAL_P(value), Z_STRLEN_P(value));
  } else if (Z_TYPE_P(value) == IS_ARRAY && !nested) {
    ZEND_HASH_FOREACH_STR_KEY_VAL(Z_ARRVAL_P(value), key, element) {
      if (key) {
        add_bytes(t, "\n", t->length ? 1 : 0);
        add_bytes(t, ZSTR_VAL(key), ZSTR_LEN(key));
      }
      add_value(t, element, true);
    }
    ZEND_HASH_FOREACH_END();
  }
}

static void write_sent(zend_execute_data *ex, const sent_call *c) {
  static sent_text text;
  text.length = 0;
  uint32_t given = ZEND_CALL_NUM_ARGS(ex);
  for (uint32_t i = 1; i <= given && i < 32; i++)
    if (c->arguments & ARG(i))
      add_value(&text, ZEND_CALL_ARG(ex, i), false);
  size_t n = strlen(c->function);
  ItemSent *item = culprit_item(ITEM_SENT, sizeof *item + n + text.length);
  if (!item)
    return;
  item->function_length = (uint32_t)n;
  item->text_length = (uint32_t)text.length;
  memcpy(item + 1, c->function, n);
  memcpy((char *)(item + 1) + n, text.bytes, text.length);
  culprit_publish(item);
}

// The call under way if it is one of ours; NULL: it is not.
static const sent_call *call_under_way(const zend_execute_data *ex) {
  if (!ex || !ex->func || ex->func->type != ZEND_INTERNAL_FUNCTION)
    return NULL;
  const culprit_internal *known =
      ex->func->internal_function.reserved[culprit.handle];
  return known ? known->sent : NULL;
}

bool culprit_sent(void) {
  zend_execute_data *ex = EG(current_execute_data);
  const sent_call *c = call_under_way(ex);
  if (c)
    write_sent(ex, c);
  return c != NULL;
}

// --- the status of the response ---------------------------------------------

int culprit_sent_before(const void *call) {
  const sent_call *c = call;
  return c && c->sets_status ? SG(sapi_headers).http_response_code : -1;
}

void culprit_sent_after(zend_execute_data *ex, const void *call, int before) {
  int after = SG(sapi_headers).http_response_code;
  uint32_t file, line;
  if (before < 0 || before == after || after < 400)
    return;
  culprit_place(&file, &line);
  zend_string *message = zend_strpprintf(0, "status %d", after);
  if (culprit_fault(SEVERITY_NOTICE, FAULT_STATUS, file, line, message, NULL)) {
    write_sent(ex, call);
    culprit_callers();
  }
  zend_string_release(message);
}
