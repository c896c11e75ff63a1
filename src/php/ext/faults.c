// Errors of all levels, exceptions, and where in the script something happens.
//
// An exception is told when it is thrown, as caught. If nobody catches it, PHP
// reports an error, and that replaces what was told; if the application's
// exception handler takes it, it is told as handled.
#include "php_culprit.h"

#include "zend_exceptions.h"
#include "zend_observer.h"

// The exceptions told in this request, by address: the item's place.
typedef struct {
  const zend_object *exception;
  ItemFault *item;
} told;

#define MAX_TOLD 32
static told recent[MAX_TOLD];
static unsigned nrecent, nthrown;
#define MAX_FAULTS 10000
static unsigned nfaults;

void culprit_faults_begin(void) {
  nrecent = 0;
  nthrown = 0;
  nfaults = 0;
  memset(recent, 0, sizeof recent);
}

// --- places -----------------------------------------------------------------

// This frame or the first caller of it that executes a script we know.
static zend_execute_data *known_frame(zend_execute_data *ex) {
  while (ex && (!ex->func || !ZEND_USER_CODE(ex->func->type) ||
                !culprit_function_of(ex)))
    ex = ex->prev_execute_data;
  return ex;
}

static void place_of(zend_execute_data *ex, uint32_t *file, uint32_t *line) {
  const culprit_function *f = culprit_function_of(ex);
  *file = f->file;
  *line = culprit_has_begun(ex, f) ? culprit_frame_of(ex, f)->line : f->line;
}

void culprit_place(uint32_t *file, uint32_t *line) {
  zend_execute_data *ex = known_frame(EG(current_execute_data));
  *file = NO_FILE;
  *line = 0;
  if (ex)
    place_of(ex, file, line);
}

#define MAX_CALLERS 32

void culprit_callers(void) {
  uint32_t places[2 * MAX_CALLERS], n = 0;
  zend_execute_data *ex = known_frame(EG(current_execute_data));
  for (ex = ex ? known_frame(ex->prev_execute_data) : NULL;
       ex && n < MAX_CALLERS; ex = known_frame(ex->prev_execute_data), n++) {
    place_of(ex, &places[2 * n], &places[2 * n + 1]);
    places[2 * n + 1] &= ~FRAME_TEMPLATE;
  }
  size_t size = 2 * n * sizeof *places;
  ItemCallers *item =
      n ? culprit_item(ITEM_CALLERS, sizeof *item + size) : NULL;
  if (!item)
    return;
  item->count = n;
  item->reserved = 0;
  memcpy(item + 1, places, size);
  culprit_publish(item);
}

// The number of a file that PHP names: as the script there is known that is
// being executed (several may be evaluated in one place).
static uint32_t number_of(zend_string *file) {
  zend_execute_data *ex = known_frame(EG(current_execute_data));
  if (!file || !ZSTR_LEN(file))
    return NO_FILE;
  if (ex && zend_string_equals(ex->func->op_array.filename, file))
    return culprit_function_of(ex)->file;
  return culprit_file(ZSTR_VAL(file), ZSTR_LEN(file));
}

// --- telling ----------------------------------------------------------------

static ItemFault *add_fault(uint32_t severity, uint32_t flags, uint32_t file,
                            uint32_t line, zend_string *message,
                            zend_string *sql) {
  size_t m = ZSTR_LEN(message), q = sql ? ZSTR_LEN(sql) : 0;
  m = m > 65536 ? 65536 : m;
  q = q > 65536 ? 65536 : q;
  ItemFault *item = culprit_item(ITEM_FAULT, sizeof *item + m + q);
  if (!item)
    return NULL;
  nfaults++;
  item->severity = severity;
  item->flags = flags | (sql ? FAULT_HAS_SQL : 0);
  item->file = file;
  item->line = line & ~FRAME_TEMPLATE;
  item->message_length = (uint32_t)m;
  item->sql_length = (uint32_t)q;
  memcpy(item + 1, ZSTR_VAL(message), m);
  if (sql)
    memcpy((char *)(item + 1) + m, ZSTR_VAL(sql), q);
  culprit_publish(item);
  return item;
}

ItemFault *culprit_fault(uint32_t severity, uint32_t flags, uint32_t file,
                         uint32_t line, zend_string *message,
                         zend_string *sql) {
  if (nfaults == MAX_FAULTS) {
    culprit_note("more than 10000 faults, the rest is missing");
    return NULL;
  }
  zend_string *text = culprit_renamed(message);
  ItemFault *item = add_fault(severity, flags, file, line, text, sql);
  zend_string_release(text);
  return item;
}

// --- errors -----------------------------------------------------------------

static uint32_t severity_of(int type) {
  switch (type) {
  case E_WARNING:
  case E_CORE_WARNING:
  case E_COMPILE_WARNING:
  case E_USER_WARNING:
    return SEVERITY_WARNING;
  case E_NOTICE:
  case E_USER_NOTICE:
  case E_STRICT:
    return SEVERITY_NOTICE;
  case E_DEPRECATED:
  case E_USER_DEPRECATED:
    return SEVERITY_DEPRECATED;
  default:
    return SEVERITY_FATAL;
  }
}

