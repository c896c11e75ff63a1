// Finds the contracts of one source file: see contract_scan.h.
#include "contract/contract_scan.h"

#include <stdlib.h>
#include <string.h>

#include "util/fs.h"

enum { NESTED_MAX = 200 }; // statements: hostile input must not end our stack

typedef struct {
  ContractSource *s;
  const char *text;
  const Token *tokens;
  uint32_t at;
  int depth;
  ARRAY(int) branches; // depth at each open #if
  uint32_t start;      // of the declaration at depth 0
  int pending;         // annotation that waits for its function
  int function;        // head we are inside, -1: none
} Scanner;

bool contract_suspected(const char *text, size_t len) {
  const char *end = text + len;
  for (const char *p = text; p && end - p > 3; p++) {
    p = memchr(p, '@', (size_t)(end - p));
    if (!p)
      return false;
    if (p >= text + 2 && p[-2] == '/' && (p[-1] == '*' || p[-1] == '/'))
      return true;
  }
  return false;
}

static bool is(const Scanner *c, uint32_t i, const char *mark) {
  return token_is(c->text, &c->tokens[i], mark);
}

static bool is_blank(const Scanner *c, uint32_t i) {
  return c->tokens[i].kind == TOK_DIRECTIVE ||
         c->tokens[i].kind == TOK_ANNOTATION;
}

// Behind the parenthesis that closes the one at `i`.
static uint32_t behind_parens(const Scanner *c, uint32_t i) {
  int depth = 0;
  for (; c->tokens[i].kind != TOK_END; i++) {
    depth += is(c, i, "(") || is(c, i, "[");
    depth -= is(c, i, ")") || is(c, i, "]");
    if (!depth)
      return i + 1;
  }
  return i;
}

static void report(Scanner *c, const Token *at, const char *text) {
  array_push(&c->s->diags, (Diag){DIAG_ERROR, at->line, at->col,
                                  arena_strdup(&c->s->pool.arena, text)});
}

// --- heads ------------------------------------------------------------------

static bool may_follow_params(const Scanner *c, uint32_t i, uint32_t end) {
  return i >= end || is(c, i, "__attribute__") || is(c, i, "__asm__") ||
         is(c, i, "asm") || is(c, i, "__attribute") || is(c, i, "[") ||
         is_blank(c, i);
}

// The name of the function declared by the tokens [start, end).
static bool find_head(const Scanner *c, uint32_t start, uint32_t end, Head *h) {
  for (uint32_t i = start; i < end;) {
    if (is(c, i, "="))
      return false;
    bool group = is(c, i, "(") || is(c, i, "[");
    const Token *t = &c->tokens[i];
    if (t->kind == TOK_WORD && !token_is_keyword(c->text, t) &&
        is(c, i + 1, "(")) {
      uint32_t behind = behind_parens(c, i + 1);
      if (may_follow_params(c, behind, end)) {
        *h = (Head){.first = start,
                    .name = i,
                    .params = i + 2,
                    .params_end = behind - 1,
                    .contract = -1};
        return true;
      }
      i = behind;
    } else {
      i = group ? behind_parens(c, i) : i + 1;
    }
  }
  return false;
}

static void lost_contract(Scanner *c) {
  if (c->pending >= 0)
    report(c, &c->s->annotations.items[c->pending].whole,
           "this contract does not stand before a function");
  c->pending = -1;
}

static bool add_head(Scanner *c, bool definition) {
  Head h;
  if (!find_head(c, c->start, c->at, &h)) {
    lost_contract(c);
    return false;
  }
  h.definition = definition;
  h.contract = c->pending;
  c->pending = -1;
  if (definition || h.contract >= 0)
    array_push(&c->s->heads, h);
  return true;
}

// --- annotations ------------------------------------------------------------

