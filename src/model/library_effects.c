// What functions of the C library read and write: see library_effects.h.
#include "model/library_effects.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RT(a) {READS_TEXT, a, -1, -1}
#define RTN(a, n) {READS_TEXT, a, n, -1}
#define RB(a, n) {READS_BYTES, a, n, -1}
#define RBX(a, n, f) {READS_BYTES, a, n, f}
#define WT(a) {WRITES_TEXT, a, -1, -1}
#define WTN(a, n) {WRITES_TEXT, a, n, -1}
#define WTI(a) {WRITES_TEXT_IF, a, -1, -1}
#define WB(a, n) {WRITES_BYTES, a, n, -1}
#define WR(a, f) {WRITES_RESULT, a, -1, f}
#define WP(a) {WRITES_POINTER, a, -1, -1}
#define WU(a) {WRITES_UNKNOWN, a, -1, -1}
#define NB(n) {RETURNS_BLOCK, -1, n, -1}
#define TOKEN(a, r) {RETURNS_TOKEN, a, r, -1}
#define NT {RETURNS_TEXT, -1, -1, -1}
#define PF(a, v) {PRINTS, a, v, -1}
#define SF(a, v) {SCANS, a, v, -1}

// In alphabetical order.
static const LibraryCall calls[] = {
    {"_Exit", 0, {{0}}, DOES_END},
    {"_IO_getc", 0, {{0}}, 0},
    {"__assert_fail", 3, {RT(0), RT(1), RT(3)}, DOES_END},
    {"__ctype_b_loc", 0, {{0}}, 0},
    {"__ctype_tolower_loc", 0, {{0}}, 0},
    {"__ctype_toupper_loc", 0, {{0}}, 0},
    {"__errno_location", 0, {{0}}, 0},
    {"__fprintf_chk", 1, {PF(2, 3)}, 0},
    {"__isoc23_fscanf", 1, {SF(1, 2)}, 0},
    {"__isoc23_scanf", 1, {SF(0, 1)}, 0},
    {"__isoc23_sscanf", 2, {RT(0), SF(1, 2)}, 0},
    {"__isoc23_strtol", 2, {RT(0), WP(1)}, 0},
    {"__isoc23_strtoll", 2, {RT(0), WP(1)}, 0},
    {"__isoc23_strtoul", 2, {RT(0), WP(1)}, 0},
    {"__isoc23_strtoull", 2, {RT(0), WP(1)}, 0},
    {"__isoc99_fscanf", 1, {SF(1, 2)}, 0},
    {"__isoc99_scanf", 1, {SF(0, 1)}, 0},
    {"__isoc99_sscanf", 2, {RT(0), SF(1, 2)}, 0},
    {"__memcpy_chk", 2, {RB(1, 2), WB(0, 2)}, DOES_COPY_BYTES},
    {"__memmove_chk", 2, {RB(1, 2), WB(0, 2)}, DOES_COPY_BYTES},
    {"__memset_chk", 1, {WB(0, 2)}, DOES_FILL},
    {"__printf_chk", 1, {PF(1, 2)}, 0},
    {"__sigsetjmp", 0, {{0}}, 0},
    {"__snprintf_chk", 2, {PF(4, 5), WTN(0, 1)}, DOES_FORMAT},
    {"__sprintf_chk", 2, {PF(3, 4), WT(0)}, DOES_FORMAT},
    {"__stpcpy_chk", 2, {RT(1), WT(0)}, DOES_COPY_STRING},
    {"__strcat_chk", 3, {RT(0), RT(1), WT(0)}, DOES_APPEND},
    {"__strcpy_chk", 2, {RT(1), WT(0)}, DOES_COPY_STRING},
    {"__strdup", 2, {RT(0), NT}, DOES_DUPLICATE},
    {"__strncat_chk", 3, {RT(0), RTN(1, 2), WT(0)}, DOES_APPEND_COUNTED},
    {"__strncpy_chk", 2, {RTN(1, 2), WB(0, 2)}, DOES_COPY_COUNTED},
    {"__strndup", 2, {RTN(0, 1), NT}, DOES_DUPLICATE_COUNTED},
    {"_exit", 0, {{0}}, DOES_END},
    {"_longjmp", 0, {{0}}, DOES_JUMP},
    {"_setjmp", 0, {{0}}, 0},
    {"abort", 0, {{0}}, DOES_END},
    {"access", 1, {RT(0)}, 0},
    {"aligned_alloc", 1, {NB(1)}, 0},
    {"asprintf", 2, {PF(1, 2), {NEW_TEXT, 0, -1, -1}}, 0},
    {"atexit", 0, {{0}}, 0},
    {"atof", 1, {RT(0)}, 0},
    {"atoi", 1, {RT(0)}, 0},
    {"atol", 1, {RT(0)}, 0},
    {"atoll", 1, {RT(0)}, 0},
    {"bcmp", 2, {RB(0, 2), RB(1, 2)}, 0},
    {"bsearch", 0, {{0}}, DOES_SEARCH},
    {"calloc", 1, {{RETURNS_ZEROS, -1, 0, 1}}, DOES_ALLOCATE_ZEROED},
    {"clearerr", 0, {{0}}, 0},
    {"close", 0, {{0}}, 0},
    {"closedir", 0, {{0}}, 0},
    {"exit", 0, {{0}}, DOES_END},
    {"fclose", 0, {{0}}, 0},
    {"fdopen", 0, {{0}}, 0},
    {"feof", 0, {{0}}, 0},
    {"ferror", 0, {{0}}, 0},
    {"fflush", 0, {{0}}, 0},
    {"fgetc", 0, {{0}}, 0},
    {"fgets", 1, {WTI(0)}, 0},
    {"fgets_unlocked", 1, {WTI(0)}, 0},
    {"fileno", 0, {{0}}, 0},
    {"fopen", 2, {RT(0), RT(1)}, 0},
    {"fork", 0, {{0}}, 0},
    {"fprintf", 1, {PF(1, 2)}, 0},
    {"fputc", 0, {{0}}, 0},
    {"fputs", 1, {RT(0)}, 0},
    {"fputs_unlocked", 1, {RT(0)}, 0},
    {"fread", 1, {WR(0, 1)}, 0},
    {"fread_unlocked", 1, {WR(0, 1)}, 0},
    {"free", 1, {{FREES_BLOCK, 0, -1, -1}}, 0},
    {"freopen", 2, {RT(0), RT(1)}, 0},
    {"fscanf", 1, {SF(1, 2)}, 0},
    {"fseek", 0, {{0}}, 0},
    {"fseeko", 0, {{0}}, 0},
    {"ftell", 0, {{0}}, 0},
    {"ftello", 0, {{0}}, 0},
    {"fwrite", 1, {RBX(0, 1, 2)}, 0},
    {"fwrite_unlocked", 1, {RBX(0, 1, 2)}, 0},
    {"getc", 0, {{0}}, 0},
    {"getc_unlocked", 0, {{0}}, 0},
    {"getchar", 0, {{0}}, 0},
    {"getcwd", 1, {WTI(0)}, 0},
    {"getdelim", 1, {{READS_LINE, 0, 1, -1}}, 0},
    {"getenv", 1, {RT(0)}, 0},
    {"getline", 1, {{READS_LINE, 0, 1, -1}}, 0},
    {"gets", 1, {WTI(0)}, 0},
    {"isatty", 0, {{0}}, 0},
    {"longjmp", 0, {{0}}, DOES_JUMP},
    {"malloc", 1, {NB(0)}, DOES_ALLOCATE},
    {"memalign", 1, {NB(1)}, 0},
    {"memchr", 1, {RB(0, 2)}, 0},
    {"memcmp", 2, {RB(0, 2), RB(1, 2)}, 0},
    {"memcpy", 2, {RB(1, 2), WB(0, 2)}, DOES_COPY_BYTES},
    {"memmove", 2, {RB(1, 2), WB(0, 2)}, DOES_COPY_BYTES},
    {"mempcpy", 2, {RB(1, 2), WB(0, 2)}, 0},
    {"memrchr", 1, {RB(0, 2)}, 0},
    {"memset", 1, {WB(0, 2)}, DOES_FILL},
    {"open", 1, {RT(0)}, 0},
    {"opendir", 1, {RT(0)}, 0},
    {"perror", 1, {RT(0)}, 0},
    {"pread", 1, {WR(1, -1)}, 0},
    {"printf", 1, {PF(0, 1)}, 0},
    {"pthread_cond_broadcast", 0, {{0}}, 0},
    {"pthread_cond_signal", 0, {{0}}, 0},
    {"pthread_cond_wait", 0, {{0}}, 0},
    {"pthread_create", 1, {WP(0)}, 0},
    {"pthread_detach", 0, {{0}}, 0},
    {"pthread_exit", 0, {{0}}, 0},
    {"pthread_join", 1, {WP(1)}, 0},
    {"pthread_mutex_destroy", 0, {{0}}, 0},
    {"pthread_mutex_init", 0, {{0}}, 0},
    {"pthread_mutex_lock", 0, {{0}}, 0},
    {"pthread_mutex_unlock", 0, {{0}}, 0},
    {"putc", 0, {{0}}, 0},
    {"putchar", 0, {{0}}, 0},
    {"puts", 1, {RT(0)}, 0},
    {"pwrite", 1, {RB(1, 2)}, 0},
    {"qsort", 1, {{SORTS, 0, 1, 2}}, 0},
    {"qsort_r", 1, {{SORTS, 0, 1, 2}}, 0},
    {"quick_exit", 0, {{0}}, DOES_END},
    {"rand", 0, {{0}}, DOES_RANDOM},
    {"random", 0, {{0}}, DOES_RANDOM},
    {"read", 1, {WR(1, -1)}, 0},
    {"realloc", 1, {{MOVES_BLOCK, 0, 1, -1}}, DOES_REALLOCATE},
    {"reallocarray", 1, {{MOVES_BLOCK, 0, 1, 2}}, 0},
    {"realpath", 2, {RT(0), WTI(1)}, 0},
    {"recv", 1, {WR(1, -1)}, 0},
    {"remove", 1, {RT(0)}, 0},
    {"rename", 2, {RT(0), RT(1)}, 0},
    {"rewind", 0, {{0}}, 0},
    {"scanf", 1, {SF(0, 1)}, 0},
    {"send", 1, {RB(1, 2)}, 0},
    {"setbuf", 1, {WU(1)}, 0},
    {"setjmp", 0, {{0}}, 0},
    {"setlocale", 1, {RT(1)}, 0},
    {"setvbuf", 1, {WU(1)}, 0},
    {"siglongjmp", 0, {{0}}, DOES_JUMP},
    {"signal", 0, {{0}}, 0},
    {"snprintf", 2, {PF(2, 3), WTN(0, 1)}, DOES_FORMAT},
    {"sprintf", 2, {PF(1, 2), WT(0)}, DOES_FORMAT},
    {"srand", 0, {{0}}, DOES_RANDOM},
    {"srandom", 0, {{0}}, DOES_RANDOM},
    {"sscanf", 2, {RT(0), SF(1, 2)}, 0},
    {"stpcpy", 2, {RT(1), WT(0)}, DOES_COPY_STRING},
    {"stpncpy", 2, {RTN(1, 2), WB(0, 2)}, 0},
    {"strcasecmp", 2, {RT(0), RT(1)}, 0},
    {"strcat", 3, {RT(0), RT(1), WT(0)}, DOES_APPEND},
    {"strchr", 1, {RT(0)}, 0},
    {"strchrnul", 1, {RT(0)}, 0},
    {"strcmp", 2, {RT(0), RT(1)}, 0},
    {"strcoll", 2, {RT(0), RT(1)}, 0},
    {"strcpy", 2, {RT(1), WT(0)}, DOES_COPY_STRING},
    {"strcspn", 2, {RT(0), RT(1)}, 0},
    {"strdup", 2, {RT(0), NT}, DOES_DUPLICATE},
    {"strerror", 0, {{0}}, 0},
    {"strlen", 1, {RT(0)}, 0},
    {"strncasecmp", 2, {RTN(0, 2), RTN(1, 2)}, 0},
    {"strncat", 3, {RT(0), RTN(1, 2), WT(0)}, DOES_APPEND_COUNTED},
    {"strncmp", 2, {RTN(0, 2), RTN(1, 2)}, 0},
    {"strncpy", 2, {RTN(1, 2), WB(0, 2)}, DOES_COPY_COUNTED},
    {"strndup", 2, {RTN(0, 1), NT}, DOES_DUPLICATE_COUNTED},
    {"strnlen", 1, {RTN(0, 1)}, 0},
    {"strpbrk", 2, {RT(0), RT(1)}, 0},
    {"strrchr", 1, {RT(0)}, 0},
    {"strsep", 3, {RT(1), TOKEN(-1, 0), WP(0)}, DOES_TOKENS_OF},
    {"strspn", 2, {RT(0), RT(1)}, 0},
    {"strstr", 2, {RT(0), RT(1)}, 0},
    {"strtod", 2, {RT(0), WP(1)}, 0},
    {"strtof", 2, {RT(0), WP(1)}, 0},
    {"strtok", 2, {RT(1), TOKEN(0, -1)}, DOES_TOKENS},
    {"strtok_r", 3, {RT(1), TOKEN(0, 2), WP(2)}, DOES_TOKENS_OF},
    {"strtol", 2, {RT(0), WP(1)}, 0},
    {"strtold", 2, {RT(0), WP(1)}, 0},
    {"strtoll", 2, {RT(0), WP(1)}, 0},
    {"strtoul", 2, {RT(0), WP(1)}, 0},
    {"strtoull", 2, {RT(0), WP(1)}, 0},
    {"time", 1, {WP(0)}, 0},
    {"tmpfile", 0, {{0}}, 0},
    {"tolower", 0, {{0}}, 0},
    {"toupper", 0, {{0}}, 0},
    {"ungetc", 0, {{0}}, 0},
    {"unlink", 1, {RT(0)}, 0},
    {"vfprintf", 1, {RT(1)}, 0},
    {"vprintf", 1, {RT(0)}, 0},
    {"vsnprintf", 2, {RT(2), WTN(0, 1)}, 0},
    {"vsprintf", 2, {RT(1), WT(0)}, 0},
    {"write", 1, {RB(1, 2)}, 0},
};

