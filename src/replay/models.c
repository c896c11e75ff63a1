// The table of library functions that replay knows, and what it does with all
// others: see models.h.
#include "replay/models.h"

#include <stdlib.h>
#include <string.h>

// In alphabetical order: one row per function.
static const ModelRow models[] = {
    {"_Exit", model_none},
    {"_IO_getc", model_getc},
    {"_IO_putc", model_none},
    {"__asprintf_chk", model_format},
    {"__assert_fail", model_none},
    {"__ctype_b_loc", model_ctype_loc},
    {"__ctype_tolower_loc", model_ctype_loc},
    {"__ctype_toupper_loc", model_ctype_loc},
    {"__dprintf_chk", model_none},
    {"__errno_location", model_none},
    {"__fgets_chk", model_gets},
    {"__fgets_unlocked_chk", model_gets},
    {"__fprintf_chk", model_none},
    {"__fread_chk", model_fread},
    {"__fread_unlocked_chk", model_fread},
    {"__getdelim", model_getline},
    {"__isoc23_fscanf", model_scanf},
    {"__isoc23_scanf", model_scanf},
    {"__isoc23_sscanf", model_scanf},
    {"__isoc23_strtol", model_number},
    {"__isoc23_strtoll", model_number},
    {"__isoc23_strtoul", model_number},
    {"__isoc23_strtoull", model_number},
    {"__isoc99_fscanf", model_scanf},
    {"__isoc99_scanf", model_scanf},
    {"__isoc99_sscanf", model_scanf},
    {"__isoc99_vfscanf", model_unfollowed},
    {"__isoc99_vscanf", model_unfollowed},
    {"__isoc99_vsscanf", model_unfollowed},
    {"__longjmp_chk", model_none},
    {"__memcpy_chk", model_memcpy},
    {"__memmove_chk", model_memcpy},
    {"__mempcpy", model_memcpy},
    {"__mempcpy_chk", model_memcpy},
    {"__memrchr", model_chr},
    {"__memset_chk", model_memset},
    {"__open_2", model_open},
    {"__overflow", model_none},
    {"__pread_chk", model_read},
    {"__printf_chk", model_none},
    {"__rawmemchr", model_chr},
    {"__read_chk", model_read},
    {"__sigsetjmp", model_none},
    {"__snprintf_chk", model_format},
    {"__sprintf_chk", model_format},
    {"__stack_chk_fail", model_none},
    {"__stpcpy", model_strcpy},
    {"__stpcpy_chk", model_strcpy},
    {"__stpncpy_chk", model_strcpy},
    {"__strcat_chk", model_strcat},
    {"__strcpy_chk", model_strcpy},
    {"__strdup", model_dup},
    {"__strncat_chk", model_strcat},
    {"__strncpy_chk", model_strcpy},
    {"__strndup", model_dup},
    {"__uflow", model_unfollowed},
    {"__underflow", model_unfollowed},
    {"__vasprintf_chk", model_format},
    {"__vfprintf_chk", model_none},
    {"__vprintf_chk", model_none},
    {"__vsnprintf_chk", model_format},
    {"__vsprintf_chk", model_format},
    {"_exit", model_none},
    {"_longjmp", model_none},
    {"_setjmp", model_none},
    {"abort", model_none},
    {"abs", model_abs},
    {"access", model_none},
    {"aligned_alloc", model_malloc},
    {"asprintf", model_format},
    {"atexit", model_none},
    {"atof", model_decimal},
    {"atoi", model_number},
    {"atol", model_number},
    {"atoll", model_number},
    {"bcmp", model_compare},
    {"bcopy", model_memcpy},
    {"bindtextdomain", model_none},
    {"bsearch", model_bsearch},
    {"bzero", model_memset},
    {"calloc", model_calloc},
    {"ceil", model_math},
    {"ceilf", model_math},
    {"cfree", model_free},
    {"clearerr", model_none},
    {"clock", model_none},
    {"clock_gettime", model_none},
    {"close", model_close},
    {"dcgettext", model_none},
    {"dprintf", model_none},
    {"err", model_none},
    {"error", model_none},
    {"errx", model_none},
    {"exit", model_none},
    {"explicit_bzero", model_memset},
    {"fabs", model_math},
    {"fabsf", model_math},
    {"fclose", model_close},
    {"fdopen", model_open},
    {"feof", model_none},
    {"feof_unlocked", model_none},
    {"ferror", model_none},
    {"ferror_unlocked", model_none},
    {"fflush", model_none},
    {"fgetc", model_getc},
    {"fgetc_unlocked", model_getc},
    {"fgets", model_gets},
    {"fgets_unlocked", model_gets},
    {"fgetwc", model_unfollowed},
    {"fgetws", model_unfollowed},
    {"fileno", model_none},
    {"floor", model_math},
    {"floorf", model_math},
    {"fopen", model_open},
    {"fopen64", model_open},
    {"fprintf", model_none},
    {"fputc", model_none},
    {"fputc_unlocked", model_none},
    {"fputs", model_none},
    {"fputs_unlocked", model_none},
    {"fread", model_fread},
    {"fread_unlocked", model_fread},
    {"free", model_free},
    {"fscanf", model_scanf},
    {"fseek", model_seek},
    {"fseeko", model_seek},
    {"fseeko64", model_seek},
    {"fstat", model_none},
    {"ftell", model_seek},
    {"ftello", model_seek},
    {"ftello64", model_seek},
    {"fwrite", model_none},
    {"fwrite_unlocked", model_none},
    {"getc", model_getc},
    {"getc_unlocked", model_getc},
    {"getchar", model_getc},
    {"getchar_unlocked", model_getc},
    {"getcwd", model_none},
    {"getdelim", model_getline},
    {"getenv", model_none},
    {"getline", model_getline},
    {"getopt", model_getopt},
    {"getopt_long", model_getopt},
    {"getopt_long_only", model_getopt},
    {"getpid", model_none},
    {"gets", model_unfollowed},
    {"gettext", model_none},
    {"gettimeofday", model_none},
    {"getwc", model_unfollowed},
    {"getwchar", model_unfollowed},
    {"index", model_chr},
    {"isalnum", model_ctype},
    {"isalpha", model_ctype},
    {"isatty", model_none},
    {"isblank", model_ctype},
    {"iscntrl", model_ctype},
    {"isdigit", model_ctype},
    {"isgraph", model_ctype},
    {"islower", model_ctype},
    {"isprint", model_ctype},
    {"ispunct", model_ctype},
    {"isspace", model_ctype},
    {"isupper", model_ctype},
    {"isxdigit", model_ctype},
    {"labs", model_abs},
    {"llabs", model_abs},
    {"longjmp", model_none},
    {"lseek", model_seek},
    {"lseek64", model_seek},
    {"lstat", model_none},
    {"malloc", model_malloc},
    {"memalign", model_malloc},
    {"memchr", model_chr},
    {"memcmp", model_compare},
    {"memcpy", model_memcpy},
    {"memmem", model_str},
    {"memmove", model_memcpy},
    {"mempcpy", model_memcpy},
    {"memrchr", model_chr},
    {"memset", model_memset},
    {"mmap", model_mmap},
    {"mmap64", model_mmap},
    {"open", model_open},
    {"open64", model_open},
    {"openat", model_open},
    {"openat64", model_open},
    {"optind", model_none},
    {"pclose", model_close},
    {"perror", model_none},
    {"pread", model_read},
    {"pread64", model_read},
    {"preadv", model_unfollowed},
    {"printf", model_none},
    {"psignal", model_none},
    {"putc", model_none},
    {"putc_unlocked", model_none},
    {"putchar", model_none},
    {"putchar_unlocked", model_none},
    {"puts", model_none},
    {"qsort", model_qsort},
    {"qsort_r", model_qsort},
    {"quick_exit", model_none},
    {"rand", model_none},
    {"random", model_none},
    {"rawmemchr", model_chr},
    {"read", model_read},
    {"readline", model_unfollowed},
    {"readv", model_readv},
    {"realloc", model_realloc},
    {"reallocarray", model_realloc},
    {"recv", model_unfollowed},
    {"recvfrom", model_unfollowed},
    {"recvmsg", model_unfollowed},
    {"remove", model_none},
    {"rewind", model_seek},
    {"rint", model_math},
    {"rintf", model_math},
    {"round", model_math},
    {"roundf", model_math},
    {"scanf", model_scanf},
    {"secure_getenv", model_none},
    {"setbuf", model_none},
    {"setjmp", model_none},
    {"setlocale", model_none},
    {"setvbuf", model_none},
    {"sigaction", model_none},
    {"siglongjmp", model_none},
    {"signal", model_none},
    {"sigsetjmp", model_none},
    {"sleep", model_none},
    {"snprintf", model_format},
    {"sprintf", model_format},
    {"sqrt", model_math},
    {"sqrtf", model_math},
    {"srand", model_none},
    {"srandom", model_none},
    {"sscanf", model_scanf},
    {"stat", model_none},
    {"stpcpy", model_strcpy},
    {"stpncpy", model_strcpy},
    {"strcasecmp", model_compare},
    {"strcasestr", model_str},
    {"strcat", model_strcat},
    {"strchr", model_chr},
    {"strchrnul", model_chr},
    {"strcmp", model_compare},
    {"strcoll", model_compare},
    {"strcpy", model_strcpy},
    {"strcspn", model_span},
    {"strdup", model_dup},
    {"strerror", model_none},
    {"strlen", model_strlen},
    {"strncasecmp", model_compare},
    {"strncat", model_strcat},
    {"strncmp", model_compare},
    {"strncpy", model_strcpy},
    {"strndup", model_dup},
    {"strnlen", model_strlen},
    {"strpbrk", model_span},
    {"strrchr", model_chr},
    {"strsep", model_strsep},
    {"strspn", model_span},
    {"strstr", model_str},
    {"strtod", model_decimal},
    {"strtoimax", model_number},
    {"strtok", model_strtok},
    {"strtok_r", model_strtok},
    {"strtol", model_number},
    {"strtoll", model_number},
    {"strtoul", model_number},
    {"strtoull", model_number},
    {"strtoumax", model_number},
    {"syslog", model_none},
    {"textdomain", model_none},
    {"time", model_none},
    {"tolower", model_case},
    {"toupper", model_case},
    {"trunc", model_math},
    {"truncf", model_math},
    {"ungetc", model_ungetc},
    {"unlink", model_none},
    {"vasprintf", model_format},
    {"vfprintf", model_none},
    {"vfscanf", model_unfollowed},
    {"vprintf", model_none},
    {"vscanf", model_unfollowed},
    {"vsnprintf", model_format},
    {"vsprintf", model_format},
    {"vsscanf", model_unfollowed},
    {"warn", model_none},
    {"warnx", model_none},
    {"write", model_none},
    {"writev", model_none},
};

