// What surrounds the generated code: see contract_prelude.h.
#include "contract/contract_prelude.h"

static const char *const quiet[] = {
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wsign-compare",
    "-Wunused",
    "-Wdeclaration-after-statement",
    "-Wcast-qual",
    "-Wcomma",
    "-Wextra-semi-stmt",
    "-Wgnu",
    "-Wundef",
    "-Wreserved-identifier",
    "-Wbad-function-cast",
    "-Wfloat-equal",
    "-Wlanguage-extension-token",
    "-Wdeprecated-declarations",
    "-Wmissing-noreturn",
    "-Wdouble-promotion",
    "-Wpadded",
    "-Wstatic-in-inline",
    "-Wincompatible-pointer-types-discards-qualifiers",
    "-Wdangling-else",
    "-Wtautological-compare",
    "-Wparentheses",
    "-Wbool-conversion",
    "-Wvariadic-macros"};

void contract_hush(Str *out) {
  str_add(out, "\n#pragma clang diagnostic push\n");
  for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
    str_addf(out, "#pragma clang diagnostic ignored \"%s\"\n", quiet[i]);
  str_add(out, "#pragma clang diagnostic error "
               "\"-Wimplicit-function-declaration\"\n");
}

void contract_unhush(Str *out) {
  str_add(out, "\n#pragma clang diagnostic pop\n");
}

