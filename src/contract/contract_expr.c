// The expressions of a contract: see contract_expr.h. Recursive descent, one
// function per level of precedence that ACSL adds; C's levels by a table.
#include "contract/contract_expr.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 200 }; // of nesting: hostile input must not end our stack

// --- messages and tokens ----------------------------------------------------

static void report(ContractParser *p, DiagKind kind, uint32_t at,
                   const char *fmt, va_list args) {
  char text[512];
  if (p->failed)
    return;
  p->failed = true;
  vsnprintf(text, sizeof text, fmt, args);
  const Token *t = &p->tokens[at];
  array_push(p->diags, (Diag){kind, t->line, t->col,
                              arena_strdup(&p->pool->arena, text)});
}

void *contract_error(ContractParser *p, uint32_t at, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  report(p, DIAG_ERROR, at, fmt, args);
  va_end(args);
  return NULL;
}

void *contract_unsupported(ContractParser *p, uint32_t at, const char *fmt,
                           ...) {
  va_list args;
  va_start(args, fmt);
  if (!p->failed)
    p->unsupported = true;
  report(p, DIAG_WARNING, at, fmt, args);
  va_end(args);
  return NULL;
}

static const Token *token(const ContractParser *p, uint32_t i) {
  return &p->tokens[i];
}

static const Token *next(const ContractParser *p) { return token(p, p->at); }

static void skip(ContractParser *p) {
  if (next(p)->kind != TOK_END)
    p->at++;
}

bool contract_at(const ContractParser *p, const char *mark) {
  return token_is(p->text, next(p), mark);
}

bool contract_take(ContractParser *p, const char *mark) {
  if (!contract_at(p, mark))
    return false;
  skip(p);
  return true;
}

bool contract_expect(ContractParser *p, const char *mark) {
  if (contract_take(p, mark))
    return true;
  const Token *t = next(p);
  if (t->kind == TOK_END)
    contract_error(p, p->at, "expected '%s' before the end of the contract",
                   mark);
  else
    contract_error(p, p->at, "expected '%s' before '%.*s'", mark,
                   (int)(t->len < 40 ? t->len : 40), p->text + t->at);
  return false;
}

// --- nodes ------------------------------------------------------------------

static ContractExpr *new_node(ContractParser *p, NodeKind kind,
                              uint32_t first) {
  ContractExpr *n = arena_new(&p->pool->arena, ContractExpr);
  array_push(&p->pool->nodes, n);
  n->kind = kind;
  n->first = first;
  n->end = p->at;
  return n;
}

ContractExpr *contract_node(ContractParser *p, NodeKind kind, uint32_t first) {
  return new_node(p, kind, first);
}

static ContractExpr *node_of(ContractParser *p, NodeKind kind, uint32_t first,
                             ContractExpr *a, ContractExpr *b) {
  if (!a)
    return NULL;
  ContractExpr *n = new_node(p, kind, first);
  array_push(&n->kids, a);
  if (b)
    array_push(&n->kids, b);
  return n;
}

void node_pool_release(NodePool *pool) {
  for (size_t i = 0; i < pool->nodes.len; i++) {
    ContractExpr *n = pool->nodes.items[i];
    array_release(&n->kids);
    array_release(&n->ops);
    array_release(&n->fields);
    array_release(&n->binders);
  }
  array_release(&pool->nodes);
  arena_release(&pool->arena);
}

bool token_same(const char *text, const Token *a, const Token *b) {
  return a->len == b->len && !memcmp(text + a->at, text + b->at, a->len);
}

bool node_mentions(const char *text, const Token *tokens, const ContractExpr *n,
                   uint32_t name) {
  const Token *want = &tokens[name];
  for (uint32_t i = n->first; i < n->end; i++) {
    const Token *t = &tokens[i];
    bool member = i > n->first &&
                  (token_is(text, t - 1, ".") || token_is(text, t - 1, "->"));
    if (t->kind == TOK_WORD && !member && t->len == want->len &&
        !memcmp(text + t->at, text + want->at, t->len))
      return true;
  }
  return false;
}

// --- primary expressions ----------------------------------------------------

static ContractExpr *parse_unary(ContractParser *p);

static bool is_side_effect(const ContractParser *p) {
  static const char *const marks[] = {
      "=",  "+=", "-=",  "*=",  "/=", "%=", "&=",
      "|=", "^=", "<<=", ">>=", "++", "--"};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (contract_at(p, marks[i]))
      return true;
  return false;
}