// Will the application's own handler get it?
static bool is_handled(int type) {
  const int never = E_ERROR | E_PARSE | E_CORE_ERROR | E_CORE_WARNING |
                    E_COMPILE_ERROR | E_COMPILE_WARNING;
  return Z_TYPE(EG(user_error_handler)) != IS_UNDEF && !(type & never) &&
         EG(user_error_handler_error_reporting) & type;
}

// "Uncaught E: text in FILE:LINE\nStack trace: ..." -> "Uncaught E: text"
static zend_string *without_place(zend_string *message, const char *file,
                                  uint32_t line) {
  char *place;
  zend_string *cut = NULL;
  if (strncmp(ZSTR_VAL(message), "Uncaught ", 9))
    return zend_string_copy(message);
  zend_spprintf(&place, 0, " in %s:%u\nStack trace:", file, line);
  const char *at = strstr(ZSTR_VAL(message), place);
  if (!at)
    at = strstr(ZSTR_VAL(message), "\nStack trace:");
  if (at)
    cut = zend_string_init(ZSTR_VAL(message), (size_t)(at - ZSTR_VAL(message)),
                           0);
  efree(place);
  return cut ? cut : zend_string_copy(message);
}

static bool is_uncaught(int type, const zend_string *message) {
  return type == E_ERROR && !strncmp(ZSTR_VAL(message), "Uncaught ", 9);
}

// The exception thrown last is the one that nobody caught.
static void replace_told(void) {
  const told *last = NULL;
  if (nrecent)
    last = &recent[(nthrown - 1) % MAX_TOLD];
  if (last && last->item && last->exception)
    last->item->flags |= FAULT_REPLACED;
}

static void on_error(int type, zend_string *file, uint32_t line,
                     zend_string *message) {
  if (!culprit.recording || !message)
    return;
  type &= E_ALL;
  const char *name = file ? ZSTR_VAL(file) : "";
  size_t length = file ? ZSTR_LEN(file) : 0;
  uint32_t flags = (EG(error_reporting) & type ? 0 : FAULT_SILENCED) |
                   (is_handled(type) ? FAULT_HANDLED : 0);
  if (is_uncaught(type, message))
    replace_told();
  zend_string *text = without_place(message, name, line);
  if (culprit_fault(severity_of(type), flags, number_of(file), line, text,
                    NULL) &&
      culprit_sent())
    culprit_callers();
  zend_string_release(text);
  if (culprit.collect & COLLECT_OUTPUT)
    culprit_output_error(name, length, line);
  if (severity_of(type) == SEVERITY_FATAL && !(flags & FAULT_HANDLED))
    culprit_leave_all();
}

// --- exceptions -------------------------------------------------------------

static void (*next_throw)(zend_object *exception);

static const told *find_told(const zend_object *exception) {
  for (unsigned i = 0; i < nrecent; i++)
    if (recent[i].exception == exception)
      return &recent[i];
  return NULL;
}

static zend_string *describe(zend_object *e) {
  zval message;
  zend_string *class = e->ce->name;
  zval *got = zend_read_property(zend_get_exception_base(e), e,
                                 ZEND_STRL("message"), 1, &message);
  const char *text = got && Z_TYPE_P(got) == IS_STRING ? Z_STRVAL_P(got) : "";
  return zend_strpprintf(0, "%s%s%s", ZSTR_VAL(class), *text ? ": " : "", text);
}

static uint32_t read_line(zend_object *e) {
  zval line, *got = zend_read_property(zend_get_exception_base(e), e,
                                       ZEND_STRL("line"), 1, &line);
  return got && Z_TYPE_P(got) == IS_LONG ? (uint32_t)Z_LVAL_P(got) : 0;
}

static uint32_t read_file(zend_object *e) {
  zval file, *got = zend_read_property(zend_get_exception_base(e), e,
                                       ZEND_STRL("file"), 1, &file);
  if (!got || Z_TYPE_P(got) != IS_STRING || !Z_STRLEN_P(got))
    return NO_FILE;
  return number_of(Z_STR_P(got));
}

static void tell(zend_object *e) {
  zend_string *text = describe(e);
  told t = {.exception = e};
  t.item = culprit_fault(SEVERITY_FATAL, FAULT_CAUGHT, read_file(e),
                         read_line(e), text, NULL);
  if (t.item) {
    culprit_sent();
    culprit_callers();
  }
  zend_string_release(text);
  recent[nthrown++ % MAX_TOLD] = t;
  if (nrecent < MAX_TOLD)
    nrecent++;
}

// Called for every throw; an exception thrown again, or a new one at the same
// address: only the latter is news.
static void on_throw(zend_object *e) {
  if (culprit.recording && e && instanceof_function(e->ce, zend_ce_throwable)) {
    const told *t = find_told(e);
    if (!t || !t->item || t->item->line != read_line(e))
      tell(e);
  }
  if (next_throw)
    next_throw(e);
}

void culprit_uncaught(zend_object *exception) {
  if (Z_TYPE(EG(user_exception_handler)) == IS_UNDEF)
    return;
  const told *t = find_told(exception);
  if (t && t->item)
    t->item->flags = (t->item->flags & ~FAULT_CAUGHT) | FAULT_HANDLED;
}

void culprit_faults_start(void) {
  zend_observer_error_register(on_error);
  next_throw = zend_throw_exception_hook;
  zend_throw_exception_hook = on_throw;
}
