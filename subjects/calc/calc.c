// calc: an expression calculator with variables and functions.
//
//   calc [-i] [-p DIGITS] [-b BASE] [LINE...]
//
// Evaluates the lines given as arguments, or else those of standard input. A
// line holds statements separated by `;`, and `#` starts a comment:
//
//   EXPR                prints the value, also kept as `ans`
//   NAME = EXPR         sets a variable; also += -= *= /=
//   NAME(A, B) = EXPR   defines a function
//   .vars .clear .int .float
//
// Operators, loosest first: ?: || && | & (== !=) (< <= > >=) (+ -) (* / %)
// (unary - + !) ^ (power, to the right) and postfix ! (factorial).
//
// In floating mode values are doubles; in integer mode (-i, .int) they are 64
// bit numbers, overflow is an error and | & are allowed. -p and -b set the
// digits and the base of the output. An error is shown with a caret below its
// place and ends its line. Status: 0, 1 after an error, 2 for wrong usage.

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_LINE = 256,
  MAX_NAME = 16,
  MAX_ARGS = 4,
  MAX_VARS = 24,
  MAX_FUNCTIONS = 12,
  MAX_NESTING = 40,
  MAX_CALLS = 60,
  MAX_STEPS = 20000
};

typedef union {
  long long i; // in integer mode
  double d;    // in floating mode
} Value;

typedef enum {
  OP_OR, OP_AND, OP_BIT_OR, OP_BIT_AND, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT,
  OP_GE, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_POW, OPERATORS
} Op;

enum { POWER = 9 };

static const struct {
  const char *text;
  int precedence;
} operators[OPERATORS] = {
    [OP_OR] = {"||", 1},     [OP_AND] = {"&&", 2}, [OP_BIT_OR] = {"|", 3},
    [OP_BIT_AND] = {"&", 4}, [OP_EQ] = {"==", 5},  [OP_NE] = {"!=", 5},
    [OP_LT] = {"<", 6},      [OP_LE] = {"<=", 6},  [OP_GT] = {">", 6},
    [OP_GE] = {">=", 6},     [OP_ADD] = {"+", 7},  [OP_SUB] = {"-", 7},
    [OP_MUL] = {"*", 8},     [OP_DIV] = {"/", 8},  [OP_MOD] = {"%", 8},
    [OP_POW] = {"^", POWER},
};

typedef enum { N_NUMBER, N_NAME, N_UNARY, N_BINARY, N_FACTORIAL, N_CHOICE,
               N_CALL } NodeKind;

typedef struct Node Node;
struct Node {
  NodeKind kind;
  int column; // where to point in case of an error
  Op op;      // of a binary node
  char sign;  // of a unary node
  Value value;
  char name[MAX_NAME];
  int nargs;
  Node *arg[MAX_ARGS]; // operands or arguments
  Node *next;          // chain of all nodes of a statement, for freeing
};

typedef struct {
  char name[MAX_NAME];
  Value value;
  bool constant;
} Variable;

typedef struct {
  char name[MAX_NAME];
  char param[MAX_ARGS][MAX_NAME];
  int nparams;
  Node *body;
  Node *nodes; // the chain that body is part of
} Function;

typedef struct {
  const Function *function;
  Value arg[MAX_ARGS];
} Frame;

typedef enum { T_END, T_NUMBER, T_NAME, T_SIGN } TokenKind;

typedef struct {
  TokenKind kind;
  int column;
  Value value;
  char text[MAX_NAME];
} Token;

typedef struct {
  bool integer;
  int digits, base;
  Variable vars[MAX_VARS];
  int nvars;
  Function functions[MAX_FUNCTIONS];
  int nfunctions;
  // The statement at hand.
  const char *line;
  int position; // behind the token
  Token token;
  int nesting, calls, steps;
  int call_column; // of the outermost call
  Node *nodes;
  bool failed;
} Calc;

// Reports the first error of a statement, with a caret below its column.
static void error(Calc *c, int column, const char *format, ...) {
  va_list args;
  if (c->failed)
    return;
  c->failed = true;
  // Columns within a function body belong to another line.
  if (c->calls > 0)
    column = c->call_column;
  printf("error: ");
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  printf("\n  %s\n  %*s^\n", c->line, column, "");
}

// ---- tokens ----

static Value number_value(const Calc *c, double d, long long i) {
  return c->integer ? (Value){.i = i} : (Value){.d = d};
}

