// Contracts: from comments to C, tables, records, snapshots.
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contract/contract.h"
#include "oracle/contract_failures.h"
#include "php/record/php_record.h"
#include "program/contract_table.h"
#include "replay/trace.h"
#include "spec/call_snapshot.h"
#include "util/fs.h"

// --- helpers ----------------------------------------------------------------

typedef struct {
  ContractUnit unit;
  Str text; // rewritten
} Rewritten;

static ContractSource *scanned(const char *source) {
  Str text = {0};
  str_add(&text, source);
  ContractSource *s = mem_new(ContractSource);
  contract_scan(s, "t.c", &text);
  return s;
}

static Rewritten rewritten(const char *source) {
  Rewritten r = {0};
  contract_unit_add(&r.unit, scanned(source));
  contract_unit_rewrite(&r.unit, 0, &r.text);
  return r;
}

static void release(Rewritten *r) {
  contract_unit_release(&r->unit);
  str_release(&r->text);
}

// The text without the lines that only say where it stands, blanks as one.
static char *squeezed(const char *text) {
  Str out = {0};
  while (*text) {
    size_t n = strcspn(text, "\n");
    if (*text != '#')
      for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' || (out.len && out.data[out.len - 1] != ' '))
          str_addc(&out, text[i]);
    text += n + (text[n] == '\n');
  }
  return out.len ? str_take(&out) : mem_strdup("");
}

// The C of one clause `ensures TEXT` of f(int *a, int n), or the first message.
static char *translated(const char *clause) {
  char *source = mem_printf("/*@ ensures x: %s; */\n"
                            "int f(int *a, int n) { return 0; }\n",
                            clause);
  Rewritten r = rewritten(source);
  const ContractSource *s = r.unit.sources.items[0];
  char *result;
  if (s->diags.len) {
    result =
        mem_printf("%u: %s", s->diags.items[0].col, s->diags.items[0].text);
  } else {
    char *all = squeezed(str_text(&r.text));
    const char *from = strstr(all, "__culprit_clause(&__culprit_promise_f");
    assert_non_null(from);
    from = strstr(from, "!!") + 2;
    const char *end = strstr(from, ", &__culprit_call)");
    assert_non_null(end);
    result = mem_printf("%.*s", (int)(end - from), from);
    free(all);
  }
  release(&r);
  free(source);
  return result;
}

static void becomes(const char *clause, const char *c) {
  char *got = translated(clause);
  Str a = {0}, b = {0};
  for (const char *p = got; *p; p++)
    if (*p != ' ')
      str_addc(&a, *p);
  for (const char *p = c; *p; p++)
    if (*p != ' ')
      str_addc(&b, *p);
  assert_string_equal(str_text(&a), str_text(&b));
  str_release(&a);
  str_release(&b);
  free(got);
}

static void is_refused(const char *clause, const char *message) {
  char *got = translated(clause);
  if (!strstr(got, message))
    fail_msg("%s: %s, expected %s", clause, got, message);
  free(got);
}

// --- expressions ------------------------------------------------------------

TEST(operators_of_c_keep_their_text) {
  becomes("(n & 3) == a[n] << 2", "(({__auto_type __culprit_a = ((n & 3));"
                                  "__auto_type __culprit_b = (a[n] << 2);"
                                  "((__culprit_a < 0) == (__culprit_b < 0) && "
                                  "__culprit_a == __culprit_b); }))");
}

TEST(sums_are_those_of_integers) {
  becomes("n + 1 == 5", "((({__auto_type __culprit_a = n; __auto_type "
                        "__culprit_b = 1; __CULPRIT_ADD; }) == 5))");
}

TEST(implication_binds_weaker_than_or_and_to_the_right) {
  becomes("n ==> a ==> n", "(!n || (!a || n))");
  becomes("n || a ==> n", "(!(n || a) || n)");
}

TEST(equivalence_and_exclusive_or_compare_truths) {
  becomes("n <==> a", "(!n == !a)");
  becomes("n ^^ a", "(!n != !a)");
}

