// Measures path queries per second. Builds the path conditions of a tokenizer
// and a JSON parser on a fixed input, negates every branch, and repeats a
// sample of the queries with Z3 alone, on the same slices.
//
//   bench_solver_rate [REPEAT]
//
// The expressions are those that replay builds for such programs: ctype tables,
// keyword comparison, digits combined into numbers with range checks, hashes of
// names, escapes, nesting.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solve/gates.h"
#include "solve/solver.h"
#include "util/array.h"
#include "util/clock.h"

typedef struct {
  ExprPool *pool;
  ARRAY(Constraint) path;
  VarId in;
  const char *text;
  unsigned at, len;
  ExprTable space, digit, alpha, hex;
} Sim;

static Expr k(Sim *s, uint64_t v) { return expr_const(s->pool, 32, v); }

// The byte at i as an int, as getc and char loads give it.
static Expr get(Sim *s, unsigned i) {
  return i < s->len ? expr_zext(s->pool, expr_input(s->pool, s->in + i), 32)
                    : k(s, 0);
}

// A branch of the program: remembers the condition and says where it goes.
static bool branch(Sim *s, Expr cond) {
  bool outcome = expr_value(s->pool, cond);
  if (!expr_is_const(s->pool, cond))
    array_push(&s->path, (Constraint){cond, outcome});
  return outcome;
}

static bool is(Sim *s, unsigned i, char c) {
  return branch(s, expr_eq(s->pool, get(s, i), k(s, (uint8_t)c)));
}

static bool in_class(Sim *s, unsigned i, ExprTable t) {
  if (i >= s->len)
    return false;
  Expr flags = expr_table(s->pool, t, get(s, i));
  return branch(s, expr_nonzero(s->pool, expr_zext(s->pool, flags, 32)));
}

static ExprTable make_class(Sim *s, const char *ranges) {
  uint64_t entries[256] = {0};
  for (const char *r = ranges; r[0]; r += 2)
    for (int c = r[0]; c <= r[1]; c++)
      entries[c] = 0x100;
  return expr_new_table(s->pool, 16, entries, 256);
}

static void sim_init(Sim *s, const char *text) {
  *s = (Sim){.pool = expr_pool_new(), .text = text};
  s->len = (unsigned)strlen(text);
  s->in = expr_new_bytes(s->pool, "in", (const uint8_t *)text, s->len);
  s->space = make_class(s, "  \t\t\n\n\r\r");
  s->digit = make_class(s, "09");
  s->alpha = make_class(s, "azAZ__09");
  s->hex = make_class(s, "09afAF");
}

static void sim_free(Sim *s) {
  array_release(&s->path);
  expr_pool_free(s->pool);
}

// strcmp(in + from, word) == 0, with the terminator as a byte past the name.
static bool equals(Sim *s, unsigned from, unsigned n, const char *word) {
  size_t len = strlen(word);
  if (len != n)
    return false;
  Expr cmp = k(s, 0);
  for (size_t i = len; i-- > 0;) {
    Expr c = get(s, from + (unsigned)i), w = k(s, (uint8_t)word[i]);
    Expr sign =
        expr_ite(s->pool, expr_ult(s->pool, c, w), k(s, (uint64_t)-1), k(s, 1));
    cmp = expr_ite(s->pool, expr_eq(s->pool, c, w), cmp, sign);
  }
  return branch(s, expr_eq(s->pool, cmp, k(s, 0)));
}

static Expr number(Sim *s) {
  Expr v = k(s, 0);
  while (in_class(s, s->at, s->digit)) {
    Expr d = expr_sub(s->pool, get(s, s->at), k(s, '0'));
    branch(s, expr_slt(s->pool, k(s, 214748364), v)); // overflow?
    v = expr_add(s->pool, expr_mul(s->pool, v, k(s, 10)), d);
    s->at++;
  }
  branch(s, expr_slt(s->pool, v, k(s, 100)));
  branch(s, expr_eq(s->pool, expr_srem(s->pool, v, k(s, 7)), k(s, 3)));
  return v;
}