// Where the head of the loop at token `i` takes a check.
static bool loop_place(Scanner *c, uint32_t i, Check *out) {
  uint32_t at = 0;
  if (is(c, i, "while") && is(c, i + 1, "(")) {
    at = i + 1;
    out->expression = true;
  } else if (is(c, i, "do") && is(c, i + 1, "{")) {
    at = i + 1;
  } else if (is(c, i, "for") && is(c, i + 1, "(")) {
    uint32_t end = behind_parens(c, i + 1);
    int depth = 0;
    for (uint32_t k = i + 1; k < end && !at; k++) {
      depth += is(c, k, "(") - is(c, k, ")");
      at = depth == 1 && is(c, k, ";") ? k : 0;
    }
    out->expression = true;
    out->empty = at && is(c, at + 1, ";");
  }
  out->at = c->tokens[at].at + 1;
  return at != 0;
}

static bool is_loop(const Scanner *c, uint32_t i) {
  return is(c, i, "for") || is(c, i, "while") || is(c, i, "do");
}

// Behind the statement that begins at `i`; `nested`: how deep we are in others.
static uint32_t behind_statement(const Scanner *c, uint32_t i, int nested) {
  int depth = 0;
  while (is_blank(c, i))
    i++;
  if (nested++ > NESTED_MAX)
    return i;
  if (is(c, i, "do"))
    return behind_statement(c, behind_statement(c, i + 1, nested), nested);
  if ((is_loop(c, i) || is(c, i, "if") || is(c, i, "switch")) &&
      is(c, i + 1, "(")) {
    bool loop = is_loop(c, i);
    i = behind_statement(c, behind_parens(c, i + 1), nested);
    return !loop && is(c, i, "else") ? behind_statement(c, i + 1, nested) : i;
  }
  for (; c->tokens[i].kind != TOK_END; i++) {
    depth += is(c, i, "{") || is(c, i, "(");
    depth -= is(c, i, "}") || is(c, i, ")");
    if (depth < 0)
      return i;
    if (!depth && (is(c, i, ";") || is(c, i, "}")))
      return i + 1;
  }
  return i;
}

// The loop around the place we are at; 0: none.
static uint32_t innermost_loop(const Scanner *c) {
  uint32_t first = c->s->heads.items[c->function].params_end, found = 0;
  for (uint32_t i = first; i < c->at; i++)
    if (is_loop(c, i) && behind_statement(c, i, 0) > c->at)
      found = i;
  return found;
}

static void add_check(Scanner *c, uint32_t annotation) {
  const Annotation *a = &c->s->annotations.items[annotation];
  if (c->function < 0) {
    report(c, &a->whole, "this assertion does not stand inside a function");
    return;
  }
  Check check = {annotation, (uint32_t)c->function, a->whole.at, false, false,
                 0};
  uint32_t next = c->at + 1;
  while (is_blank(c, next))
    next++;
  check.loop = a->loop ? next : innermost_loop(c);
  if (a->loop && !loop_place(c, next, &check))
    report(c, &a->whole,
           "a loop invariant stands before 'while (', 'for (' or 'do {'");
  else
    array_push(&c->s->checks, check);
}

static void add_annotation(Scanner *c) {
  ContractSource *s = c->s;
  Annotation a;
  annotation_parse(&a, c->text, c->tokens[c->at], &s->pool, &s->diags);
  uint32_t index = (uint32_t)s->annotations.len;
  array_push(&s->annotations, a);
  if (a.kind == ANNOTATION_CODE) {
    add_check(c, index);
  } else if (a.kind == ANNOTATION_FUNCTION && c->function >= 0) {
    report(c, &a.whole,
           "the contract of a statement is not supported: use "
           "assert");
    c->s->annotations.items[index].kind = ANNOTATION_NONE;
  } else if (a.kind == ANNOTATION_FUNCTION) {
    lost_contract(c);
    c->pending = (int)index;
    c->start = c->at + 1;
  } else if (c->start == c->at) {
    c->start = c->at + 1;
  }
}

// --- variables --------------------------------------------------------------