TEST(a_chain_of_comparisons_is_a_conjunction) {
  becomes("0 <= n < 9", "((0 <= n) && (n < 9))");
  becomes("1 == n == 2", "((1 == n) && (n == 2))");
  is_refused("0 < n > 1", "no chain");
  is_refused("0 != n != 1", "no chain");
}

TEST(old_values_are_kept_before_the_call) {
  Rewritten r = rewritten("/*@ ensures x: n ==> \\old(*a) == *a; */\n"
                          "int f(int *a, int n) { return 0; }\n");
  char *all = squeezed(str_text(&r.text));
  const char *kept = strstr(all, "__culprit_old_0 = {0}; if (1 && n)");
  const char *call = strstr(all, "__culprit_result = f(a, n);");
  assert_non_null(kept); // n does not change: it tells when *a is needed
  assert_non_null(call);
  assert_true(kept < call);
  free(all);
  release(&r);
}

TEST(quantifiers_become_loops_over_their_range) {
  char *c = translated("\\forall integer i; 0 <= i < n ==> a[i] > 0");
  assert_non_null(strstr(c, "for ( long long i = 0;"));
  assert_non_null(strstr(c, "i < __culprit_end_"));
  free(c);
  c = translated("\\exists integer i; n > i && i > 2 && a[i]");
  assert_non_null(strstr(c, "i = 2 + 1;"));
  free(c);
  is_refused("\\forall integer i; a[i] > 0", "range of this variable");
  is_refused("\\forall integer i; 0 <= i ==> a[i] > 0", "range");
  is_refused("\\forall i; 0 <= i < n ==> a[i]", "expected a type and a name");
}

TEST(ranges_of_later_variables_may_use_earlier_ones_only) {
  char *c = translated("\\forall integer i, j; 0 <= i < j < n ==> a[i] < a[j]");
  // i ends at n (not at j), j begins behind i.
  assert_non_null(strstr(c, "__culprit_end_2 = n"));
  assert_non_null(strstr(c, "j = i + 1"));
  free(c);
}

TEST(side_effects_are_refused) {
  is_refused("n++", "must not change");
  is_refused("--n > 0", "must not change");
  is_refused("n = 1", "must not change");
  is_refused("f(a, n += 2)", "must not change");
}

TEST(wrong_expressions_are_refused_where_they_are_wrong) {
  is_refused("n ==", "expected an expression");
  is_refused("(n", "expected ')'");
  is_refused("a[n", "expected ']'");
  is_refused("a->", "name of a field");
  is_refused("\\reach(a, next)", "a set has no value");
  is_refused("\\size(a)", "expected a set");
  is_refused("(0 .. n)", "range");
  is_refused("\\strange(n)", "not supported");
}

TEST(deep_nesting_is_refused_not_followed) {
  Str deep = {0};
  for (int i = 0; i < 100000; i++)
    str_addc(&deep, '(');
  char *got = translated(str_text(&deep));
  assert_non_null(strstr(got, "nested too deeply"));
  free(got);
  str_release(&deep);
}

// --- sources ----------------------------------------------------------------

TEST(comments_of_others_are_left_alone) {
  ContractSource *s = scanned("/*@null@*/ int *p;\n/*@{*/ int q; /*@}*/\n"
                              "char *t = \"/*@ ensures x; */\";\n"
                              "// /*@ ensures y; */\n");
  for (size_t i = 0; i < s->annotations.len; i++)
    assert_int_equal(s->annotations.items[i].kind, ANNOTATION_NONE);
  assert_int_equal(s->diags.len, 0);
  contract_source_release(s);
  free(s);
}

TEST(functions_are_found_by_their_heads) {
  ContractSource *s = scanned(
      "struct S { int x; } s = {1};\n"
      "int t[] = {1, 2};\n"
      "__attribute__((noinline)) static const char *\n"
      "first(int a, char (*b)[3], void (*c)(int)) { if (a) { } return 0; }\n"
      "MACRO(x) int second(void)\n{\n#if A\n  if (1) {\n#else\n  {\n#endif\n"
      "  }\n}\nint third(void) { return 1; }\n");
  assert_int_equal(s->heads.len, 3);
  const char *names[] = {"first", "second", "third"};
  for (int i = 0; i < 3; i++)
    assert_true(token_is(str_text(&s->text),
                         &s->tokens.items[s->heads.items[i].name], names[i]));
  contract_source_release(s);
  free(s);
}

