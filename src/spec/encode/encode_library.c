// The C library in the encoding: memory, strings, characters. Lengths are
// those of the run; that they are is assumed.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "spec/encode/encode_internal.h"

enum { TEXT_MAX = 256, COPY_MAX = 1 << 16 };

typedef struct {
  Encoder *e;
  const IrInst *inst;
  const IrCall *call; // NULL: an instruction, without result
  const Val *args;
  bool off;
  Pmap *state;
} Use;

typedef void LibraryFunction(Use *m);

// --- small things -----------------------------------------------------------

static void result(Use *m, Val v) {
  Encoder *e = m->e;
  if (!m->call || !m->call->nscalars)
    return;
  unsigned width =
      e->target.program->scalars.items[m->call->first_scalar].width;
  if (width)
    encode_set(e, m->state, m->call->dst, val_resize(&e->values, v, width));
}

static Val number(Use *m, unsigned width, uint64_t v) {
  return val_const(&m->e->values, width, v);
}

// What it is in the run; that it is so is assumed.
static uint64_t fixed(Use *m, Val v) {
  Encoder *e = m->e;
  uint64_t now = val_in_run(&e->values, v);
  Expr x = val_expr(&e->values, v);
  Expr is =
      expr_eq(e->pool, x, expr_const(e->pool, expr_width(e->pool, x), now));
  *m->state = encode_assume_not(e, *m->state, expr_not(e->pool, is));
  return now;
}

static Val plus(Use *m, Val at, uint64_t n) {
  const IrInst add = {.op = IR_ADD, .width = 64};
  return val_apply(&m->e->values, &add, at, number(m, 64, n), 0);
}

static uint64_t site(const Use *m) {
  return (uint64_t)(m->inst - m->e->target.program->insts.items);
}

static Expr byte_at(Use *m, Val at, uint64_t i) {
  return val_expr(&m->e->values, encode_load(m->e, m->state, plus(m, at, i), 8,
                                             false, site(m)));
}

// Writes a byte, or anything if the call is off.
static void put(Use *m, Val at, uint64_t i, Val v) {
  if (m->off)
    v = encode_any(m->e, v, false, 0, 0);
  encode_store(m->e, m->state, plus(m, at, i), v, false, site(m));
}

// --- the heap ---------------------------------------------------------------

static void allocate(Use *m, uint64_t n, bool zero) {
  uint64_t at = memory_new_heap(&m->e->memory, n < COPY_MAX ? n : COPY_MAX,
                                zero, encode_site_key(m->e, m->inst));
  result(m, number(m, 64, at));
}

static void model_malloc(Use *m) { allocate(m, fixed(m, m->args[0]), false); }

static void model_calloc(Use *m) {
  uint64_t n = fixed(m, m->args[0]), size = fixed(m, m->args[1]);
  allocate(m, size && n > COPY_MAX / size ? COPY_MAX : n * size, true);
}

static void model_realloc(Use *m) {
  uint64_t old = fixed(m, m->args[0]), n = fixed(m, m->args[1]);
  uint64_t new = memory_new_heap(&m->e->memory, n < COPY_MAX ? n : COPY_MAX,
                                 false, encode_site_key(m->e, m->inst));
  const NewObject *r = memory_region(&m->e->memory, old);
  uint64_t copied = r && r->size < n ? r->size : n;
  if (old && copied < COPY_MAX)
    *m->state = memory_copy(&m->e->memory, *m->state, new, old, copied);
  result(m, number(m, 64, new));
}

static void model_nothing(Use *m) { result(m, number(m, 64, 0)); }

static void model_dead(Use *m) {
  *m->state = encode_assume_not(m->e, *m->state, expr_bool(m->e->pool, true));
}

// --- copying ----------------------------------------------------------------

static bool is_single(const Use *m, Val at, uint64_t *out) {
  return val_is_const(&m->e->values, at, out);
}

// Cell by cell between fixed places, byte by byte otherwise.
static void copy(Use *m, Val to, Val from, uint64_t n) {
  uint64_t a, b;
  if (!m->off && is_single(m, to, &a) && is_single(m, from, &b)) {
    *m->state = memory_copy(&m->e->memory, *m->state, a, b, n);
    return;
  }
  uint64_t at = val_in_run(&m->e->values, to);
  if (n % 8 == 0 && at % 8 == 0) { // fields, as far as they are known
    for (uint64_t i = 0; i < n; i += 8) {
      Val v = encode_load(m->e, m->state, plus(m, from, i), 64, true, site(m));
      if (m->off)
        v = encode_any(m->e, v, false, site(m), at + i);
      encode_store(m->e, m->state, plus(m, to, i), v, false, site(m));
    }
  } else {
    Val *bytes = mem_array(Val, n + 1);
    for (uint64_t i = 0; i < n; i++)
      bytes[i] = val_of(&m->e->values, byte_at(m, from, i));
    for (uint64_t i = 0; i < n; i++)
      put(m, to, i, bytes[i]);
    free(bytes);
  }
}