static int by_name(const void *name, const void *row) {
  return strcmp(name, ((const ModelRow *)row)->name);
}

const ModelRow *model_find(const char *name) {
  return bsearch(name, models, sizeof models / sizeof *models, sizeof *models,
                 by_name);
}

// --- for models -------------------------------------------------------------

IrValue model_arg(const ModelCall *c, uint32_t i) {
  return i < c->nargs ? c->args[i] : (IrValue){0, 0};
}

uint64_t model_fixed(Replay *r, const ModelCall *c, uint32_t i) {
  IrValue v = model_arg(c, i);
  if (v.expr)
    replay_fix(r, PATH_LIBC, v);
  return v.value;
}

bool model_result(Replay *r, ModelCall *c, Expr e) {
  if (!e || expr_width(r->pool, e) != c->width ||
      expr_value(r->pool, e) != c->result)
    return false;
  c->expr = expr_is_const(r->pool, e) ? 0 : e;
  return true;
}

bool model_byte(Replay *r, uint64_t at, uint8_t *value, Expr *e) {
  if (!shadow_byte(r->shadow, at, value))
    return false;
  *e = shadow_byte_expr(r->shadow, at);
  return true;
}

bool model_string(Replay *r, uint64_t at, uint64_t most, uint64_t *n) {
  enum { LONGEST = 1 << 24 };
  for (*n = 0; *n < most; ++*n) {
    uint8_t b;
    Expr e;
    if (*n > LONGEST || !model_byte(r, at + *n, &b, &e))
      return false;
    if (e)
      replay_event(r, PATH_LIBC, expr_nonzero(r->pool, e), b != 0);
    if (!b)
      return true;
  }
  return true;
}