static void refuse_side_effect(ContractParser *p) {
  const Token *t = next(p);
  contract_error(p, p->at, "a contract must not change anything: '%.*s' does",
                 (int)t->len, p->text + t->at);
}

// "integer i, j" up to the semicolon. A type is all words and stars before the
// last word.
static bool parse_binders(ContractParser *p, ContractExpr *n) {
  uint32_t type = p->at;
  while (next(p)->kind == TOK_WORD || contract_at(p, "*"))
    skip(p);
  if (p->at < type + 2 || token(p, p->at - 1)->kind != TOK_WORD) {
    contract_error(p, p->at, "expected a type and a name, as in 'integer i'");
    return false;
  }
  uint32_t type_end = p->at - 1;
  array_push(&n->binders, (Binder){type, type_end, type_end});
  while (contract_take(p, ",")) {
    uint32_t from = p->at;
    while (next(p)->kind == TOK_WORD || contract_at(p, "*"))
      skip(p);
    if (p->at == from || token(p, p->at - 1)->kind != TOK_WORD) {
      contract_error(p, p->at, "expected the name of a variable");
      return false;
    }
    if (p->at > from + 1) // another type
      type = from, type_end = p->at - 1;
    array_push(&n->binders, (Binder){type, type_end, p->at - 1});
  }
  return contract_expect(p, ";");
}

static ContractExpr *parse_quantifier(ContractParser *p) {
  uint32_t first = p->at;
  bool forall = contract_at(p, "\\forall");
  skip(p);
  ContractExpr *n = new_node(p, forall ? NODE_FORALL : NODE_EXISTS, first);
  ContractExpr *body = parse_binders(p, n) ? contract_parse_expr(p) : NULL;
  if (body)
    array_push(&n->kids, body);
  n->end = p->at;
  return body ? n : NULL;
}

static ContractExpr *parse_let(ContractParser *p) {
  uint32_t first = p->at;
  skip(p);
  Binder name = {p->at, p->at, p->at};
  if (next(p)->kind != TOK_WORD)
    return contract_error(p, p->at, "expected a name after \\let");
  skip(p);
  if (!contract_expect(p, "="))
    return NULL;
  ContractExpr *value = contract_parse_expr(p);
  ContractExpr *body =
      value && contract_expect(p, ";") ? contract_parse_expr(p) : NULL;
  ContractExpr *n = body ? node_of(p, NODE_LET, first, value, body) : NULL;
  if (n)
    array_push(&n->binders, name);
  return n;
}

// ", next, prev": the link fields of \reach and \acyclic.
static bool parse_fields(ContractParser *p, ContractExpr *n) {
  while (contract_take(p, ",")) {
    if (next(p)->kind != TOK_WORD) {
      contract_error(p, p->at, "expected the name of a link field");
      return false;
    }
    array_push(&n->fields, p->at);
    skip(p);
  }
  if (n->fields.len)
    return true;
  contract_error(p, p->at, "expected a link field, as in \\reach(p, next)");
  return false;
}

static ContractExpr *parse_links(ContractParser *p, NodeKind kind) {
  uint32_t first = p->at;
  skip(p);
  ContractExpr *from = contract_expect(p, "(") ? contract_parse_expr(p) : NULL;
  ContractExpr *n = node_of(p, kind, first, from, NULL);
  if (!n || !parse_fields(p, n) || !contract_expect(p, ")"))
    return NULL;
  n->end = p->at;
  return n;
}

static ContractExpr *parse_set(ContractParser *p) {
  if (contract_at(p, "\\reach"))
    return parse_links(p, NODE_REACH);
  return contract_error(p, p->at, "expected a set: \\reach(pointer, field)");
}

static ContractExpr *parse_of_sets(ContractParser *p, NodeKind kind) {
  uint32_t first = p->at;
  skip(p);
  ContractExpr *a = contract_expect(p, "(") ? parse_set(p) : NULL, *b = NULL;
  if (a && kind == NODE_DISJOINT)
    b = contract_expect(p, ",") ? parse_set(p) : NULL;
  if (!a || (kind == NODE_DISJOINT && !b) || !contract_expect(p, ")"))
    return NULL;
  return node_of(p, kind, first, a, b);
}