static int digit_value(char ch) {
  if (isdigit((unsigned char)ch))
    return ch - '0';
  if (isalpha((unsigned char)ch))
    return tolower((unsigned char)ch) - 'a' + 10;
  return 99;
}

// Reads the digits of an integer; returns the position behind them.
static int scan_integer(Calc *c, int at, int base, long long *value) {
  *value = 0;
  for (; digit_value(c->line[at]) < base; at++) {
    int digit = digit_value(c->line[at]);
    if (*value > (LLONG_MAX - digit) / base) {
      error(c, c->token.column, "number too large");
      return at;
    }
    *value = *value * base + digit;
  }
  return at;
}

static int scan_number(Calc *c, int at) {
  const char *s = c->line + at;
  long long i = 0;
  double d;
  int end = at;
  int base = 10;
  char letter = (char)tolower((unsigned char)s[1]);
  if (s[0] == '0' && (letter == 'x' || letter == 'b')) {
    base = letter == 'x' ? 16 : 2;
    end = scan_integer(c, at + 2, base, &i);
    if (end == at + 2)
      error(c, at, "digits expected");
    d = (double)i;
  } else {
    char *stop;
    d = strtod(s, &stop);
    end = (int)(stop - c->line);
    if (c->integer && scan_integer(c, at, base, &i) != end)
      error(c, at, "not an integer");
    if (!isfinite(d))
      error(c, at, "number too large");
  }
  if (isalnum((unsigned char)c->line[end]))
    error(c, end, "unexpected `%c` in a number", c->line[end]);
  c->token.value = number_value(c, d, i);
  return end;
}

static int scan_name(Calc *c, int at) {
  int n = 0;
  while (isalnum((unsigned char)c->line[at]) || c->line[at] == '_') {
    if (n == MAX_NAME - 1) {
      error(c, c->token.column, "name too long");
      break;
    }
    c->token.text[n++] = c->line[at++];
  }
  c->token.text[n] = 0;
  return at;
}

static int scan_sign(Calc *c, int at) {
  static const char *const doubles[] = {"||", "&&", "==", "!=", "<=", ">=",
                                        "+=", "-=", "*=", "/="};
  const char *s = c->line + at;
  int length = 1;
  for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
    if (strncmp(s, doubles[i], 2) == 0)
      length = 2;
  if (length == 1 && !strchr("|&<>+-*/%^!?:(),=;.", *s))
    error(c, at, "unexpected character `%c`", *s);
  memcpy(c->token.text, s, (size_t)length);
  c->token.text[length] = 0;
  return at + length;
}

static void next_token(Calc *c) {
  const char *s = c->line;
  int at = c->position;
  while (s[at] == ' ' || s[at] == '\t')
    at++;
  c->token.column = at;
  c->token.text[0] = 0;
  if (s[at] == 0 || s[at] == '#') {
    c->token.kind = T_END;
  } else if (isdigit((unsigned char)s[at]) ||
             (s[at] == '.' && isdigit((unsigned char)s[at + 1]))) {
    c->token.kind = T_NUMBER;
    at = scan_number(c, at);
  } else if (isalpha((unsigned char)s[at]) || s[at] == '_') {
    c->token.kind = T_NAME;
    at = scan_name(c, at);
  } else {
    c->token.kind = T_SIGN;
    at = scan_sign(c, at);
  }
  c->position = at;
}

static bool at_sign(const Calc *c, const char *sign) {
  return c->token.kind == T_SIGN && strcmp(c->token.text, sign) == 0;
}

static bool accept(Calc *c, const char *sign) {
  if (!at_sign(c, sign))
    return false;
  next_token(c);
  return true;
}

static void expect(Calc *c, const char *sign) {
  if (!accept(c, sign))
    error(c, c->token.column, "`%s` expected", sign);
}

static void expect_end(Calc *c) {
  if (c->token.kind != T_END && !at_sign(c, ";"))
    error(c, c->token.column, "operator or end expected");
}

// ---- parser; after an error the nodes are still well formed ----

static Node *parse_expression(Calc *c);
static Node *parse_unary(Calc *c);

static Node *new_node(Calc *c, NodeKind kind, int column) {
  Node *n = calloc(1, sizeof *n);
  if (!n) {
    printf("error: out of memory\n");
    exit(1);
  }
  n->kind = kind;
  n->column = column;
  n->next = c->nodes;
  c->nodes = n;
  return n;
}