// The functions declared first are in runtime/contract_checks.c.
const char contract_prelude[] =
    "#ifndef __CULPRIT_PRELUDE\n"
    "#define __CULPRIT_PRELUDE\n"
    "struct __culprit_call { unsigned long *calls, number, broken[4]; };\n"
    "struct __culprit_active {\n"
    "  const void *table;\n"
    "  struct __culprit_call *call;\n"
    "  void *outer;\n"
    "  unsigned long seal;\n"
    "  const void *pre;\n"
    "  void *marks;\n"
    "  unsigned long assumed;\n"
    "};\n"
    "extern void __culprit_contract_push(struct __culprit_active *);\n"
    "extern void __culprit_contract_pop(struct __culprit_active *);\n"
    "extern int __culprit_contract_on(void);\n"
    "extern int __culprit_contract_begin(const void *, void *, unsigned long,\n"
    "                                    struct __culprit_call *);\n"
    "extern int __culprit_contract_enter(const void *,\n"
    "                                    struct __culprit_call *);\n"
    "extern int __culprit_asks(const void *, unsigned);\n"
    "extern void __culprit_clause(const void *, unsigned, int,\n"
    "                             struct __culprit_call *);\n"
    "extern void __culprit_contract_end(const void *,\n"
    "                                   struct __culprit_call *);\n"
    "extern void __culprit_assert(const void *, unsigned, int);\n"
    "extern int __culprit_valid(const void *, unsigned long, long, long);\n"
    "struct __culprit_state { unsigned long words[400]; };\n"
    "struct __culprit_span { const char *at; unsigned long size; };\n"
    "extern void __culprit_unknown(void);\n"
    "extern int __culprit_step(void);\n"
    "extern void __culprit_state_open(struct __culprit_state *);\n"
    "extern int __culprit_state_wanted(unsigned long);\n"
    "extern void __culprit_state_add(struct __culprit_state *, const void *,\n"
    "                                unsigned long);\n"
    "extern void __culprit_state_near(struct __culprit_state *, const void "
    "*);\n"
    "extern void __culprit_state_close(struct __culprit_state *);\n"
    "extern void *__culprit_at(const void *, const void *, unsigned long);\n"
    "extern int __culprit_unchanged(const struct __culprit_state *,\n"
    "                               const struct __culprit_span *,\n"
    "                               unsigned long);\n"
    "extern int __culprit_separated(const struct __culprit_span *,\n"
    "                               unsigned long);\n"
    "extern int __culprit_mark(const char *, unsigned, int, ...);\n"
    "extern const void *__culprit_label(const char *, unsigned);\n"
    "extern int __culprit_assumed(const char *, unsigned);\n"
    "extern int __culprit_variant(const char *, unsigned, long long);\n"
    "struct __culprit_search {\n"
    "  long long value, *values, *slots;\n"
    "  unsigned long n, next;\n"
    "  void *outer;\n"
    "};\n"
    "extern void __culprit_search_open(struct __culprit_search *);\n"
    "extern void __culprit_search_close(struct __culprit_search *);\n"
    "extern int __culprit_search_next(struct __culprit_search *);\n"
    "extern void __culprit_met(long long);\n"
    "static " CONTRACT_OWN "long long __culprit_big(unsigned long a) {\n"
    "  if (a >> 63) __culprit_unknown();\n"
    "  return (long long)a;\n"
    "}\n"
    "static " CONTRACT_OWN
    "long long __culprit_add(long long a, long long b) {\n"
    "  long long r;\n"
    "  if (__builtin_add_overflow(a, b, &r)) __culprit_unknown();\n"
    "  return r;\n"
    "}\n"
    "static " CONTRACT_OWN
    "long long __culprit_sub(long long a, long long b) {\n"
    "  long long r;\n"
    "  if (__builtin_sub_overflow(a, b, &r)) __culprit_unknown();\n"
    "  return r;\n"
    "}\n"
    "static " CONTRACT_OWN
    "long long __culprit_mul(long long a, long long b) {\n"
    "  long long r;\n"
    "  if (__builtin_mul_overflow(a, b, &r)) __culprit_unknown();\n"
    "  return r;\n"
    "}\n"
    // The remainder has the sign of the dividend in ACSL, as in C.
    "static " CONTRACT_OWN
    "long long __culprit_div(long long a, long long b) {\n"
    "  if (b == 0 || (b == -1 && a < -__LONG_LONG_MAX__)) {\n"
    "    __culprit_unknown();\n"
    "    return 0;\n"
    "  }\n"
    "  return a / b;\n"
    "}\n"
    "static " CONTRACT_OWN
    "long long __culprit_mod(long long a, long long b) {\n"
    "  if (b == 0) __culprit_unknown();\n"
    "  return b == 0 || b == -1 ? 0 : a % b;\n"
    "}\n"
    "#define __CULPRIT_WIDE(x) _Generic((x), \\\n"
    "  unsigned long: __culprit_big((unsigned long)(x)), \\\n"
    "  unsigned long long: __culprit_big((unsigned long)(x)), \\\n"
    "  default: (long long)(x))\n"
    "#define __CULPRIT_OP(f, plain) \\\n"
    "  __builtin_choose_expr(__builtin_classify_type(__culprit_a) == 1 && \\\n"
    "    __builtin_classify_type(__culprit_b) == 1, \\\n"
    "    f(__CULPRIT_WIDE(__culprit_a), __CULPRIT_WIDE(__culprit_b)), plain)\n"
    "#define __CULPRIT_ADD \\\n"
    "  __CULPRIT_OP(__culprit_add, __culprit_a + __culprit_b)\n"
    "#define __CULPRIT_SUB \\\n"
    "  __CULPRIT_OP(__culprit_sub, __culprit_a - __culprit_b)\n"
    "#define __CULPRIT_MUL \\\n"
    "  __CULPRIT_OP(__culprit_mul, __culprit_a * __culprit_b)\n"
    "#define __CULPRIT_DIV \\\n"
    "  __CULPRIT_OP(__culprit_div, __culprit_a / __culprit_b)\n"
    "#define __CULPRIT_MOD __culprit_mod(__CULPRIT_WIDE(__culprit_a), \\\n"
    "  __CULPRIT_WIDE(__culprit_b))\n"
    "#define __CULPRIT_READ(state) __builtin_choose_expr( \\\n"
    "  __builtin_types_compatible_p(__typeof__(*__culprit_p), \\\n"
    "    __typeof__(((void)0, *__culprit_p))), \\\n"
    "  *((state) ? (__typeof__(__culprit_p))__culprit_at(state, __culprit_p, "
    "\\\n"
    "    sizeof *__culprit_p) : __culprit_p), *__culprit_p)\n"
    "static " CONTRACT_OWN "struct __culprit_span __culprit_span_of(\n"
    "    const volatile void *p, unsigned long size, long long low,\n"
    "    long long high) {\n"
    "  struct __culprit_span s = {(const char *)p + low * (long long)size,\n"
    "    low > high ? 0 : (unsigned long)(high - low + 1) * size};\n"
    "  return s;\n"
    "}\n"
    "static " CONTRACT_OWN
    "int __culprit_valid_span(struct __culprit_span s) {\n"
    "  return s.size == 0 || __culprit_valid(s.at, s.size, 0, 0);\n"
    "}\n"
    "struct __culprit_set {\n"
    "  void **items, *few[256];\n"
    "  long n, room;\n"
    "};\n"
    "extern void __culprit_set_grow(struct __culprit_set *);\n"
    "extern void __culprit_set_give_back(struct __culprit_set *);\n"
    "static " CONTRACT_OWN
    "int __culprit_set_has(const struct __culprit_set *s,\n"
    "                                     const void *p) {\n"
    "  int found = 0;\n"
    "  for (long i = 0; i < s->n; i++) found |= s->items[i] == p;\n"
    "  return found;\n"
    "}\n"
    "static " CONTRACT_OWN "void __culprit_set_add(struct __culprit_set *s,\n"
    "                                      const void *p) {\n"
    "  if (!p || __culprit_set_has(s, p)) return;\n"
    "  if (s->n == s->room) __culprit_set_grow(s);\n"
    "  s->items[s->n++] = (void *)p;\n"
    "}\n"
    "static " CONTRACT_OWN "void __culprit_set_open(struct __culprit_set *s,\n"
    "                                       const void *p) {\n"
    "  s->items = s->few;\n"
    "  s->n = 0;\n"
    "  s->room = 256;\n"
    "  __culprit_set_add(s, p);\n"
    "}\n"
    "static " CONTRACT_OWN
    "void __culprit_set_close(struct __culprit_set *s) {\n"
    "  if (s->room > 256) __culprit_set_give_back(s);\n"
    "}\n"
    "static " CONTRACT_OWN "int __culprit_set_disjoint(\n"
    "    const struct __culprit_set *a, const struct __culprit_set *b) {\n"
    "  int common = 0;\n"
    "  for (long i = 0; i < a->n; i++)\n"
    "    common |= __culprit_set_has(b, a->items[i]);\n"
    "  return !common;\n"
    "}\n"
    "#endif\n";
