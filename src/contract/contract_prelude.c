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
    "-Wincompatible-pointer-types-discards-qualifiers"};

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