static void free_nodes(Node *n) {
  while (n) {
    Node *next = n->next;
    free(n);
    n = next;
  }
}

static Node *parse_call(Calc *c, Node *n) {
  n->kind = N_CALL;
  expect(c, "(");
  if (accept(c, ")"))
    return n;
  do {
    Node *arg = parse_expression(c);
    if (n->nargs == MAX_ARGS) {
      error(c, arg->column, "too many arguments");
      break;
    }
    n->arg[n->nargs++] = arg;
  } while (accept(c, ","));
  expect(c, ")");
  return n;
}

static Node *parse_primary(Calc *c) {
  Token t = c->token;
  Node *n = new_node(c, N_NUMBER, t.column);
  if (t.kind == T_NUMBER) {
    n->value = t.value;
    next_token(c);
  } else if (t.kind == T_NAME) {
    n->kind = N_NAME;
    strcpy(n->name, t.text);
    next_token(c);
    if (at_sign(c, "("))
      n = parse_call(c, n);
  } else if (accept(c, "(")) {
    n = parse_expression(c);
    expect(c, ")");
  } else {
    error(c, t.column, t.kind == T_END ? "unexpected end" : "value expected");
  }
  while (!c->failed && at_sign(c, "!")) {
    Node *f = new_node(c, N_FACTORIAL, c->token.column);
    f->arg[0] = n;
    n = f;
    next_token(c);
  }
  return n;
}

// The operator at the token, or -1.
static int binary_operator(const Calc *c) {
  for (int i = 0; i < OPERATORS; i++)
    if (at_sign(c, operators[i].text))
      return i;
  return -1;
}

// Operators that bind at least as tightly as `least`.
static Node *parse_binary(Calc *c, int least) {
  Node *left = parse_unary(c);
  for (;;) {
    int op = binary_operator(c);
    if (c->failed || op < 0 || operators[op].precedence < least)
      return left;
    Node *n = new_node(c, N_BINARY, c->token.column);
    next_token(c);
    n->op = (Op)op;
    n->arg[0] = left;
    // Only the power groups to the right.
    int tighter = op == OP_POW ? 0 : 1;
    n->arg[1] = parse_binary(c, operators[op].precedence + tighter);
    left = n;
  }
}

static Node *parse_unary(Calc *c) {
  char sign = c->token.text[0];
  if (!at_sign(c, "-") && !at_sign(c, "+") && !at_sign(c, "!"))
    return parse_primary(c);
  Node *n = new_node(c, N_UNARY, c->token.column);
  n->sign = sign;
  next_token(c);
  if (++c->nesting > MAX_NESTING)
    error(c, n->column, "nested too deeply");
  // The power binds more tightly than a sign: -2^2 is -4.
  n->arg[0] = c->failed ? n : parse_binary(c, POWER);
  c->nesting--;
  return n;
}

static Node *parse_expression(Calc *c) {
  if (++c->nesting > MAX_NESTING || c->failed) {
    error(c, c->token.column, "nested too deeply");
    return new_node(c, N_NUMBER, c->token.column);
  }
  Node *n = parse_binary(c, 1);
  if (at_sign(c, "?")) {
    Node *choice = new_node(c, N_CHOICE, c->token.column);
    next_token(c);
    choice->arg[0] = n;
    choice->arg[1] = parse_expression(c);
    expect(c, ":");
    choice->arg[2] = parse_expression(c);
    n = choice;
  }
  c->nesting--;
  return n;
}

// ---- arithmetic ----

static Value integer_power(Calc *c, int column, long long base, long long n) {
  long long result = 1;
  if (n < 0)
    error(c, column, "negative exponent");
  while (n > 0 && !c->failed) {
    if (n % 2 == 1 && __builtin_mul_overflow(result, base, &result))
      error(c, column, "overflow");
    n /= 2;
    if (n > 0 && __builtin_mul_overflow(base, base, &base))
      error(c, column, "overflow");
  }
  return (Value){.i = result};
}