static void model_copy(Use *m) {
  uint64_t n = fixed(m, m->args[2]);
  if (n <= COPY_MAX)
    copy(m, m->args[0], m->args[1], n);
  result(m, m->args[0]);
}

static void model_memset(Use *m) {
  uint64_t n = fixed(m, m->args[2]), byte, at;
  Val v = val_resize(&m->e->values, m->args[1], 8);
  bool plain = !m->off && val_is_const(&m->e->values, v, &byte) &&
               is_single(m, m->args[0], &at) && at % 8 == 0;
  for (uint64_t i = 0; i < n && i < COPY_MAX;) {
    bool word = plain && n - i >= 8;
    if (word)
      *m->state = memory_store(&m->e->memory, *m->state, at + i,
                               number(m, 64, byte * 0x0101010101010101ull));
    else
      put(m, m->args[0], i, v);
    i += word ? 8 : 1;
  }
  result(m, m->args[0]);
}

// --- strings ----------------------------------------------------------------

static bool is_false(const Use *m, Expr c) {
  return expr_is_const(m->e->pool, c) && !expr_value(m->e->pool, c);
}

// The length: each byte is looked at as long as it may be reached.
static Expr length(Use *m, Val s, uint64_t most) {
  ExprPool *p = m->e->pool;
  Expr goes_on = expr_bool(p, true), n = expr_const(p, 64, 0);
  uint64_t after = 0; // the end in the run
  for (uint64_t i = 0; i < most && !is_false(m, goes_on) && after < 2; i++) {
    Expr more = expr_ne(p, byte_at(m, s, i), expr_const(p, 8, 0));
    goes_on = expr_and(p, goes_on, more);
    n = expr_ite(p, goes_on, expr_const(p, 64, i + 1), n);
    after += !expr_value(p, goes_on);
  }
  if (most >= TEXT_MAX) // longer ones are assumed not to occur
    *m->state = encode_assume_not(m->e, *m->state, goes_on);
  return n;
}

static void model_strlen(Use *m) {
  result(m, val_of(&m->e->values, length(m, m->args[0], TEXT_MAX)));
}

// -1, 0, 1, as far as `most` bytes go; `text`: a NUL ends both.
static void compare(Use *m, uint64_t most, bool text) {
  ExprPool *p = m->e->pool;
  Expr same = expr_bool(p, true), order = expr_const(p, 32, 0);
  uint64_t after = 0;
  for (uint64_t i = 0; i < most && !is_false(m, same) && after < 2; i++) {
    Expr a = byte_at(m, m->args[0], i), b = byte_at(m, m->args[1], i);
    Expr less = expr_ite(p, expr_ult(p, a, b), expr_const(p, 32, ~0ull),
                         expr_const(p, 32, 1));
    Expr differ = expr_ne(p, a, b);
    order = expr_ite(p, expr_and(p, same, differ), less, order);
    same = expr_and(p, same, expr_not(p, differ));
    if (text)
      same = expr_and(p, same, expr_ne(p, a, expr_const(p, 8, 0)));
    after += !expr_value(p, same);
  }
  if (after >= 2 || most >= TEXT_MAX)
    *m->state = encode_assume_not(m->e, *m->state, same);
  result(m, val_of(&m->e->values, order));
}

static void model_strcmp(Use *m) { compare(m, TEXT_MAX, true); }

static void model_strncmp(Use *m) {
  uint64_t n = fixed(m, m->args[2]);
  compare(m, n < TEXT_MAX ? n : TEXT_MAX, true);
}

static void model_memcmp(Use *m) {
  uint64_t n = fixed(m, m->args[2]);
  compare(m, n < TEXT_MAX ? n : TEXT_MAX, false);
}

static void model_strcpy(Use *m) {
  Val n = val_of(&m->e->values, length(m, m->args[1], TEXT_MAX));
  copy(m, m->args[0], m->args[1], fixed(m, n) + 1);
  result(m, m->args[0]);
}

static void model_strchr(Use *m) {
  ExprPool *p = m->e->pool;
  ValPool *v = &m->e->values;
  Expr wanted = val_expr(v, val_resize(v, m->args[1], 8));
  Expr searching = expr_bool(p, true);
  Val found = number(m, 64, 0);
  uint64_t after = 0;
  for (uint64_t i = 0; i < TEXT_MAX && !is_false(m, searching) && after < 2;
       i++) {
    Expr b = byte_at(m, m->args[0], i);
    Expr here = expr_and(p, searching, expr_eq(p, b, wanted));
    found = val_ite(v, here, plus(m, m->args[0], i), found);
    searching = expr_and(p, searching, expr_not(p, here));
    searching = expr_and(p, searching, expr_ne(p, b, expr_const(p, 8, 0)));
    after += !expr_value(p, searching);
  }
  *m->state = encode_assume_not(m->e, *m->state, searching);
  result(m, val_pointer(v, found));
}

