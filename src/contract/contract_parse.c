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
  static const char *const names[CLAUSE_KINDS] = {
      "requires", "ensures", "assert", "invariant", "assigns", "variant"};
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
      "requires",   "ensures", "behavior",  "assigns",   "assumes",
      "assert",     "loop",    "complete",  "disjoint",  "predicate",
      "logic",      "lemma",   "axiom",     "axiomatic", "inductive",
      "terminates", "exits",   "decreases", "ghost",     "for",
      "}"};
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
  array_push(&r->a->clauses,
             (Clause){kind, name, expr, r->behavior, at, r->p.at, 0, 0});
}

// A node made from what was read, as a clause.
static void add_clause(Reader *r, ClauseKind kind, uint32_t from,
                       ContractExpr *n) {
  if (!n || !contract_expect(&r->p, ";")) {
    skip_clause(r);
    r->p.failed = false;
    r->a->open_frame |= kind == CLAUSE_ASSIGNS;
  } else if (r->a->clauses.len < CONTRACT_CLAUSES_MAX) {
    const char *word = kind == CLAUSE_ASSIGNS ? "assigns" : token_text(r, from);
    const char *name =
        arena_printf(&r->p.pool->arena, "%s_%u", word, ++r->unnamed[kind]);
    n->end = r->p.at - 1;
    array_push(&r->a->clauses,
               (Clause){kind, name, n, r->behavior, from, r->p.at, 0, 0});
  }
}

// place, place, ... \from ...
static void read_assigns(Reader *r) {
  uint32_t from = r->p.at - 1;
  ContractExpr *n = contract_node(&r->p, NODE_PLACES, from);
  if (contract_take(&r->p, "\\nothing")) {
    add_clause(r, CLAUSE_ASSIGNS, from, n);
    return;
  }
  do {
    if (contract_take(&r->p, "\\result"))
      continue;
    ContractExpr *place = contract_parse_expr(&r->p);
    if (!place) {
      n = NULL;
      break;
    }
    array_push(&n->kids, place);
  } while (contract_take(&r->p, ","));
  if (n && contract_at(&r->p, "\\from"))
    while (next(r)->kind != TOK_END && !contract_at(&r->p, ";"))
      r->p.at++;
  add_clause(r, CLAUSE_ASSIGNS, from, n);
}

// "complete behaviors a, b;" is checked with the preconditions.
static void read_behaviors(Reader *r) {
  uint32_t from = r->p.at - 1;
  ContractExpr *n = contract_node(&r->p, NODE_BEHAVIORS, from);
  bool good = contract_expect(&r->p, "behaviors"), known = true;
  while (good && next(r)->kind == TOK_WORD) {
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < r->a->behaviors.len; i++)
      if (token_is(r->p.text, next(r), r->a->behaviors.items[i].name))
        found = i;
    known &= found != UINT32_MAX;
    if (!known)
      contract_error(&r->p, r->p.at, "there is no behavior of this name");
    array_push(&n->fields, found);
    r->p.at++;
    contract_take(&r->p, ",");
  }
  bool all = good && !n->fields.len;
  for (uint32_t i = 0; all && i < r->a->behaviors.len; i++)
    array_push(&n->fields, i);
  int around = r->behavior;
  r->behavior = -1;
  add_clause(r, CLAUSE_REQUIRES, from, good && known ? n : NULL);
  r->behavior = around;
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

// Nothing that a run could decide.
static void pass_clause(Reader *r) { skip_clause(r); }

static void ignore_clause(Reader *r, uint32_t keyword) {
  const Token *t = &r->p.tokens[keyword];
  char *text = arena_printf(&r->p.pool->arena, "'%.*s' is not checked",
                            (int)t->len, r->p.text + t->at);
  array_push(r->p.diags, (Diag){DIAG_NOTE, t->line, t->col, text});
  skip_clause(r);
}

// --- logic ------------------------------------------------------------------

static bool read_params(Reader *r, Logic *l) {
  if (!contract_labels(&r->p, &l->labels))
    return false;
  l->params = l->params_end = r->p.at;
  if (!contract_take(&r->p, "("))
    return true;
  l->params = r->p.at;
  for (int depth = 1; depth;) {
    if (next(r)->kind == TOK_END)
      return contract_expect(&r->p, ")");
    depth += contract_at(&r->p, "(");
    depth -= contract_at(&r->p, ")");
    l->arity += depth == 1 && contract_at(&r->p, ",");
    l->params_end = r->p.at++;
  }
  l->arity += l->params < l->params_end;
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
  if (good && contract_take(&r->p, "=") && (l.body = read_expr(r))) {
    l.end = r->p.at;
    array_push(&r->a->logics, l);
  } else {
    array_release(&l.labels);
    skip_clause(r), r->p.failed = false;
  }
}

// --- annotations ------------------------------------------------------------

static void read_loop(Reader *r) {
  r->a->loop = true;
  uint32_t keyword = r->p.at;
  if (contract_take(&r->p, "invariant"))
    read_clause(r, CLAUSE_INVARIANT);
  else if (contract_take(&r->p, "variant"))
    read_clause(r, CLAUSE_VARIANT);
  else if (contract_at(&r->p, "assigns") || contract_at(&r->p, "decreases") ||
           contract_at(&r->p, "allocates") || contract_at(&r->p, "frees") ||
           contract_at(&r->p, "unroll") || contract_at(&r->p, "pragma"))
    ignore_clause(r, keyword);
  else
    contract_error(&r->p, keyword, "expected 'invariant' after 'loop'");
}