TEST(parameters_of_every_kind_are_passed_on) {
  Rewritten r = rewritten(
      "/*@ ensures x: 1; */\n"
      "void f(const int a[3], int (*g)(int, int), struct S *p) { }\n");
  assert_int_equal(r.unit.sources.items[0]->diags.len, 0);
  assert_non_null(strstr(str_text(&r.text), "f(a, g, p);"));
  release(&r);
}

TEST(functions_that_cannot_be_wrapped_are_refused) {
  const char *heads[] = {"int f(int n, ...)", "int f(int)",
                         "int (*f(int n))(void)"};
  for (int i = 0; i < 3; i++) {
    char *source =
        mem_printf("/*@ ensures x: 1; */\n%s { return 0; }\n", heads[i]);
    Rewritten r = rewritten(source);
    assert_int_equal(r.unit.sources.items[0]->diags.len, 1);
    release(&r);
    free(source);
  }
}

TEST(a_contract_without_a_function_is_refused) {
  ContractSource *s = scanned("/*@ ensures x: 1; */\nint v;\n");
  assert_int_equal(s->diags.len, 1);
  contract_source_release(s);
  free(s);
  s = scanned("/*@ assert 1; */\n");
  assert_int_equal(s->diags.len, 1);
  contract_source_release(s);
  free(s);
}

TEST(text_outside_contracts_is_untouched) {
  const char *source = "int a;\n\tint  b; /*@ ensures x: 1; */ int f(void) {\n"
                       "\treturn /* c */ 1; }\nint c;";
  Rewritten r = rewritten(source);
  const char *text = str_text(&r.text);
  assert_non_null(strstr(text, "#line 1\nint a;\n\tint  b; \n"));
  assert_non_null(
      strstr(text, "#line 2\n\t                             int f(void"));
  assert_non_null(strstr(text, ") {\n\treturn /* c */ 1; }\nint c;"));
  release(&r);
}

// --- fuzzing ----------------------------------------------------------------

static uint64_t seed = 88172645463325252u;
static uint32_t below(uint32_t n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 11) % n;
}

static const char *const pieces[] = {
    "/*@",        "*/",        "//@",        "\n",
    " ",          "ensures",   "requires",   "assert",
    "loop",       "invariant", "behavior",   "assumes",
    "predicate",  "logic",     "integer",    "x",
    ":",          ";",         "(",          ")",
    "{",          "}",         "[",          "]",
    "\\old",      "\\result",  "\\forall",   "\\exists",
    "\\let",      "\\valid",   "\\reach",    "\\in",
    "\\size",     "\\acyclic", "\\disjoint", "==>",
    "<==>",       "^^",        "&&",         "||",
    "<=",         "<",         "==",         "=",
    "++",         "..",        "?",          ",",
    "*",          "->",        ".",          "int f(int *a, int n)",
    "while",      "for",       "do",         "#if 0\n",
    "\n#endif\n", "\n#else\n", "\"",         "'",
    "\\",         "0",         "1.5",        "sizeof",
    "(int *)",    "\xff",      "@"};

TEST(any_text_is_read_without_harm) {
  for (int round = 0; round < 3000; round++) {
    Str source = {0};
    for (uint32_t n = below(60); n; n--) {
      str_add(&source, pieces[below(sizeof pieces / sizeof *pieces)]);
      if (below(3))
        str_addc(&source, ' ');
    }
    Rewritten r = rewritten(str_text(&source));
    release(&r);
    str_release(&source);
  }
}

