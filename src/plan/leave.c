// Which calls may not return: see leave.h. A function defined in the module
// may leave if it contains a call that may; computed as a fixpoint, starting
// from "none does".
#include "plan/leave.h"

#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/hashmap.h"

// Sorted. Not here: what calls back (qsort, bsearch, atexit), ends the program,
// replaces it (exec*), raises signals, or waits without end by design.
// clang-format off
static const char *const returns[] = {
    "__ctype_b_loc",  "__ctype_tolower_loc", "__ctype_toupper_loc",
    "__errno_location", "__fdelt_chk",       "__fprintf_chk",
    "__memcpy_chk",   "__memmove_chk",       "__memset_chk",
    "__printf_chk",   "__snprintf_chk",      "__sprintf_chk",
    "__stpcpy_chk",   "__strcat_chk",        "__strcpy_chk",
    "__strncat_chk",  "__strncpy_chk",       "__vfprintf_chk",
    "__vsnprintf_chk", "__vsprintf_chk",     "abs",
    "access",         "acos",                "asin",
    "atan",           "atan2",               "atof",
    "atoi",           "atol",                "atoll",
    "calloc",         "ceil",                "clearerr",
    "clock",          "clock_gettime",       "close",
    "cos",            "cosh",                "dup",
    "dup2",           "exp",                 "fabs",
    "fclose",         "feof",                "ferror",
    "fflush",         "fgetc",               "fgets",
    "fileno",         "floor",               "fmod",
    "fopen",          "fprintf",             "fputc",
    "fputs",          "fread",               "free",
    "frexp",          "fscanf",              "fseek",
    "fstat",          "ftell",               "fwrite",
    "getc",           "getchar",             "getcwd",
    "getenv",         "getpid",              "gettimeofday",
    "getuid",         "gmtime",              "isalnum",
    "isalpha",        "isatty",              "iscntrl",
    "isdigit",        "isgraph",             "islower",
    "isprint",        "ispunct",             "isspace",
    "isupper",        "isxdigit",            "labs",
    "ldexp",          "localeconv",          "localtime",
    "log",            "log10",               "log2",
    "lseek",          "malloc",              "memchr",
    "memcmp",         "memcpy",              "memmove",
    "mempcpy",        "memrchr",             "memset",
    "mktime",         "modf",                "nl_langinfo",
    "open",           "perror",              "pow",
    "printf",         "putc",                "putchar",
    "puts",           "rand",                "random",
    "rawmemchr",      "read",                "realloc",
    "remove",         "rename",              "rewind",
    "round",          "scanf",               "setlocale",
    "setvbuf",        "sin",                 "sinh",
    "snprintf",       "sprintf",             "sqrt",
    "srand",          "srandom",             "sscanf",
    "stat",           "stpcpy",              "strcasecmp",
    "strcat",         "strchr",              "strchrnul",
    "strcmp",         "strcoll",             "strcpy",
    "strcspn",        "strdup",              "strerror",
    "strftime",       "strlen",              "strncasecmp",
    "strncat",        "strncmp",             "strncpy",
    "strndup",        "strnlen",             "strpbrk",
    "strrchr",        "strsep",              "strsignal",
    "strspn",         "strstr",              "strtod",
    "strtof",         "strtok",              "strtok_r",
    "strtol",         "strtold",             "strtoll",
    "strtoul",        "strtoull",            "tan",
    "tanh",           "time",                "tolower",
    "toupper",        "trunc",               "ungetc",
    "unlink",         "vfprintf",            "vprintf",
    "vsnprintf",      "vsprintf",            "write",
};
// clang-format on

static int by_name(const void *key, const void *item) {
  return strcmp(key, *(const char *const *)item);
}

bool libc_returns(const char *name) {
  if (!strncmp(name, "__isoc99_", 9) || !strncmp(name, "__isoc23_", 9))
    name += 9;
  return bsearch(name, returns, sizeof returns / sizeof *returns,
                 sizeof *returns, by_name) != NULL;
}

struct Leavers {
  Hashmap functions; // LLVMValueRef -> 1 may leave, 0 returns
};

static bool known_to_leave(const Leavers *l, LLVMValueRef f) {
  uint64_t leaves = 1;
  return !hashmap_get(&l->functions, &f, sizeof f, &leaves) || leaves;
}

bool call_may_leave(const Leavers *l, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (LLVMIsAInlineAsm(callee))
    return false;
  if (!LLVMIsAFunction(callee))
    return true;
  if (LLVMGetIntrinsicID(callee))
    return false;
  size_t n;
  if (LLVMIsDeclaration(callee))
    return !libc_returns(LLVMGetValueName2(callee, &n));
  return known_to_leave(l, callee);
}

static bool function_leaves(const Leavers *l, LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      if ((LLVMIsACallInst(i) || LLVMIsAInvokeInst(i)) && call_may_leave(l, i))
        return true;
  return false;
}

// Another definition may take the place of this one when the program is linked.
static bool replaceable(LLVMValueRef f) {
  LLVMLinkage k = LLVMGetLinkage(f);
  return k == LLVMWeakAnyLinkage || k == LLVMLinkOnceAnyLinkage ||
         k == LLVMAvailableExternallyLinkage || k == LLVMExternalWeakLinkage;
}

Leavers *leavers_new(LLVMModuleRef module) {
  Leavers *l = mem_new(Leavers);
  ARRAY(LLVMValueRef) open = {0};
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) || replaceable(f))
      continue;
    hashmap_put(&l->functions, &f, sizeof f, 0);
    array_push(&open, f);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < open.len; i++) {
      if (known_to_leave(l, open.items[i]) ||
          !function_leaves(l, open.items[i]))
        continue;
      hashmap_put(&l->functions, &open.items[i], sizeof open.items[i], 1);
      changed = true;
    }
  }
  array_release(&open);
  return l;
}

void leavers_free(Leavers *l) {
  hashmap_release(&l->functions);
  free(l);
}