// --- a tokenizer ------------------------------------------------------------

static void name(Sim *s) {
  static const char *const keywords[] = {"if", "else", "while", "return",
                                         "int"};
  unsigned from = s->at;
  while (in_class(s, s->at, s->alpha))
    s->at++;
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (equals(s, from, s->at - from, keywords[i]))
      return;
}

static void tokenize(Sim *s) {
  while (s->at < s->len) {
    if (in_class(s, s->at, s->space))
      s->at++;
    else if (in_class(s, s->at, s->digit))
      number(s);
    else if (in_class(s, s->at, s->alpha))
      name(s);
    else {
      static const char symbols[] = "+-*/=<>(){};";
      for (const char *c = symbols; *c && !is(s, s->at, *c); c++)
        ;
      s->at++;
    }
  }
}

// --- a JSON parser ----------------------------------------------------------

static void value(Sim *s, int depth);

static void skip_space(Sim *s) {
  while (in_class(s, s->at, s->space))
    s->at++;
}

static void escape(Sim *s) {
  static const char letters[] = "nrtbf/\\\"";
  for (const char *c = letters; *c; c++)
    if (is(s, s->at, *c)) {
      s->at++;
      return;
    }
  is(s, s->at++, 'u');
  Expr code = k(s, 0);
  for (int i = 0; i < 4 && in_class(s, s->at, s->hex); i++, s->at++) {
    Expr c = get(s, s->at);
    Expr low = expr_or(s->pool, c, k(s, 32));
    Expr is_digit = expr_slt(s->pool, c, k(s, 'A'));
    Expr d = expr_ite(s->pool, is_digit, expr_sub(s->pool, c, k(s, '0')),
                      expr_sub(s->pool, low, k(s, 'a' - 10)));
    code = expr_or(s->pool, expr_shl(s->pool, code, k(s, 4)), d);
  }
  branch(s, expr_ult(s->pool, code, k(s, 0x80)));
  branch(s, expr_ult(s->pool, code, k(s, 0x800)));
  branch(s,
         expr_eq(s->pool, expr_and(s->pool, code, k(s, 0xfc00)), k(s, 0xd800)));
}

static Expr string(Sim *s) {
  Expr hash = k(s, 5381);
  s->at++;
  while (s->at < s->len && !is(s, s->at, '"')) {
    branch(s, expr_ult(s->pool, get(s, s->at), k(s, 0x20)));
    if (is(s, s->at, '\\')) {
      s->at++;
      escape(s);
      continue;
    }
    hash = expr_add(s->pool, expr_mul(s->pool, hash, k(s, 33)), get(s, s->at));
    s->at++;
  }
  s->at++;
  return hash;
}

static void object(Sim *s, int depth) {
  s->at++;
  skip_space(s);
  while (s->at < s->len && !is(s, s->at, '}')) {
    Expr hash = string(s); // where the key goes in a table of 16
    Expr bucket = expr_and(s->pool, hash, k(s, 15));
    branch(s, expr_eq(s->pool, bucket, k(s, 3)));
    skip_space(s);
    is(s, s->at++, ':');
    value(s, depth + 1);
    skip_space(s);
    if (is(s, s->at, ','))
      s->at++;
    skip_space(s);
  }
  s->at++;
}

static void array(Sim *s, int depth) {
  s->at++;
  skip_space(s);
  while (s->at < s->len && !is(s, s->at, ']')) {
    value(s, depth + 1);
    skip_space(s);
    if (is(s, s->at, ','))
      s->at++;
    skip_space(s);
  }
  s->at++;
}