static Value integer_binary(Calc *c, int column, Op op, long long a,
                            long long b) {
  long long r = 0;
  bool overflow = false;
  switch (op) {
  case OP_BIT_OR: r = a | b; break;
  case OP_BIT_AND: r = a & b; break;
  case OP_EQ: r = a == b; break;
  case OP_NE: r = a != b; break;
  case OP_LT: r = a < b; break;
  case OP_LE: r = a <= b; break;
  case OP_GT: r = a > b; break;
  case OP_GE: r = a >= b; break;
  case OP_ADD: overflow = __builtin_add_overflow(a, b, &r); break;
  case OP_SUB: overflow = __builtin_sub_overflow(a, b, &r); break;
  case OP_MUL: overflow = __builtin_mul_overflow(a, b, &r); break;
  case OP_DIV:
  case OP_MOD:
    if (b == 0)
      error(c, column, "division by zero");
    else if (b == -1)
      overflow = op == OP_DIV && __builtin_sub_overflow(0LL, a, &r);
    else
      r = op == OP_DIV ? a / b : a % b;
    break;
  case OP_POW: return integer_power(c, column, a, b);
  default: break;
  }
  if (overflow)
    error(c, column, "overflow");
  return (Value){.i = r};
}

static Value float_binary(Calc *c, int column, Op op, double a, double b) {
  double r = 0;
  switch (op) {
  case OP_EQ: r = a == b; break;
  case OP_NE: r = a != b; break;
  case OP_LT: r = a < b; break;
  case OP_LE: r = a <= b; break;
  case OP_GT: r = a > b; break;
  case OP_GE: r = a >= b; break;
  case OP_ADD: r = a + b; break;
  case OP_SUB: r = a - b; break;
  case OP_MUL: r = a * b; break;
  case OP_POW: r = pow(a, b); break;
  case OP_DIV:
  case OP_MOD:
    if (b == 0)
      error(c, column, "division by zero");
    else
      r = op == OP_DIV ? a / b : fmod(a, b);
    break;
  default:
    error(c, column, "`%s` needs integer mode", operators[op].text);
  }
  if (!isfinite(r))
    error(c, column, isnan(r) ? "no real result" : "overflow");
  return (Value){.d = r};
}

static Value unary(Calc *c, const Node *n, Value v) {
  if (c->integer && n->sign == '-')
    return integer_binary(c, n->column, OP_SUB, 0, v.i);
  if (n->sign == '-')
    return (Value){.d = -v.d};
  if (n->sign == '!')
    return number_value(c, v.d == 0, v.i == 0);
  return v;
}

static Value factorial(Calc *c, int column, Value v) {
  double n = c->integer ? (double)v.i : v.d;
  if (n < 0 || n != floor(n)) {
    error(c, column, "factorial of a negative or broken number");
    return v;
  }
  Value r = number_value(c, 1, 1);
  for (int i = 2; i <= n && !c->failed; i++) {
    if (c->integer)
      r = integer_binary(c, column, OP_MUL, r.i, i);
    else
      r = float_binary(c, column, OP_MUL, r.d, i);
  }
  return r;
}

// ---- built-in functions ----

static double nearest(double x) {
  return x < 0 ? -floor(-x + 0.5) : floor(x + 0.5);
}

static const struct {
  const char *name;
  double (*function)(double);
} float_functions[] = {{"sqrt", sqrt},   {"sin", sin},   {"cos", cos},
                       {"exp", exp},     {"ln", log},    {"log", log10},
                       {"floor", floor}, {"ceil", ceil}, {"round", nearest}};
enum { FLOAT_FUNCTIONS = sizeof float_functions / sizeof *float_functions };

static bool less(const Calc *c, Value a, Value b) {
  return c->integer ? a.i < b.i : a.d < b.d;
}

static Value extreme(const Calc *c, const Value *v, int n, bool greatest) {
  Value best = v[0];
  for (int i = 1; i < n; i++)
    if (greatest ? less(c, best, v[i]) : less(c, v[i], best))
      best = v[i];
  return best;
}

static Value integer_root(Calc *c, int column, long long n) {
  long long low = 0, high = 3037000500LL; // high * high > LLONG_MAX
  if (n < 0)
    error(c, column, "no real result");
  while (high - low > 1) {
    long long middle = low + (high - low) / 2;
    if (middle * middle <= n)
      low = middle;
    else
      high = middle;
  }
  return (Value){.i = low};
}

static Value gcd(Calc *c, int column, long long a, long long b) {
  if (!c->integer || a < 0 || b < 0) {
    error(c, column, "gcd needs positive integers");
    return (Value){0};
  }
  while (b != 0) {
    long long rest = a % b;
    a = b;
    b = rest;
  }
  return (Value){.i = a};
}