bool contract_labels(ContractParser *p, TokenList *out) {
  if (!contract_take(p, "{"))
    return true;
  do {
    if (next(p)->kind != TOK_WORD) {
      contract_error(p, p->at, "expected the name of a label");
      return false;
    }
    array_push(out, p->at);
    skip(p);
  } while (contract_take(p, ","));
  return contract_expect(p, "}");
}

// \at(kid, LABEL)
static ContractExpr *parse_at(ContractParser *p) {
  uint32_t first = p->at;
  skip(p);
  ContractExpr *kid = contract_expect(p, "(") ? contract_parse_expr(p) : NULL;
  if (!kid || !contract_expect(p, ","))
    return NULL;
  if (next(p)->kind != TOK_WORD)
    return contract_error(p, p->at, "expected the name of a label");
  uint32_t label = p->at;
  bool old = contract_at(p, "Pre") || contract_at(p, "Old");
  skip(p);
  if (!contract_expect(p, ")"))
    return NULL;
  ContractExpr *n = node_of(p, old ? NODE_OLD : NODE_AT, first, kid, NULL);
  array_push(&n->fields, label);
  n->number = old ? p->nolds++ : 0;
  return n;
}

// \old(kid); every one is numbered.
static ContractExpr *parse_old(ContractParser *p) {
  uint32_t first = p->at;
  skip(p);
  ContractExpr *kid = contract_expect(p, "(") ? contract_parse_expr(p) : NULL;
  if (!kid || !contract_expect(p, ")"))
    return NULL;
  ContractExpr *n = node_of(p, NODE_OLD, first, kid, NULL);
  n->number = p->nolds++;
  return n;
}

static ContractExpr *parse_memory(ContractParser *p, NodeKind kind) {
  uint32_t first = p->at;
  skip(p);
  TokenList labels = {0};
  bool good = contract_labels(p, &labels) && contract_expect(p, "(");
  ContractExpr *n = NULL;
  array_release(&labels); // in which state memory exists is not known
  do {
    ContractExpr *kid = good ? contract_parse_expr(p) : NULL;
    if (!kid)
      return NULL;
    if (!n)
      n = node_of(p, kind, first, kid, NULL);
    else
      array_push(&n->kids, kid);
  } while (contract_take(p, ","));
  if (!contract_expect(p, ")"))
    return NULL;
  n->end = p->at;
  return n;
}

// \sum(low, high, \lambda integer k; value)
static ContractExpr *parse_fold(ContractParser *p) {
  uint32_t first = p->at;
  skip(p);
  ContractExpr *low = contract_expect(p, "(") ? contract_parse_expr(p) : NULL;
  ContractExpr *high =
      low && contract_expect(p, ",") ? contract_parse_expr(p) : NULL;
  if (!high || !contract_expect(p, ",") || !contract_expect(p, "\\lambda"))
    return NULL;
  ContractExpr *n = node_of(p, NODE_FOLD, first, low, high);
  if (!parse_binders(p, n))
    return NULL;
  ContractExpr *value = contract_parse_expr(p);
  if (!value || !contract_expect(p, ")"))
    return NULL;
  array_push(&n->kids, value);
  n->end = p->at;
  return n;
}

static ContractExpr *parse_extreme(ContractParser *p) {
  uint32_t first = p->at;
  bool one = contract_at(p, "\\abs");
  skip(p);
  ContractExpr *a = contract_expect(p, "(") ? contract_parse_expr(p) : NULL,
               *b = NULL;
  if (a && !one)
    b = contract_expect(p, ",") ? contract_parse_expr(p) : NULL;
  if (!a || (!one && !b) || !contract_expect(p, ")"))
    return NULL;
  return node_of(p, NODE_EXTREME, first, a, b);
}