TEST(right_contracts_with_wrong_bytes_are_read_without_harm) {
  static const char right[] =
      "/*@ predicate p(int *a, integer n) = \\forall integer i; 0 <= i < n ==> "
      "a[i] <= \\max(n, 3); */\n/*@ requires ok: p(a, n) && \\valid(a + (0 .. "
      "n)); behavior b: assumes n > 0; ensures r: \\old(a[0]) == \\result <==> "
      "a \\in \\reach(a, next); */\nint f(int *a, int n) {\n  /*@ loop "
      "invariant x: n >= 0; */\n  for (;;) { }\n  //@ assert a;\n}\n";
  for (int round = 0; round < 3000; round++) {
    char text[sizeof right];
    memcpy(text, right, sizeof right);
    for (uint32_t n = below(4) + 1; n; n--)
      text[below(sizeof right - 1)] =
          below(2) ? (char)below(256) : "(){};\\*/@"[below(9)];
    size_t cut = below(4) ? sizeof right - 1 : below(sizeof right - 1);
    Str source = {0};
    str_addn(&source, text, cut);
    ContractSource *s = mem_new(ContractSource);
    contract_scan(s, "t.c", &source);
    Rewritten r = {0};
    contract_unit_add(&r.unit, s);
    contract_unit_rewrite(&r.unit, 0, &r.text);
    release(&r);
  }
}

// --- messages ---------------------------------------------------------------

TEST(what_clang_says_about_a_contract_shows_its_own_line) {
  Contracts c = {0};
  contract_unit_add(&c.unit, scanned("int g;\n/*@ ensures x: l->siz; */\n"
                                     "int f(void) { return 0; }\n"));
  Str out = {0};
  contracts_translate(
      &c,
      "t.c:2:19: error: no member\n    2 |       generated\n"
      "      |       ^\nt.c:3:1: warning: other\n    3 | int f\n"
      "      | ^\n",
      &out);
  assert_string_equal(str_text(&out),
                      "t.c:2:19: error: no member\n"
                      "    2 | /*@ ensures x: l->siz; */\n"
                      "      |                   ^\n"
                      "t.c:3:1: warning: other\n    3 | int f\n      | ^\n");
  str_release(&out);
  contracts_close(&c);
}

// --- records ----------------------------------------------------------------

static void add_record(Str *out, uint32_t clause, uint64_t call) {
  static const char strings[] = "f\0__culprit_body_f\0/a/t.c\0003\0"
                                "requires\0ok\0/a/t.c\0001\0005\0n > 0\0"
                                "ensures\0size_ok\0/a/t.c\0002\0005\0s == 1";
  ViolationHeader h = {
      VIOLATION_MAGIC, CONTRACT_VERSION, 1, call, sizeof strings, 7};
  str_addn(out, &h, sizeof h);
  str_addn(out, &clause, sizeof clause);
  str_addn(out, strings, sizeof strings);
}

TEST(records_tell_which_clauses_a_call_broke) {
  Str file = {0};
  add_record(&file, 1, 4);
  add_record(&file, 0, 5);
  Violations v = {0};
  violations_parse(&v, file.data, file.len);
  assert_false(v.damaged);
  assert_int_equal(v.items.len, 2);
  assert_string_equal(v.items.items[0].table.function, "f");
  assert_int_equal(v.items.items[0].call, 4);
  char *names = violation_names(&v.items.items[0]);
  assert_string_equal(names, "size_ok");
  free(names);
  violations_release(&v);
  str_release(&file);
}

TEST(the_last_record_of_a_call_counts) {
  Str file = {0};
  add_record(&file, 0, 4);
  add_record(&file, 1, 4);
  add_record(&file, 1, 5);
  Violations v = {0};
  violations_parse(&v, file.data, file.len);
  assert_int_equal(v.items.len, 2);
  assert_int_equal(v.items.items[0].broken[0], 1);
  violations_release(&v);
  str_release(&file);
}

TEST(damaged_records_are_noticed_not_followed) {
  Str file = {0};
  add_record(&file, 1, 4);
  for (size_t cut = 1; cut < file.len; cut++) {
    Violations v = {0};
    violations_parse(&v, file.data, cut);
    assert_true(v.damaged);
    assert_int_equal(v.items.len, 0);
    violations_release(&v);
  }
  for (int round = 0; round < 2000; round++) {
    char *bytes = mem_dup(file.data, file.len);
    for (uint32_t n = below(4) + 1; n; n--)
      bytes[below((uint32_t)file.len)] = (char)below(256);
    Violations v = {0};
    violations_parse(&v, bytes, file.len);
    for (size_t i = 0; i < v.items.len; i++)
      free(violation_names(&v.items.items[i]));
    violations_release(&v);
    free(bytes);
  }
  str_release(&file);
}