// Calls the built-in function of a call node; false if there is none.
static bool call_builtin(Calc *c, const Node *n, const Value *v, Value *out) {
  int least = 1, most = 1;
  bool is_max = strcmp(n->name, "max") == 0;
  bool is_gcd = strcmp(n->name, "gcd") == 0;
  bool is_abs = strcmp(n->name, "abs") == 0;
  int known = -1;
  for (int i = 0; i < FLOAT_FUNCTIONS; i++)
    if (strcmp(n->name, float_functions[i].name) == 0)
      known = i;
  if (is_max || strcmp(n->name, "min") == 0)
    most = MAX_ARGS;
  else if (is_gcd)
    least = most = 2;
  else if (!is_abs && known < 0)
    return false;
  if (n->nargs < least || n->nargs > most) {
    error(c, n->column, "wrong number of arguments for `%s`", n->name);
    return true;
  }
  if (is_gcd)
    *out = gcd(c, n->column, v[0].i, v[1].i);
  else if (is_abs)
    *out = less(c, v[0], (Value){0})
               ? unary(c, &(Node){.sign = '-', .column = n->column}, v[0])
               : v[0];
  else if (known < 0)
    *out = extreme(c, v, n->nargs, is_max);
  else if (!c->integer)
    *out = float_binary(c, n->column, OP_ADD,
                        float_functions[known].function(v[0].d), 0);
  else if (known == 0)
    *out = integer_root(c, n->column, v[0].i);
  else
    error(c, n->column, "`%s` needs floating mode", n->name);
  return true;
}

// ---- evaluation ----

static Variable *find_variable(Calc *c, const char *name) {
  for (int i = 0; i < c->nvars; i++)
    if (strcmp(c->vars[i].name, name) == 0)
      return &c->vars[i];
  return NULL;
}

static Function *find_function(Calc *c, const char *name) {
  for (int i = 0; i < c->nfunctions; i++)
    if (strcmp(c->functions[i].name, name) == 0)
      return &c->functions[i];
  return NULL;
}

static Value eval(Calc *c, const Node *n, const Frame *frame);

static Value eval_name(Calc *c, const Node *n, const Frame *frame) {
  if (frame)
    for (int i = 0; i < frame->function->nparams; i++)
      if (strcmp(frame->function->param[i], n->name) == 0)
        return frame->arg[i];
  const Variable *v = find_variable(c, n->name);
  if (v)
    return v->value;
  error(c, n->column, "unknown variable `%s`", n->name);
  return (Value){0};
}

static Value eval_call(Calc *c, const Node *n, const Frame *frame) {
  Frame callee = {0};
  Value result = {0};
  for (int i = 0; i < n->nargs; i++)
    callee.arg[i] = eval(c, n->arg[i], frame);
  if (c->failed || call_builtin(c, n, callee.arg, &result))
    return result;
  callee.function = find_function(c, n->name);
  if (!callee.function)
    error(c, n->column, "unknown function `%s`", n->name);
  else if (callee.function->nparams != n->nargs)
    error(c, n->column, "`%s` takes %d arguments", n->name,
          callee.function->nparams);
  else if (c->calls == MAX_CALLS)
    error(c, n->column, "too many nested calls");
  if (c->failed)
    return result;
  if (c->calls++ == 0)
    c->call_column = n->column;
  result = eval(c, callee.function->body, &callee);
  c->calls--;
  return result;
}

static bool is_true(const Calc *c, Value v) {
  return c->integer ? v.i != 0 : v.d != 0;
}

// || and && evaluate their right operand only if it matters.
static Value eval_binary(Calc *c, const Node *n, const Frame *frame) {
  Value a = eval(c, n->arg[0], frame);
  if (n->op == OP_OR || n->op == OP_AND) {
    bool truth = is_true(c, a);
    if (truth == (n->op == OP_AND))
      truth = is_true(c, eval(c, n->arg[1], frame));
    return number_value(c, truth, truth);
  }
  Value b = eval(c, n->arg[1], frame);
  if (c->failed)
    return a;
  return c->integer ? integer_binary(c, n->column, n->op, a.i, b.i)
                    : float_binary(c, n->column, n->op, a.d, b.d);
}

