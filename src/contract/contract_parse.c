// What one annotation says: see contract_parse.h.
#include "contract/contract_parse.h"

#include <string.h>

typedef struct {
  ContractParser p;
  Annotation *a;
  int behavior;
  uint32_t unnamed[CLAUSE_KINDS];
} Reader;

static const Token *next(const Reader *r) { return &r->p.tokens[r->p.at]; }

static const char *token_text(const Reader *r, uint32_t at) {
  const Token *t = &r->p.tokens[at];
  return arena_strndup(&r->p.pool->arena, r->p.text + t->at, t->len);
}

// --- clauses ----------------------------------------------------------------

static const char *clause_name(Reader *r, ClauseKind kind) {
  static const char *const names[] = {"requires", "ensures", "assert",
                                      "invariant"};
  const Token *colon =
      &r->p.tokens[next(r)->kind == TOK_END ? r->p.at : r->p.at + 1];
  if (next(r)->kind == TOK_WORD && token_is(r->p.text, colon, ":")) {
    const char *name = token_text(r, r->p.at);
    r->p.at += 2;
    return name;
  }
  return arena_printf(&r->p.pool->arena, "%s_%u", names[kind],
                      ++r->unnamed[kind]);
}

// Up to and with the semicolon that ends the clause; \forall has its own.
static void skip_clause(Reader *r) {
  static const char *const starts[] = {
      "requires", "ensures",  "behavior", "assigns",   "assumes", "assert",
      "loop",     "complete", "disjoint", "predicate", "logic"};
  while (next(r)->kind != TOK_END) {
    bool semicolon = contract_take(&r->p, ";");
    if (!semicolon) {
      r->p.at++;
      continue;
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
      if (contract_at(&r->p, starts[i]))
        return;
    if (next(r)->kind == TOK_END)
      return;
  }
}

// An expression and its semicolon; NULL after a message.
static ContractExpr *read_expr(Reader *r) {
  ContractExpr *n = contract_parse_expr(&r->p);
  if (n && !contract_expect(&r->p, ";"))
    n = NULL;
  if (!n) {
    skip_clause(r);
    r->p.failed = false;
    r->p.depth = 0;
  }
  return n;
}

static void read_clause(Reader *r, ClauseKind kind) {
  uint32_t at = r->p.at;
  const char *name = clause_name(r, kind);
  ContractExpr *expr = read_expr(r);
  if (!expr)
    return;
  if (r->a->clauses.len >= CONTRACT_CLAUSES_MAX) {
    contract_error(&r->p, at, "more than %d clauses", CONTRACT_CLAUSES_MAX);
    return;
  }
  array_push(&r->a->clauses, (Clause){kind, name, expr, r->behavior});
}

static void read_assumes(Reader *r, uint32_t keyword) {
  if (r->behavior < 0)
    contract_error(&r->p, keyword, "'assumes' belongs to a behavior");
  ContractExpr *expr = read_expr(r);
  if (expr && r->behavior >= 0)
    array_push(&r->a->behaviors.items[r->behavior].assumes, expr);
}

static void read_behavior(Reader *r) {
  if (next(r)->kind != TOK_WORD) {
    contract_error(&r->p, r->p.at, "expected the name of the behavior");
    return;
  }
  Behavior b = {.name = token_text(r, r->p.at++)};
  contract_expect(&r->p, ":");
  r->behavior = (int)r->a->behaviors.len;
  array_push(&r->a->behaviors, b);
}

static void ignore_clause(Reader *r, uint32_t keyword) {
  const Token *t = &r->p.tokens[keyword];
  char *text = arena_printf(&r->p.pool->arena, "'%.*s' is not checked",
                            (int)t->len, r->p.text + t->at);
  array_push(r->p.diags, (Diag){DIAG_NOTE, t->line, t->col, text});
  skip_clause(r);
}

// --- logic ------------------------------------------------------------------

static bool read_params(Reader *r, Logic *l) {
  if (contract_at(&r->p, "{")) // labels
    while (next(r)->kind != TOK_END && !contract_take(&r->p, "}"))
      r->p.at++;
  l->params = l->params_end = r->p.at;
  if (!contract_take(&r->p, "("))
    return true;
  l->params = r->p.at;
  for (int depth = 1; depth;) {
    if (next(r)->kind == TOK_END)
      return contract_expect(&r->p, ")");
    depth += contract_at(&r->p, "(");
    depth -= contract_at(&r->p, ")");
    l->params_end = r->p.at++;
  }
  return true;
}

// Words and stars up to the name, which stands before ( = or {.
static bool read_logic_name(Reader *r, Logic *l, bool typed) {
  l->type = r->p.at;
  while (next(r)->kind == TOK_WORD || contract_at(&r->p, "*"))
    r->p.at++;
  l->name = l->type_end = r->p.at - 1;
  if (r->p.at < l->type + (typed ? 2 : 1) ||
      r->p.tokens[l->name].kind != TOK_WORD) {
    contract_error(&r->p, r->p.at,
                   typed ? "expected a type and a name after 'logic'"
                         : "expected the name of the predicate");
    return false;
  }
  if (!typed)
    l->type = l->type_end;
  return true;
}

static void read_logic(Reader *r, bool typed) {
  Logic l = {.keyword = r->p.at - 1};
  bool good = read_logic_name(r, &l, typed) && read_params(r, &l);
  if (good && !contract_at(&r->p, "="))
    contract_unsupported(&r->p, l.name,
                         "only logic with a definition '= ...' is supported; "
                         "this is not checked");
  if (good && contract_take(&r->p, "=") && (l.body = read_expr(r)))
    array_push(&r->a->logics, l);
  else if (!l.body)
    skip_clause(r), r->p.failed = false;
}

// --- annotations ------------------------------------------------------------

static void read_loop(Reader *r) {
  r->a->loop = true;
  uint32_t keyword = r->p.at;
  if (contract_take(&r->p, "invariant"))
    read_clause(r, CLAUSE_INVARIANT);
  else if (contract_at(&r->p, "assigns") || contract_at(&r->p, "variant") ||
           contract_at(&r->p, "decreases") || contract_at(&r->p, "unroll"))
    ignore_clause(r, keyword);
  else
    contract_error(&r->p, keyword, "expected 'invariant' after 'loop'");
}

static const char *const ignored[] = {"assigns",   "terminates", "decreases",
                                      "allocates", "frees",      "exits",
                                      "complete",  "disjoint",   "admit"};
static const char *const foreign[] = {
    "axiomatic", "lemma", "inductive", "ghost",  "type",  "global",
    "model",     "for",   "volatile",  "import", "module"};

static bool is_any(const Reader *r, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (contract_at(&r->p, words[i]))
      return true;
  return false;
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

// One clause or definition; false: it is none of ours.
static bool read_one(Reader *r) {
  uint32_t keyword = r->p.at;
  if (contract_take(&r->p, "requires"))
    read_clause(r, CLAUSE_REQUIRES);
  else if (contract_take(&r->p, "ensures"))
    read_clause(r, CLAUSE_ENSURES);
  else if (contract_take(&r->p, "assert") || contract_take(&r->p, "check"))
    read_clause(r, CLAUSE_ASSERT);
  else if (contract_take(&r->p, "assumes"))
    read_assumes(r, keyword);
  else if (contract_take(&r->p, "behavior"))
    read_behavior(r);
  else if (contract_take(&r->p, "loop"))
    read_loop(r);
  else if (contract_take(&r->p, "predicate"))
    read_logic(r, false);
  else if (contract_take(&r->p, "logic"))
    read_logic(r, true);
  else if (is_any(r, ignored, COUNT(ignored)))
    ignore_clause(r, keyword);
  else
    return false;
  return true;
}

static AnnotationKind kind_of(const Annotation *a) {
  if (a->logics.len)
    return ANNOTATION_LOGIC;
  if (!a->clauses.len)
    return ANNOTATION_NONE;
  return a->clauses.items[0].kind <= CLAUSE_ENSURES ? ANNOTATION_FUNCTION
                                                    : ANNOTATION_CODE;
}

// A contract of a function holds nothing else.
static void check_mixture(Reader *r) {
  const Annotation *a = r->a;
  bool mixed = a->logics.len && a->clauses.len;
  for (size_t i = 1; i < a->clauses.len; i++)
    mixed |= (a->clauses.items[i].kind <= CLAUSE_ENSURES) !=
             (a->clauses.items[0].kind <= CLAUSE_ENSURES);
  if (mixed)
    contract_error(&r->p, 0,
                   "put definitions, contracts of functions and "
                   "assertions into comments of their own");
}

// "ensure", "require": meant for us, but not understood.
static bool is_near(const Reader *r) {
  static const char *const words[] = {"require",   "ensure",   "asserts",
                                      "invariant", "requries", "post",
                                      "pre",       "predicat"};
  return is_any(r, words, COUNT(words));
}

static void read_all(Reader *r) {
  if (is_any(r, foreign, COUNT(foreign))) {
    const Token *t = next(r);
    bool colon = token_is(r->p.text, t, "for");
    if (!colon || r->p.tokens[r->p.at + 1].kind == TOK_WORD)
      contract_unsupported(&r->p, r->p.at,
                           "'%.*s' is not supported; this is not checked",
                           (int)t->len, r->p.text + t->at);
    return;
  }
  if (is_near(r)) {
    contract_error(&r->p, r->p.at,
                   "no clause begins with this word: write "
                   "requires, ensures, assert, loop "
                   "invariant, behavior, predicate or logic");
    return;
  }
  for (bool first = true; next(r)->kind != TOK_END; first = false) {
    if (read_one(r))
      continue;
    if (!first)
      contract_error(&r->p, r->p.at, "expected a clause, as 'ensures'");
    return;
  }
}

void annotation_parse(Annotation *a, const char *text, Token whole,
                      NodePool *pool, Diags *diags) {
  *a = (Annotation){.whole = whole};
  contract_lex_annotation(text, whole, &a->tokens);
  Reader r = {.p = {.text = text,
                    .tokens = a->tokens.items,
                    .pool = pool,
                    .diags = diags},
              .a = a,
              .behavior = -1};
  read_all(&r);
  check_mixture(&r);
  a->kind = kind_of(a);
}

void annotation_release(Annotation *a) {
  for (size_t i = 0; i < a->behaviors.len; i++)
    array_release(&a->behaviors.items[i].assumes);
  array_release(&a->behaviors);
  array_release(&a->clauses);
  array_release(&a->logics);
  array_release(&a->tokens);
}