static ContractExpr *parse_slashed(ContractParser *p) {
  static const char *const words[] = {"\\null", "\\true", "\\false"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (!contract_at(p, words[i]))
      continue;
    skip(p);
    return new_node(p, NODE_PLAIN, p->at - 1);
  }
  if (contract_at(p, "\\forall") || contract_at(p, "\\exists"))
    return parse_quantifier(p);
  if (contract_at(p, "\\let"))
    return parse_let(p);
  if (contract_at(p, "\\old"))
    return parse_old(p);
  if (contract_at(p, "\\at"))
    return parse_at(p);
  if (contract_at(p, "\\valid") || contract_at(p, "\\valid_read"))
    return parse_memory(p, NODE_VALID);
  if (contract_at(p, "\\initialized")) // as far as that can be seen
    return parse_memory(p, NODE_VALID);
  if (contract_at(p, "\\separated"))
    return parse_memory(p, NODE_SEPARATED);
  if (contract_at(p, "\\sum") || contract_at(p, "\\product") ||
      contract_at(p, "\\numof"))
    return parse_fold(p);
  if (contract_at(p, "\\acyclic"))
    return parse_links(p, NODE_ACYCLIC);
  if (contract_at(p, "\\size"))
    return parse_of_sets(p, NODE_SIZE);
  if (contract_at(p, "\\disjoint"))
    return parse_of_sets(p, NODE_DISJOINT);
  if (contract_at(p, "\\min") || contract_at(p, "\\max") ||
      contract_at(p, "\\abs"))
    return parse_extreme(p);
  if (contract_take(p, "\\result"))
    return new_node(p, NODE_RESULT, p->at - 1);
  const Token *t = next(p);
  if (contract_at(p, "\\reach"))
    return contract_error(p, p->at,
                          "a set has no value: write \\size(...), "
                          "\\disjoint(..., ...) or x \\in ...");
  return contract_unsupported(
      p, p->at, "'%.*s' is not supported; this clause is not checked",
      (int)(t->len < 40 ? t->len : 40), p->text + t->at);
}

// Does "(" here begin a cast: words and stars, then ")", then an operand?
static bool is_cast(const ContractParser *p) {
  uint32_t i = p->at + 1;
  bool star = false, keyword = false;
  for (; token(p, i)->kind == TOK_WORD || token_is(p->text, token(p, i), "*");
       i++) {
    star |= token_is(p->text, token(p, i), "*");
    keyword |= token_is_keyword(p->text, token(p, i));
    if (star && token(p, i)->kind == TOK_WORD &&
        !token_is(p->text, token(p, i), "const"))
      return false; // (a * b)
  }
  if (i < p->at + 2 || !token_is(p->text, token(p, i), ")") ||
      token_is(p->text, token(p, p->at + 1), "*"))
    return false;
  const Token *after = token(p, i + 1);
  bool operand = after->kind == TOK_WORD || after->kind == TOK_NUMBER ||
                 after->kind == TOK_TEXT || after->kind == TOK_SLASHED;
  return star || keyword || operand || i > p->at + 2;
}

static void skip_parens(ContractParser *p) {
  int depth = 0;
  do {
    depth += contract_at(p, "(");
    depth -= contract_at(p, ")");
    skip(p);
  } while (depth && next(p)->kind != TOK_END);
}

// What a range leaves out.
static ContractExpr *parse_bound(ContractParser *p, const char *end) {
  return contract_at(p, end) ? new_node(p, NODE_NONE, p->at)
                             : contract_parse_expr(p);
}

// ( expression ), ( low .. high )
static ContractExpr *parse_parens(ContractParser *p) {
  uint32_t first = p->at;
  skip(p);
  ContractExpr *kid = parse_bound(p, ".."), *high = NULL;
  if (kid && contract_take(p, "..") && !(high = parse_bound(p, ")")))
    return NULL;
  return kid && contract_expect(p, ")")
             ? node_of(p, NODE_PAREN, first, kid, high)
             : NULL;
}

static void *refuse_primary(ContractParser *p) {
  const Token *t = next(p);
  if (is_side_effect(p))
    refuse_side_effect(p);
  else if (t->kind == TOK_END)
    contract_error(p, p->at,
                   "expected an expression before the end of the "
                   "contract");
  else
    contract_error(p, p->at, "expected an expression before '%.*s'",
                   (int)(t->len < 40 ? t->len : 40), p->text + t->at);
  return NULL;
}

static bool parse_arguments(ContractParser *p, ContractExpr *call,
                            const char *close) {
  if (contract_take(p, close))
    return true;
  do {
    ContractExpr *arg = contract_parse_expr(p);
    if (!arg)
      return false;
    array_push(&call->kids, arg);
  } while (contract_take(p, ","));
  return contract_expect(p, close);
}