static Value eval(Calc *c, const Node *n, const Frame *frame) {
  if (++c->steps > MAX_STEPS)
    error(c, n->column, "too many steps");
  if (c->failed)
    return (Value){0};
  switch (n->kind) {
  case N_NUMBER: return n->value;
  case N_NAME: return eval_name(c, n, frame);
  case N_UNARY: return unary(c, n, eval(c, n->arg[0], frame));
  case N_BINARY: return eval_binary(c, n, frame);
  case N_FACTORIAL:
    return factorial(c, n->column, eval(c, n->arg[0], frame));
  case N_CHOICE:
    return eval(c, is_true(c, eval(c, n->arg[0], frame)) ? n->arg[1]
                                                         : n->arg[2], frame);
  case N_CALL: return eval_call(c, n, frame);
  }
  return (Value){0};
}

// ---- statements ----

static void print_value(const Calc *c, Value v) {
  char text[72], *s = text + sizeof text;
  if (!c->integer) {
    printf("%.*g\n", c->digits, v.d == 0 ? 0 : v.d);
    return;
  }
  unsigned long long rest = (unsigned long long)v.i;
  if (v.i < 0)
    rest = 0 - rest;
  *--s = 0;
  do {
    *--s = "0123456789abcdefghijklmnopqrstuvwxyz"[rest % (unsigned)c->base];
    rest /= (unsigned)c->base;
  } while (rest > 0);
  printf("%s%s\n", v.i < 0 ? "-" : "", s);
}

static void set_variable(Calc *c, int column, const char *name, Value value) {
  Variable *v = find_variable(c, name);
  if (v && v->constant) {
    error(c, column, "`%s` is a constant", name);
    return;
  }
  if (!v) {
    if (c->nvars == MAX_VARS) {
      error(c, column, "too many variables");
      return;
    }
    v = &c->vars[c->nvars++];
    strcpy(v->name, name);
    v->constant = false;
  }
  v->value = value;
}

static void add_constants(Calc *c) {
  c->nvars = 0;
  if (c->integer)
    return;
  set_variable(c, 0, "pi", (Value){.d = acos(-1)});
  set_variable(c, 0, "e", (Value){.d = exp(1)});
  for (int i = 0; i < c->nvars; i++)
    c->vars[i].constant = true;
}

// Converts the variables to the other mode; what does not fit is dropped.
static void set_mode(Calc *c, bool integer) {
  Variable old[MAX_VARS];
  int n = c->nvars;
  if (c->integer == integer)
    return;
  memcpy(old, c->vars, sizeof old);
  c->integer = integer;
  add_constants(c);
  for (int i = 0; i < n; i++) {
    Value v = old[i].value;
    if (old[i].constant || find_variable(c, old[i].name))
      continue;
    if (integer && fabs(v.d) < 9e18)
      set_variable(c, 0, old[i].name, (Value){.i = (long long)v.d});
    else if (!integer)
      set_variable(c, 0, old[i].name, (Value){.d = (double)v.i});
  }
}

static void list_variables(const Calc *c) {
  for (int i = 0; i < c->nvars; i++) {
    if (c->vars[i].constant)
      continue;
    printf("%s = ", c->vars[i].name);
    print_value(c, c->vars[i].value);
  }
}

static void free_functions(Calc *c) {
  for (int i = 0; i < c->nfunctions; i++)
    free_nodes(c->functions[i].nodes);
  c->nfunctions = 0;
}

// Commands drop the function bodies when their numbers change meaning.
static void run_command(Calc *c) {
  Token t = c->token;
  next_token(c);
  if (strcmp(t.text, "vars") == 0) {
    list_variables(c);
  } else if (strcmp(t.text, "clear") == 0) {
    add_constants(c);
    free_functions(c);
  } else if (strcmp(t.text, "int") == 0 || strcmp(t.text, "float") == 0) {
    if (c->integer != (t.text[0] == 'i'))
      free_functions(c);
    set_mode(c, t.text[0] == 'i');
  } else {
    error(c, t.column, "unknown command");
  }
}

// Reads NAME(A, B) = if that is what the statement begins with; otherwise
// returns false with the token back at NAME.
static bool parse_head(Calc *c, Function *f) {
  Token start = c->token;
  int position = c->position;
  strcpy(f->name, start.text);
  next_token(c);
  bool ok = accept(c, "(");
  while (ok && c->token.kind == T_NAME && f->nparams < MAX_ARGS) {
    strcpy(f->param[f->nparams++], c->token.text);
    next_token(c);
    if (!accept(c, ","))
      break;
  }
  if (ok && f->nparams > 0 && accept(c, ")") && accept(c, "="))
    return true;
  c->token = start;
  c->position = position;
  return false;
}