// --- functions that are not known -------------------------------------------

// May the function have looked at what the pointer leads to? As far as we can
// tell, it is bytes up to a NUL, or the rest of the object.
static bool fix_bytes(Replay *r, uint64_t at) {
  enum { MOST = 4096 };
  bool any = false;
  for (uint64_t i = 0; i < MOST; i++) {
    uint8_t b;
    Expr e;
    if (!model_byte(r, at + i, &b, &e))
      break;
    if (e) {
      replay_fix(r, PATH_LIBC, (IrValue){b, e});
      any = true;
    }
    if (!b)
      break;
  }
  return any;
}

static void run_unknown(Replay *r, ModelCall *c) {
  bool lost = false;
  for (uint32_t i = 0; i < c->nargs; i++) {
    if (!c->types[i].width)
      continue;
    if (c->args[i].expr) {
      replay_fix(r, PATH_LIBC, c->args[i]);
      lost = true;
    }
    if (c->types[i].width == 64 && !(c->types[i].flags & IR_FP) &&
        c->args[i].value > 4096)
      lost |= fix_bytes(r, c->args[i].value);
  }
  if (lost)
    replay_lost(r, c->name);
}

// The call reads nothing of the input, or what it prints does not come back.
bool model_none(Replay *r, ModelCall *c) {
  (void)r;
  (void)c;
  return true;
}

void model_run(Replay *r, ModelCall *c) {
  const ModelRow *row = model_find(c->name);
  size_t before = r->path->events.len;
  if (row && row->model(r, c))
    return;
  if (row)
    r->path->events.len = before; // half of what it found is nothing
  c->expr = 0;
  run_unknown(r, c);
}

void model_written(Replay *r, uint64_t at, const uint8_t *bytes, uint64_t n) {
  if (!sort_end(r, at, bytes, n))
    shadow_write(r->shadow, at, bytes, n);
}