// name{labels}(arguments), name{labels}, name(arguments)
static ContractExpr *parse_apply(ContractParser *p) {
  ContractExpr *n = new_node(p, NODE_APPLY, p->at);
  skip(p);
  if (!contract_labels(p, &n->fields) ||
      (contract_take(p, "(") && !parse_arguments(p, n, ")")))
    return NULL;
  n->end = p->at;
  return n;
}

static ContractExpr *parse_primary(ContractParser *p) {
  const Token *t = next(p);
  uint32_t first = p->at;
  if (t->kind == TOK_SLASHED)
    return parse_slashed(p);
  if (contract_at(p, "("))
    return parse_parens(p);
  bool text = t->kind == TOK_TEXT;
  if (t->kind != TOK_WORD && t->kind != TOK_NUMBER && !text)
    return refuse_primary(p);
  if (t->kind == TOK_WORD &&
      (token_is(p->text, t + 1, "(") || token_is(p->text, t + 1, "{")))
    return parse_apply(p);
  do
    skip(p);
  while (text && next(p)->kind == TOK_TEXT);
  return new_node(p, NODE_PLAIN, first);
}

static ContractExpr *parse_index(ContractParser *p, ContractExpr *n) {
  uint32_t first = p->at;
  skip(p);
  ContractExpr *at = parse_bound(p, "..");
  if (at && contract_take(p, "..")) { // a[low .. high]
    ContractExpr *high = parse_bound(p, "]");
    at = high ? node_of(p, NODE_PAREN, first, at, high) : NULL;
  }
  if (!at || !contract_expect(p, "]"))
    return NULL;
  return node_of(p, NODE_INDEX, n->first, n, at);
}

static ContractExpr *parse_member(ContractParser *p, ContractExpr *n) {
  skip(p);
  if (next(p)->kind != TOK_WORD)
    return contract_error(p, p->at, "expected the name of a field");
  skip(p);
  return node_of(p, NODE_MEMBER, n->first, n, NULL);
}

static ContractExpr *parse_postfix(ContractParser *p) {
  ContractExpr *n = parse_primary(p);
  while (n && !p->failed) {
    if (contract_at(p, "++") || contract_at(p, "--")) {
      refuse_side_effect(p);
      return NULL;
    }
    if (contract_at(p, ".") || contract_at(p, "->")) {
      n = parse_member(p, n);
    } else if (contract_at(p, "[")) {
      n = parse_index(p, n);
    } else if (contract_take(p, "(")) {
      n = node_of(p, NODE_CALL, n->first, n, NULL);
      if (!parse_arguments(p, n, ")"))
        return NULL;
      n->end = p->at;
    } else {
      return n;
    }
  }
  return n;
}

static ContractExpr *parse_prefixed(ContractParser *p, uint32_t first) {
  bool deref = token_is(p->text, token(p, first), "*");
  ContractExpr *kid = parse_unary(p);
  return node_of(p, deref ? NODE_DEREF : NODE_PLAIN, first, kid, NULL);
}

static ContractExpr *parse_unary(ContractParser *p) {
  uint32_t first = p->at;
  if (++p->depth > DEPTH_MAX)
    return contract_error(p, p->at, "nested too deeply");
  ContractExpr *n;
  if (contract_at(p, "!") || contract_at(p, "~") || contract_at(p, "-") ||
      contract_at(p, "+") || contract_at(p, "*") || contract_at(p, "&")) {
    skip(p);
    n = parse_prefixed(p, first);
  } else if (contract_at(p, "(") && is_cast(p)) {
    skip_parens(p);
    n = parse_prefixed(p, first);
  } else if (contract_at(p, "sizeof")) {
    skip(p);
    if (contract_at(p, "(")) {
      skip_parens(p);
      n = new_node(p, NODE_PLAIN, first);
    } else {
      n = parse_prefixed(p, first);
    }
  } else {
    n = parse_postfix(p);
  }
  p->depth--;
  return n;
}

// --- operators of C ---------------------------------------------------------

// From loosest to tightest, between && and unary operators; comparisons are
// chains.
static const char *const levels[][5] = {{"|"},
                                        {"^"},
                                        {"&"},
                                        {"==", "!="},
                                        {"<", "<=", ">", ">=", "\\in"},
                                        {"<<", ">>"},
                                        {"+", "-"},
                                        {"*", "/", "%"}};