// "static int count = 0, total;": not functions, types, constants, and nothing
// that the preprocessor may leave out.
static void add_variables(Scanner *c) {
  static const char *const others[] = {
      "typedef", "const",    "struct",        "union",  "enum", "volatile",
      "_Atomic", "__thread", "_Thread_local", "extern", NULL};
  uint32_t i = c->start, last = 0;
  if (c->branches.len || c->s->variables.len >= 32)
    return;
  for (uint32_t k = i; k < c->at; k++)
    if (token_is_one_of(c->text, &c->tokens[k], others) || is(c, k, "(") ||
        is(c, k, ":"))
      return;
  for (; i <= c->at; i++) {
    bool ends =
        is(c, i, "=") || is(c, i, ",") || is(c, i, "[") || is(c, i, ";");
    if (ends && last > c->start)
      array_push(&c->s->variables, last);
    last = c->tokens[i].kind == TOK_WORD ? i : 0;
    if (is(c, i, "=")) // what it is set to
      for (int depth = 0; i + 1 < c->at && (depth || !is(c, i + 1, ",")); i++)
        depth += is(c, i + 1, "{") - is(c, i + 1, "}");
    else if (is(c, i, "["))
      i = behind_parens(c, i) - 1;
  }
}

// --- the file ---------------------------------------------------------------

// Does the word stand behind the # of the directive?
static bool directive_is(const char *text, const Token *t, const char *word) {
  const char *p = text + t->at + 1, *end = text + t->at + t->len;
  while (p < end && (*p == ' ' || *p == '\t'))
    p++;
  size_t n = strlen(word);
  return (size_t)(end - p) >= n && !memcmp(p, word, n);
}

bool contract_ends_branch(const ContractSource *s, const Token *directive) {
  const char *text = str_text(&s->text);
  return directive_is(text, directive, "el") ||
         directive_is(text, directive, "endif");
}

// Of #if, #elif, #else only the last branch counts for braces: any would do.
static void directive(Scanner *c) {
  const Token *t = &c->tokens[c->at];
  if (directive_is(c->text, t, "if"))
    array_push(&c->branches, c->depth);
  else if (directive_is(c->text, t, "el") && c->branches.len)
    c->depth = array_last(&c->branches);
  else if (directive_is(c->text, t, "endif") && c->branches.len)
    c->branches.len--;
  if (c->start == c->at)
    c->start = c->at + 1;
}

static void open_brace(Scanner *c) {
  if (!c->depth && add_head(c, true))
    c->function = (int)c->s->heads.len - 1;
  c->depth++;
}

static void close_brace(Scanner *c) {
  bool outermost = c->function >= 0 && c->tokens[c->at].col == 1;
  c->depth = outermost ? 0 : c->depth - (c->depth > 0);
  if (c->depth || c->function < 0)
    return;
  c->function = -1;
  c->start = c->at + 1;
}

static void step(Scanner *c) {
  const Token *t = &c->tokens[c->at];
  if (t->kind == TOK_ANNOTATION) {
    add_annotation(c);
  } else if (t->kind == TOK_DIRECTIVE) {
    directive(c);
  } else if (is(c, c->at, "{")) {
    open_brace(c);
  } else if (is(c, c->at, "}")) {
    close_brace(c);
  } else if (is(c, c->at, ";") && !c->depth) {
    if (c->pending >= 0)
      add_head(c, false);
    else
      add_variables(c);
    c->start = c->at + 1;
  }
}

void contract_scan(ContractSource *s, const char *path, Str *text) {
  *s = (ContractSource){.path = mem_strdup(path),
                        .full = path_absolute(path, NULL),
                        .text = *text};
  *text = (Str){0};
  contract_lex(str_text(&s->text), s->text.len, &s->tokens);
  Scanner c = {.s = s,
               .text = str_text(&s->text),
               .tokens = s->tokens.items,
               .pending = -1,
               .function = -1};
  for (; c.tokens[c.at].kind != TOK_END; c.at++)
    step(&c);
  lost_contract(&c);
  array_release(&c.branches);
}

void contract_source_release(ContractSource *s) {
  for (size_t i = 0; i < s->annotations.len; i++)
    annotation_release(&s->annotations.items[i]);
  array_release(&s->annotations);
  array_release(&s->tokens);
  array_release(&s->heads);
  array_release(&s->checks);
  array_release(&s->variables);
  array_release(&s->marks);
  array_release(&s->diags);
  node_pool_release(&s->pool);
  str_release(&s->text);
  free(s->path);
  free(s->full);
}