static int by_name(const void *name, const void *call) {
  return strcmp(name, ((const LibraryCall *)call)->name);
}

const LibraryCall *library_call(const char *name) {
  return bsearch(name, calls, sizeof calls / sizeof *calls, sizeof *calls,
                 by_name);
}

// --- arguments --------------------------------------------------------------

static LibraryPointee pointee(PointeeUse use, int size, int factor) {
  return (LibraryPointee){use, (signed char)size, (signed char)factor};
}

// What this effect says of the argument.
static LibraryPointee effect_on(const LibraryEffect *e, int arg) {
  bool here = e->arg == arg;
  switch (e->kind) {
  case READS_TEXT:
    return pointee(here ? POINTEE_TEXT : POINTEE_UNUSED, -1, -1);
  case READS_BYTES:
  case SORTS:
    return pointee(here ? POINTEE_BYTES : POINTEE_UNUSED, e->size, e->factor);
  case PRINTS:
  case SCANS:
    return pointee(here             ? POINTEE_TEXT
                   : arg >= e->size ? POINTEE_UNKNOWN
                                    : POINTEE_UNUSED,
                   -1, -1);
  case RETURNS_TOKEN:
    return pointee(here             ? POINTEE_TEXT
                   : arg == e->size ? POINTEE_UNKNOWN
                                    : POINTEE_UNUSED,
                   -1, -1);
  case RETURNS_BLOCK:
  case RETURNS_ZEROS:
  case RETURNS_TEXT:
  case MOVES_BLOCK:
  case FREES_BLOCK:
    return pointee(POINTEE_UNUSED, -1, -1);
  default:
    return pointee(here ? POINTEE_WRITTEN : POINTEE_UNUSED, -1, -1);
  }
}

// What is read goes before what is written.
static int weight(PointeeUse use) {
  static const int weights[] = {[POINTEE_UNUSED] = 0,
                                [POINTEE_WRITTEN] = 1,
                                [POINTEE_UNKNOWN] = 2,
                                [POINTEE_BYTES] = 3,
                                [POINTEE_TEXT] = 3};
  return weights[use];
}

LibraryPointee library_pointee(const LibraryCall *call, int arg) {
  LibraryPointee all = pointee(POINTEE_UNUSED, -1, -1);
  if (!call || call->does == DOES_SEARCH)
    return pointee(POINTEE_UNKNOWN, -1, -1);
  for (int i = 0; i < call->n; i++) {
    LibraryPointee p = effect_on(&call->effects[i], arg);
    if (weight(p.use) > weight(all.use))
      all = p;
  }
  return all;
}

int library_format(const LibraryCall *call) {
  for (int i = 0; call && i < call->n; i++)
    if (call->effects[i].kind == PRINTS)
      return call->effects[i].arg;
  return -1;
}