enum {
  LEVELS = sizeof levels / sizeof *levels,
  EQUALITY = 3,
  ORDER = 4,
  SUMS = 6
};

static bool at_level(const ContractParser *p, int level) {
  for (int i = 0; i < 5 && levels[level][i]; i++)
    if (contract_at(p, levels[level][i]))
      return true;
  return false;
}

static ContractExpr *parse_level(ContractParser *p, int level);

static ContractExpr *operand(ContractParser *p, int level) {
  return level + 1 < LEVELS ? parse_level(p, level + 1) : parse_unary(p);
}

static char direction(const ContractParser *p, uint32_t op) {
  return p->text[token(p, op)->at];
}

static ContractExpr *parse_in(ContractParser *p, ContractExpr *left) {
  skip(p);
  ContractExpr *set = parse_set(p);
  return set ? node_of(p, NODE_IN, left->first, left, set) : NULL;
}

// a < b <= c; a == b == c. Both directions in one chain say nothing.
static ContractExpr *parse_chain(ContractParser *p, int level,
                                 ContractExpr *left) {
  if (contract_at(p, "\\in"))
    return parse_in(p, left);
  ContractExpr *n = node_of(p, NODE_CHAIN, left->first, left, NULL);
  while (at_level(p, level)) {
    uint32_t op = p->at;
    bool mixed =
        n->ops.len && (direction(p, op) != direction(p, n->ops.items[0]) ||
                       direction(p, op) == '!');
    if (mixed || contract_at(p, "\\in"))
      return contract_error(p, op,
                            "these comparisons are no chain: use "
                            "parentheses or &&");
    skip(p);
    ContractExpr *right = operand(p, level);
    if (!right)
      return NULL;
    array_push(&n->ops, op);
    array_push(&n->kids, right);
  }
  n->end = p->at;
  return n;
}

static ContractExpr *parse_level(ContractParser *p, int level) {
  ContractExpr *n = operand(p, level);
  if (!n || p->failed || !at_level(p, level))
    return n;
  if (level == EQUALITY || level == ORDER)
    return parse_chain(p, level, n);
  n = node_of(p, level >= SUMS ? NODE_ARITH : NODE_PLAIN, n->first, n, NULL);
  while (at_level(p, level)) {
    if (level >= SUMS)
      array_push(&n->ops, p->at);
    skip(p);
    ContractExpr *right = operand(p, level);
    if (!right)
      return NULL;
    array_push(&n->kids, right);
    n->end = p->at;
  }
  return n;
}

// --- operators of logic -----------------------------------------------------

static const struct {
  const char *mark;
  NodeKind kind;
} logic[] = {{"<==>", NODE_IFF},
             {"==>", NODE_IMPLIES},
             {"||", NODE_OR},
             {"^^", NODE_XOR},
             {"&&", NODE_AND}};
enum { LOGIC = sizeof logic / sizeof *logic };

static ContractExpr *parse_logic(ContractParser *p, int level) {
  if (level == LOGIC)
    return parse_level(p, 0);
  ContractExpr *n = parse_logic(p, level + 1);
  while (n && !p->failed && contract_take(p, logic[level].mark)) {
    bool right = logic[level].kind == NODE_IMPLIES; // associates to the right
    ContractExpr *b = parse_logic(p, right ? level : level + 1);
    n = b ? node_of(p, logic[level].kind, n->first, n, b) : NULL;
  }
  return n;
}

static ContractExpr *parse_choice(ContractParser *p) {
  ContractExpr *n = parse_logic(p, 0);
  if (!n || !contract_take(p, "?"))
    return n;
  n = node_of(p, NODE_PLAIN, n->first, n, NULL);
  ContractExpr *yes = contract_parse_expr(p);
  ContractExpr *no =
      yes && contract_expect(p, ":") ? contract_parse_expr(p) : NULL;
  if (!no)
    return NULL;
  array_push(&n->kids, yes);
  array_push(&n->kids, no);
  n->end = p->at;
  return n;
}

ContractExpr *contract_parse_expr(ContractParser *p) {
  if (++p->depth > DEPTH_MAX)
    return contract_error(p, p->at, "nested too deeply");
  ContractExpr *n = parse_choice(p);
  p->depth--;
  if (n && !p->failed && is_side_effect(p)) {
    refuse_side_effect(p);
    return NULL;
  }
  return p->failed ? NULL : n;
}