// An assertion in g that was broken in a call of f; 0: in none.
static void add_assertion(Str *out, uint64_t call) {
  static const char strings[] = "g\0g\0/a/t.c\0009\0"
                                "assert\0low\0/a/t.c\00010\0005\0n > 0";
  static const char outer[] = "f\0__culprit_body_f\0/a/t.c\0003";
  ViolationHeader h = {
      VIOLATION_MAGIC, CONTRACT_VERSION, 1, 0, sizeof strings, 7};
  ViolationHeader within = {
      VIOLATION_WITHIN_MAGIC, CONTRACT_VERSION, 0, call, sizeof outer, 7};
  uint32_t clause = 0;
  str_addn(out, &h, sizeof h);
  str_addn(out, &clause, sizeof clause);
  str_addn(out, strings, sizeof strings);
  if (!call)
    return;
  str_addn(out, &within, sizeof within);
  str_addn(out, outer, sizeof outer);
}

TEST(an_assertion_knows_the_call_in_which_it_was_broken) {
  Str file = {0};
  add_assertion(&file, 3);
  add_assertion(&file, 0);
  add_record(&file, 1, 3);
  Violations v = {0};
  violations_parse(&v, file.data, file.len);
  assert_false(v.damaged);
  assert_int_equal(v.items.len, 3);
  assert_string_equal(v.items.items[0].table.function, "g");
  assert_string_equal(v.items.items[0].within, "f");
  assert_true(violation_is_of(&v.items.items[0], "f", 3));
  assert_false(violation_is_of(&v.items.items[0], "f", 2));
  assert_false(violation_is_of(&v.items.items[0], "g", 3));
  assert_null(v.items.items[1].within);
  assert_false(violation_is_of(&v.items.items[1], "f", 0));
  assert_true(violation_is_of(&v.items.items[2], "f", 3));
  violations_release(&v);
  str_release(&file);
}

TEST(a_call_that_no_assertion_stands_before_is_damage) {
  Str all = {0}, first = {0};
  add_assertion(&all, 3);
  add_assertion(&first, 0);
  Violations v = {0};
  violations_parse(&v, all.data + first.len, all.len - first.len);
  assert_true(v.damaged);
  violations_release(&v);
  for (int round = 0; round < 2000; round++) {
    char *bytes = mem_dup(all.data, all.len);
    bytes[below((uint32_t)all.len)] = (char)below(256);
    v = (Violations){0};
    violations_parse(&v, bytes, all.len);
    for (size_t i = 0; i < v.items.len; i++)
      violation_is_of(&v.items.items[i], "f", 3);
    violations_release(&v);
    free(bytes);
  }
  str_release(&all);
  str_release(&first);
}

static void judge(uint32_t clause, Run *run) {
  char dir[] = "/tmp/culprit-test-XXXXXX";
  assert_non_null(mkdtemp(dir));
  Str file = {0};
  add_record(&file, clause, 4);
  char *path = mem_printf("%s/7.contract", dir);
  Err err;
  assert_int_equal(fs_write(path, file.data, file.len, &err), 0);
  contract_add_failures(dir, "/a", run);
  fs_remove_tree(dir);
  free(path);
  str_release(&file);
}

TEST(a_broken_promise_is_a_failure_with_name_and_place) {
  Run run = {0};
  judge(1, &run);
  assert_true(contract_failed(&run));
  const Failure *f = &run.failures.items[0];
  assert_string_equal(f->kind, "contract");
  assert_string_equal(f->signature, "f: size_ok");
  assert_string_equal(f->place, "t.c:2");
  assert_string_equal(f->message,
                      "f: size_ok is violated at call 4 (t.c:2): s == 1");
  run_release(&run);
}

TEST(a_false_precondition_is_the_callers_fault) {
  Run run = {0};
  judge(0, &run);
  assert_non_null(strstr(run.failures.items[0].message, "f called wrongly"));
  run_release(&run);
}

// --- snapshots --------------------------------------------------------------

static void add_region(Str *out, uint64_t start, const char *bytes, size_t n,
                       bool stored) {
  SnapshotRegion r = {.start = start,
                      .size = n,
                      .stored = stored ? n : 0,
                      .flags = SNAPSHOT_READ | SNAPSHOT_WRITE};
  str_addn(out, &r, sizeof r);
  if (stored)
    str_addn(out, bytes, n);
}