static const char *const ignored[] = {"terminates", "decreases", "allocates",
                                      "frees",      "exits",     "admit",
                                      "returns",    "breaks",    "continues"};
// What a run cannot decide, or need not.
static const char *const passed[] = {
    "lemma", "axiom",  "axiomatic", "inductive", "type",
    "model", "import", "module",    "volatile",  "global"};

static bool is_any(const Reader *r, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (contract_at(&r->p, words[i]))
      return true;
  return false;
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool read_one(Reader *r);

// "for b, c: assert ...", "for b: loop invariant ..."
static bool read_for(Reader *r) {
  uint32_t only = r->p.at;
  while (next(r)->kind == TOK_WORD || contract_at(&r->p, ","))
    r->p.at++;
  uint32_t only_end = r->p.at;
  size_t first = r->a->clauses.len;
  bool good = contract_take(&r->p, ":") && read_one(r);
  for (size_t i = first; i < r->a->clauses.len; i++) {
    r->a->clauses.items[i].only = only;
    r->a->clauses.items[i].only_end = only_end;
  }
  return good;
}

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
  else if (contract_take(&r->p, "assigns"))
    read_assigns(r);
  else if (contract_take(&r->p, "complete") || contract_take(&r->p, "disjoint"))
    read_behaviors(r);
  else if (contract_at(&r->p, "for") &&
           r->p.tokens[r->p.at + 1].kind == TOK_WORD)
    return r->p.at++, read_for(r);
  else if (is_any(r, passed, COUNT(passed)))
    pass_clause(r);
  else if (is_any(r, ignored, COUNT(ignored)))
    ignore_clause(r, keyword);
  else
    return false;
  return true;
}

static bool is_of_function(const Clause *c) {
  return c->kind <= CLAUSE_ENSURES || c->kind == CLAUSE_ASSIGNS;
}

static AnnotationKind kind_of(const Annotation *a) {
  if (a->logics.len)
    return ANNOTATION_LOGIC;
  if (!a->clauses.len)
    return ANNOTATION_NONE;
  return is_of_function(&a->clauses.items[0]) ? ANNOTATION_FUNCTION
                                              : ANNOTATION_CODE;
}

// A contract of a function holds nothing else.
static void check_mixture(Reader *r) {
  const Annotation *a = r->a;
  bool mixed = a->logics.len && a->clauses.len;
  for (size_t i = 1; i < a->clauses.len; i++)
    mixed |= is_of_function(&a->clauses.items[i]) !=
             is_of_function(&a->clauses.items[0]);
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
  if (contract_at(&r->p, "ghost")) {
    r->a->kind = ANNOTATION_GHOST;
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
    if (first)
      return;
    contract_error(&r->p, r->p.at, "expected a clause, as 'ensures'");
    skip_clause(r);
    r->p.failed = false;
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
  if (a->kind == ANNOTATION_GHOST)
    return;
  check_mixture(&r);
  a->kind = kind_of(a);
}

void annotation_release(Annotation *a) {
  for (size_t i = 0; i < a->behaviors.len; i++)
    array_release(&a->behaviors.items[i].assumes);
  array_release(&a->behaviors);
  array_release(&a->clauses);
  for (size_t i = 0; i < a->logics.len; i++)
    array_release(&a->logics.items[i].labels);
  array_release(&a->logics);
  array_release(&a->tokens);
}

bool annotation_has(const Annotation *a, uint32_t line, uint32_t col) {
  const Token *end = &array_last(&a->tokens);
  bool after =
      line > a->whole.line || (line == a->whole.line && col >= a->whole.col);
  bool before = line < end->line || (line == end->line && col <= end->col);
  return after && before;
}

// --- leaving out ------------------------------------------------------------

static bool drop_logic(Annotation *a, uint32_t token) {
  for (size_t i = 0; i < a->logics.len; i++) {
    Logic *l = &a->logics.items[i];
    if (token < l->keyword || token >= l->end)
      continue;
    array_release(&l->labels);
    memmove(l, l + 1, (--a->logics.len - i) * sizeof *l);
    return true;
  }
  return false;
}

static void drop_clause(Annotation *a, size_t i) {
  Clause *c = &a->clauses.items[i];
  a->open_frame |= c->kind == CLAUSE_ASSIGNS;
  memmove(c, c + 1, (--a->clauses.len - i) * sizeof *c);
}

// Without what it assumes a behavior says nothing.
static bool drop_behavior(Annotation *a, uint32_t token) {
  for (size_t b = 0; b < a->behaviors.len; b++) {
    Behavior *behavior = &a->behaviors.items[b];
    for (size_t i = 0; i < behavior->assumes.len; i++) {
      const ContractExpr *n = behavior->assumes.items[i];
      if (token < n->first || token >= n->end)
        continue;
      behavior->assumes.len = 0;
      for (size_t k = a->clauses.len; k--;)
        if (a->clauses.items[k].behavior == (int)b ||
            a->clauses.items[k].expr->kind == NODE_BEHAVIORS)
          drop_clause(a, k);
      return true;
    }
  }
  return false;
}

bool annotation_drop(Annotation *a, uint32_t line, uint32_t col) {
  uint32_t token = 0;
  for (uint32_t i = 0; i < a->tokens.len; i++) {
    const Token *t = &a->tokens.items[i];
    if (t->line < line || (t->line == line && t->col <= col))
      token = i;
  }
  for (size_t i = 0; i < a->clauses.len; i++) {
    const Clause *c = &a->clauses.items[i];
    if (token >= c->from && token < c->end) {
      drop_clause(a, i);
      return true;
    }
  }
  return drop_logic(a, token) || drop_behavior(a, token);
}