static void define_function(Calc *c, int column, Function *f) {
  f->body = parse_expression(c);
  expect_end(c);
  Function *old = find_function(c, f->name);
  if (!old && c->nfunctions == MAX_FUNCTIONS)
    error(c, column, "too many functions");
  if (c->failed)
    return;
  f->nodes = c->nodes;
  c->nodes = NULL;
  if (old)
    free_nodes(old->nodes);
  else
    old = &c->functions[c->nfunctions++];
  *old = *f;
}

static void assign(Calc *c, const Token *target, char operation) {
  Node *n = parse_expression(c);
  if (operation != '=') {
    Node *name = new_node(c, N_NAME, target->column);
    Node *binary = new_node(c, N_BINARY, target->column);
    strcpy(name->name, target->text);
    binary->op = operation == '+'   ? OP_ADD
                 : operation == '-' ? OP_SUB
                 : operation == '*' ? OP_MUL
                                    : OP_DIV;
    binary->arg[0] = name;
    binary->arg[1] = n;
    n = binary;
  }
  expect_end(c);
  Value v = eval(c, n, NULL);
  if (!c->failed)
    set_variable(c, target->column, target->text, v);
}

static void run_expression(Calc *c) {
  Node *n = parse_expression(c);
  expect_end(c);
  Value v = eval(c, n, NULL);
  if (c->failed)
    return;
  print_value(c, v);
  set_variable(c, 0, "ans", v);
}

static bool at_assignment(const Calc *c) {
  return at_sign(c, "=") || at_sign(c, "+=") || at_sign(c, "-=") ||
         at_sign(c, "*=") || at_sign(c, "/=");
}

static void run_statement(Calc *c) {
  Function f = {0};
  Token start = c->token;
  int position = c->position;
  if (accept(c, ".")) {
    run_command(c);
    return;
  }
  if (start.kind == T_NAME) {
    next_token(c);
    if (at_assignment(c)) {
      char operation = c->token.text[0];
      next_token(c);
      assign(c, &start, operation);
      return;
    }
    c->token = start;
    c->position = position;
    if (parse_head(c, &f)) {
      define_function(c, start.column, &f);
      return;
    }
  }
  run_expression(c);
}

// Runs the statements of a line up to the first error.
static bool run_line(Calc *c, char *line) {
  line[strcspn(line, "\r\n")] = 0;
  c->line = line;
  c->position = 0;
  c->failed = false;
  next_token(c);
  while (!c->failed && c->token.kind != T_END) {
    c->nesting = c->calls = c->steps = 0;
    if (!at_sign(c, ";"))
      run_statement(c);
    free_nodes(c->nodes);
    c->nodes = NULL;
    expect_end(c);
    accept(c, ";");
  }
  return !c->failed;
}

static int usage(void) {
  printf("usage: calc [-i] [-p DIGITS] [-b BASE] [LINE...]\n");
  return 2;
}

// The number in an option's value, or 0 if it is none within the limits.
static int option_number(const char *text, int least, int most) {
  char *end;
  long n = text ? strtol(text, &end, 10) : 0;
  return text && *text && !*end && n >= least && n <= most ? (int)n : 0;
}

static bool run_input(Calc *c, FILE *in) {
  char line[MAX_LINE];
  bool ok = true;
  while (fgets(line, sizeof line, in)) {
    if (strlen(line) == sizeof line - 1) {
      printf("error: line too long\n");
      return false;
    }
    ok = run_line(c, line) && ok;
  }
  return ok;
}

int main(int argc, char **argv) {
  Calc c = {.digits = 10, .base = 10};
  bool ok = true;
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && isalpha((unsigned char)argv[i][1]) &&
         !argv[i][2]; i++) {
    char option = argv[i][1];
    if (option == 'i')
      c.integer = true;
    else if (option == 'p' && option_number(argv[i + 1], 1, 17))
      c.digits = option_number(argv[++i], 1, 17);
    else if (option == 'b' && option_number(argv[i + 1], 2, 36))
      c.base = option_number(argv[++i], 2, 36);
    else
      return usage();
  }
  add_constants(&c);
  if (i == argc)
    ok = run_input(&c, stdin);
  for (; i < argc; i++)
    ok = run_line(&c, argv[i]) && ok;
  free_functions(&c);
  return ok ? 0 : 1;
}