static void value(Sim *s, int depth) {
  skip_space(s);
  if (s->at >= s->len)
    return;
  if (is(s, s->at, '{'))
    object(s, depth);
  else if (is(s, s->at, '['))
    array(s, depth);
  else if (is(s, s->at, '"'))
    string(s);
  else if (is(s, s->at, '-')) {
    s->at++;
    number(s);
  } else if (in_class(s, s->at, s->digit))
    number(s);
  else if (is(s, s->at, 't') && equals(s, s->at, 4, "true"))
    s->at += 4;
  else if (is(s, s->at, 'n') && equals(s, s->at, 4, "null"))
    s->at += 4;
  else
    s->at++;
}

static void parse_json(Sim *s) { value(s, 0); }

// --- measuring --------------------------------------------------------------

static void add_path(Solver *s, const Sim *sim) {
  for (size_t i = 0; i < sim->path.len; i++)
    solver_add(s, sim->path.items[i].cond, sim->path.items[i].outcome);
}

static double flip_all(Solver *s, size_t step, SolverResult *out) {
  Model m = {0};
  double start = clock_now();
  for (size_t i = 0; i < solver_len(s); i += step)
    out[i] = solver_flip(s, i, &m);
  double seconds = clock_now() - start;
  model_release(&m);
  return seconds;
}

static void show_stats(const char *who, const Solver *s, double seconds) {
  Str text = {0};
  solver_stats_show(solver_stats(s), &text);
  printf("  %-5s %6.0f/s  %s\n", who,
         (double)solver_stats(s)->queries / seconds, str_text(&text));
  str_release(&text);
}

static void measure(const char *title, void (*program)(Sim *),
                    const char *text) {
  Sim sim;
  sim_init(&sim, text);
  double start = clock_now();
  program(&sim);
  printf("%s: %u bytes, %zu branches, %u nodes, built in %.1f ms\n", title,
         sim.len, sim.path.len, sim.pool->len, (clock_now() - start) * 1e3);
  Solver *ours = solver_new(sim.pool, (SolverLimits){0});
  Solver *bits = solver_new(sim.pool, (SolverLimits){0});
  Solver *z3 = solver_new(sim.pool, (SolverLimits){.seconds = 10});
  solver_use(bits, ENGINE_ENUMERATE, false);
  solver_use(z3, ENGINE_ENUMERATE, false);
  solver_use(z3, ENGINE_BITS, false);
  add_path(ours, &sim);
  add_path(bits, &sim);
  add_path(z3, &sim);
  size_t n = sim.path.len, step = n / 400 + 1;
  SolverResult *a = mem_array(SolverResult, n), *b = mem_array(SolverResult, n);
  SolverResult *c = mem_array(SolverResult, n);
  show_stats("all", ours, flip_all(ours, 1, a));
  show_stats("bits", bits, flip_all(bits, 1, b));
  show_stats("z3", z3, flip_all(z3, step, c));
  size_t differ = 0;
  for (size_t i = 0; i < n; i++)
    differ += a[i] != b[i] || (i % step == 0 && a[i] != c[i]);
  printf("  %zu verdicts differ\n", differ);
  free(a);
  free(b);
  free(c);
  solver_free(ours);
  solver_free(bits);
  solver_free(z3);
  sim_free(&sim);
}

static char *repeat(const char *before, const char *text, int n,
                    const char *after) {
  Str s = {0};
  str_add(&s, before);
  for (int i = 0; i < n; i++)
    str_addf(&s, text, i, i * 37 % 1000);
  str_add(&s, after);
  return str_take(&s);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 12;
  char *program =
      repeat("",
             "int x%d = 40 + %d;\nwhile (x1 < 12) { total = total / 3 - 1; }\n"
             "if (x) return 4711; else y = x;\n",
             n, "");
  char *json =
      repeat("[",
             "{\"id\": %d, \"name\": \"caf\\u00e9 \\n x\", \"ok\": true,\n"
             " \"list\": [1, 22, -333, %d], \"none\": null},\n",
             n, "{}]");
  measure("tokenizer", tokenize, program);
  measure("json", parse_json, json);
  free(program);
  free(json);
  return 0;
}