// --- characters -------------------------------------------------------------

// The tables behind the macros of ctype.h: ours are those of any C locale.
static void table(Use *m, const void *content, size_t size, uint64_t maker) {
  Memory *mem = &m->e->memory;
  uint64_t at = memory_new_heap(mem, size, false, maker);
  uint64_t pointer = memory_new_heap(mem, 8, false, maker + 1);
  ((NewObject *)memory_region(mem, at))->content = content;
  unsigned char *bytes = arena_alloc(&m->e->arena, 8);
  uint64_t middle = at + 128 * (size / 384);
  memcpy(bytes, &middle, sizeof middle);
  ((NewObject *)memory_region(mem, pointer))->content = bytes;
  result(m, number(m, 64, pointer));
}

static void model_ctype_b(Use *m) {
  table(m, *__ctype_b_loc() - 128, 384 * 2, 1ull << 40);
}

static void model_ctype_lower(Use *m) {
  table(m, *__ctype_tolower_loc() - 128, 384 * 4, 1ull << 41);
}

static void model_ctype_upper(Use *m) {
  table(m, *__ctype_toupper_loc() - 128, 384 * 4, 1ull << 42);
}

static void by_table(Use *m, int f(int)) {
  ExprPool *p = m->e->pool;
  uint64_t entries[256];
  for (int c = 0; c < 256; c++)
    entries[c] = (uint32_t)f(c);
  Expr c = val_expr(&m->e->values, val_resize(&m->e->values, m->args[0], 8));
  result(m, val_of(&m->e->values,
                   expr_table(p, expr_new_table(p, 32, entries, 256), c)));
}

#define CTYPE(name)                                                            \
  static void model_##name(Use *m) { by_table(m, name); }
CTYPE(isalnum)
CTYPE(isalpha)
CTYPE(isdigit)
CTYPE(islower)
CTYPE(isupper)
CTYPE(isspace)
CTYPE(ispunct)
CTYPE(isprint)
CTYPE(isxdigit)
CTYPE(iscntrl)
CTYPE(isgraph)
CTYPE(tolower)
CTYPE(toupper)
#undef CTYPE

static void model_abs(Use *m) {
  ExprPool *p = m->e->pool;
  Expr x = val_expr(&m->e->values, m->args[0]);
  Expr zero = expr_const(p, expr_width(p, x), 0);
  result(m, val_of(&m->e->values,
                   expr_ite(p, expr_slt(p, x, zero), expr_neg(p, x), x)));
}

// --- the table --------------------------------------------------------------

static const struct {
  const char *name;
  LibraryFunction *model;
} library[] = {
    {"malloc", model_malloc},
    {"calloc", model_calloc},
    {"realloc", model_realloc},
    {"free", model_nothing},
    {"abort", model_dead},
    {"exit", model_dead},
    {"_exit", model_dead},
    {"__assert_fail", model_dead},
    {"memcpy", model_copy},
    {"memmove", model_copy},
    {"memset", model_memset},
    {"memcmp", model_memcmp},
    {"strlen", model_strlen},
    {"strcmp", model_strcmp},
    {"strncmp", model_strncmp},
    {"strcpy", model_strcpy},
    {"strchr", model_strchr},
    {"__ctype_b_loc", model_ctype_b},
    {"__ctype_tolower_loc", model_ctype_lower},
    {"__ctype_toupper_loc", model_ctype_upper},
    {"isalnum", model_isalnum},
    {"isalpha", model_isalpha},
    {"isdigit", model_isdigit},
    {"islower", model_islower},
    {"isupper", model_isupper},
    {"isspace", model_isspace},
    {"ispunct", model_ispunct},
    {"isprint", model_isprint},
    {"isxdigit", model_isxdigit},
    {"iscntrl", model_iscntrl},
    {"isgraph", model_isgraph},
    {"tolower", model_tolower},
    {"toupper", model_toupper},
    {"abs", model_abs},
    {"labs", model_abs},
    // Printing changes nothing here.
    {"printf", model_nothing},
    {"fprintf", model_nothing},
    {"puts", model_nothing},
    {"putchar", model_nothing},
    {"fputs", model_nothing},
    {"fputc", model_nothing},
    {"putc", model_nothing},
    {"fflush", model_nothing},
    {"perror", model_nothing},
    // Variables of a call stay until its end.
    {"llvm.stacksave.p0", model_nothing},
    {"llvm.stackrestore.p0", model_nothing},
};

bool encode_library(Encoder *e, const char *name, const IrInst *i,
                    const IrCall *c, const Val *args, bool off, Pmap *state) {
  Use m = {e, i, c, args, off, state};
  for (size_t k = 0; k < sizeof library / sizeof *library; k++)
    if (!strcmp(library[k].name, name)) {
      library[k].model(&m);
      return true;
    }
  return false;
}