static Str snapshot_bytes(void) {
  Str out = {0};
  SnapshotHeader h = {.magic = SNAPSHOT_MAGIC,
                      .version = SNAPSHOT_VERSION,
                      .args_size = 8,
                      .args = 0x5008,
                      .call = 3,
                      .function = "f"};
  str_addn(&out, &h, sizeof h);
  str_addn(&out, "12345678", 8);
  add_region(&out, 0x1000, "abcdefgh", 8, true);
  add_region(&out, 0x1008, "ijklmnop", 8, true);
  add_region(&out, 0x2000, NULL, 4096, false);
  return out;
}

TEST(memory_of_a_snapshot_is_read_across_regions) {
  Str bytes = snapshot_bytes();
  Snapshot s;
  Err err;
  assert_int_equal(snapshot_parse(&s, &bytes, "x", &err), 0);
  assert_string_equal(s.function, "f");
  assert_int_equal(s.call, 3);
  assert_int_equal(s.args_size, 8);
  assert_int_equal(s.left_out, 1);
  char got[8];
  assert_true(snapshot_load(&s, 0x1004, got, 8));
  assert_memory_equal(got, "efghijkl", 8);
  assert_false(snapshot_load(&s, 0x100c, got, 8));
  assert_false(snapshot_load(&s, 0x2000, got, 1));
  assert_null(snapshot_region(&s, 0xfff));
  snapshot_close(&s);
}

// Every reader of files that a tested program could have made, given `path`,
// which is none of them.
static void refused_by_all(const char *path) {
  Arena arena = {0};
  Err err = {0};
  Snapshot snapshot;
  Trace trace;
  PhpRecord record;
  Unit unit;
  assert_int_equal(snapshot_read(&snapshot, path, &err), -1);
  assert_int_equal(trace_open(&trace, path, &err), -1);
  assert_int_equal(php_record_read(path, &record, &arena, &err), -1);
  assert_int_equal(php_map_read(path, &unit, &arena, &err), -1);
  arena_release(&arena);
}

// On the old readers this hangs, or takes all memory.
TEST(a_FIFO_and_a_terabyte_of_nothing_are_refused_at_once) {
  char dir[] = "/tmp/culprit-unit-XXXXXX";
  assert_non_null(mkdtemp(dir));
  char *fifo = mem_printf("%s/1.contract", dir);
  char *huge = mem_printf("%s/2.contract", dir);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  refused_by_all(fifo);
  refused_by_all(dir);
  int fd = open(huge, O_CREAT | O_WRONLY, 0600);
  if (!ftruncate(fd, (off_t)1 << 40)) // some file systems cannot
    refused_by_all(huge);
  close(fd);
  Violations v;
  violations_read(&v, dir);
  assert_true(v.damaged);
  assert_int_equal(v.items.len, 0);
  violations_release(&v);
  fs_remove_tree(dir);
  free(fifo);
  free(huge);
}

TEST(damaged_snapshots_are_refused) {
  Str whole = snapshot_bytes();
  for (int round = 0; round < 3000; round++) {
    Str bytes = {0};
    str_addn(&bytes, whole.data,
             below(3) ? whole.len : below((uint32_t)whole.len));
    for (uint32_t n = below(4); n && bytes.len; n--)
      bytes.data[below((uint32_t)bytes.len)] = (char)below(256);
    Snapshot s;
    Err err;
    if (!snapshot_parse(&s, &bytes, "x", &err)) {
      char got[16];
      for (size_t i = 0; i < s.regions.len; i++)
        snapshot_load(&s, s.regions.items[i].start, got, sizeof got);
      snapshot_close(&s);
    }
  }
  str_release(&whole);
}

TEST(an_unfinished_snapshot_is_refused) {
  Str bytes = snapshot_bytes();
  memset(bytes.data, 0, 8);
  Snapshot s;
  Err err;
  assert_int_equal(snapshot_parse(&s, &bytes, "x", &err), -1);
  assert_non_null(strstr(err.text, "not finished"));
}
