// The outcome of a relation as a clause: see relation_text.h.
#include "close/relation_text.h"

#include <string.h>

#include "plan/place.h"
#include "util/str.h"

enum { SHOWN_MAX = 60 }; // bytes of an operand: longer ones are not shown

// --- comparisons ------------------------------------------------------------

static bool is_comparison(const Code *c, size_t token) {
  static const char *const operators[] = {"==", "!=", "<", ">", "<=", ">="};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (code_is(c, token, operators[i]))
      return true;
  return false;
}

// NULL: too long to be read.
static const char *show(CloseUnit *u, const Code *c, Extent e) {
  Str text = {0};
  code_show(c, code_bare(c, e), &text);
  const char *kept = text.len && text.len <= SHOWN_MAX
                         ? arena_strdup(&u->plan->arena, text.data)
                         : NULL;
  str_release(&text);
  return kept;
}

static void put_columns(const Code *c, Extent e, RelationWords *out) {
  const Token *first = &c->tokens.items[e.first];
  const Token *last = &c->tokens.items[e.last];
  if (first->line != last->line)
    return;
  out->col_lo = first->col;
  out->col_hi = last->col + last->len - 1;
}

// Is the token a variable or member by itself, not the name of a macro?
static bool is_plain_name(CloseUnit *u, const Code *c, size_t token,
                          const Place *place) {
  const Token *t = &c->tokens.items[token];
  const Source *source = &u->plan->sources.items[place->source];
  const Macros *macros =
      source_text_macros(&u->plan->texts.items[place->source], source->path);
  return t->kind == TOK_WORD && !code_is(c, token + 1, "(") &&
         !macros_find(macros, c->text + t->at, t->len, t->line);
}

// Debug information has the place of the operator, or, where a value is tested
// for being zero, that of the value.
static void compare_words(CloseUnit *u, const RelationSite *s, const Code *c,
                          size_t token, const Place *place,
                          RelationWords *out) {
  if (is_comparison(c, token)) {
    Extent all = code_expression(c, token), right = code_right(c, token);
    Extent left = {all.first, token - 1};
    if (all.first >= token || right.last < right.first)
      return;
    put_columns(c, (Extent){left.first, right.last}, out);
    out->left = show(u, c, left);
    out->right = show(u, c, right);
  } else if (!s->right && is_plain_name(u, c, token, place)) {
    Extent all = code_expression(c, token);
    put_columns(c, all, out);
    out->left = show(u, c, all);
  }
}

static bool is_assignment(const Code *c, size_t token) {
  static const char *const operators[] = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (code_is(c, token, operators[i]))
      return true;
  return false;
}

// `*p` of `*p = x`: the star is an operator of one operand if nothing stands in
// front that it could multiply.
static size_t with_stars(const Code *c, size_t first) {
  while (first && code_is(c, first - 1, "*")) {
    const Token *before = first > 1 ? &c->tokens.items[first - 2] : NULL;
    if (before && before->kind != TOK_MARK)
      break;
    if (before && (code_is(c, first - 2, ")") || code_is(c, first - 2, "]")))
      break;
    first--;
  }
  return first;
}

// Does it name a part of something, or what a pointer leads to?
static bool is_part(const Code *c, Extent e) {
  for (size_t i = e.first; i <= e.last; i++)
    if (code_is(c, i, "->") || code_is(c, i, ".") || code_is(c, i, "["))
      return true;
  return code_is(c, e.first, "*");
}

// What stands in front of an assignment; NULL: it is not the whole of it. Where
// the address is loaded or computed, a variable alone is not what is assigned
// to: in `if (x) *p = y` the star could multiply, in `*--p = y` it is farther
// away.
static const char *assigned_text(CloseUnit *u, LLVMValueRef store,
                                 const Code *c, size_t operator) {
  size_t first = code_expression(c, operator- 1).first;
  LLVMValueRef to = LLVMGetOperand(store, 1);
  Extent left = {with_stars(c, first), operator- 1 };
  bool reached = LLVMIsALoadInst(to) || LLVMIsAGetElementPtrInst(to);
  if (reached && !is_part(c, left)) {
    if (!left.first || !code_is(c, left.first - 1, "*"))
      return NULL;
    left.first--;
  }
  return show(u, c, left);
}

static bool ends_operand(const Code *c, size_t token) {
  static const char *const keywords[] = {"return", "else", "do", "case"};
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (code_is(c, token, keywords[i]))
      return false;
  return c->tokens.items[token].kind == TOK_WORD || code_is(c, token, ")") ||
         code_is(c, token, "]");
}

// The operand of `++` or `--`, in front of it or behind it.
static const char *stepped_text(CloseUnit *u, LLVMValueRef store, const Code *c,
                                size_t operator) {
  bool behind = c->tokens.items[operator+ 1].kind == TOK_WORD;
  bool before = operator&& ends_operand(c, operator- 1);
  if (behind)
    return show(u, c, code_expression(c, operator+ 1));
  return before && !code_is(c, operator+ 1, "(") &&
                 !code_is(c, operator+ 1, "*")
             ? assigned_text(u, store, c, operator)
             : NULL;
}

const char *stored_text(CloseUnit *u, LLVMValueRef store) {
  Place place;
  if (!place_of(u->plan, store, &place))
    return NULL;
  const Code *c = source_text_code(&u->plan->texts.items[place.source]);
  size_t token = code_find(c, place.line, place.col_lo);
  if (token == CODE_NONE)
    return NULL;
  if (code_is(c, token, "++") || code_is(c, token, "--"))
    return stepped_text(u, store, c, token);
  return token && is_assignment(c, token) ? assigned_text(u, store, c, token)
                                          : NULL;
}

// A variable by its name, a part of one as it is assigned to.
static void store_words(CloseUnit *u, const RelationSite *s, const Place *place,
                        RelationWords *out) {
  const Code *c = source_text_code(&u->plan->texts.items[place->source]);
  size_t token = code_find(c, place->line, place->col_lo);
  if (token != CODE_NONE && token && is_assignment(c, token)) {
    out->left = assigned_text(u, s->inst, c, token);
  } else if (LLVMIsAAllocaInst(LLVMGetOperand(s->inst, 1))) {
    out->left = close_unit_variable(u, LLVMGetOperand(s->inst, 1));
  }
}

RelationWords relation_words(CloseUnit *u, const RelationSite *s) {
  RelationWords out = {0};
  Place place;
  size_t n;
  if (!place_of(u->plan, s->inst, &place))
    return out;
  LLVMOpcode op = LLVMGetInstructionOpcode(s->inst);
  if (op == LLVMCall) {
    LLVMValueRef callee = LLVMGetCalledValue(s->inst);
    if (LLVMIsAFunction(callee))
      out.left = LLVMGetValueName2(callee, &n);
  } else if (op == LLVMStore) {
    store_words(u, s, &place, &out);
  } else if (op != LLVMRet) {
    const Code *c = source_text_code(&u->plan->texts.items[place.source]);
    size_t token = code_find(c, place.line, place.col_lo);
    if (token != CODE_NONE)
      compare_words(u, s, c, token, &place, &out);
  }
  return out;
}

// --- clauses ----------------------------------------------------------------

static void quote(Str *out, const char *text, const char *otherwise) {
  if (text)
    str_addf(out, "`%s`", text);
  else
    str_add(out, otherwise);
}

static void compare_clause(const RelationWords *w, RelationOutcome outcome,
                           Str *out) {
  static const char *const verbs[RELATION_OUTCOMES] = {
      [RELATION_LESS] = " is less than ",
      [RELATION_EQUAL] = " equals ",
      [RELATION_GREATER] = " is greater than ",
      [RELATION_DIFFERENT] = " differs from "};
  quote(out, w->left, "the left operand");
  if (outcome == RELATION_UNORDERED) {
    str_add(out, " or ");
    quote(out, w->right, "the right operand");
    str_add(out, " is not a number");
    return;
  }
  str_add(out, verbs[outcome]);
  quote(out, w->right, "the right operand");
}

// "negative" as a sentence about the value at the site has it.
static const char *class_of(const RelationSite *s, RelationOutcome outcome) {
  static const char *const names[RELATION_OUTCOMES] = {
      [RELATION_NULL] = "null",         [RELATION_NON_NULL] = "non-null",
      [RELATION_NEGATIVE] = "negative", [RELATION_ZERO] = "zero",
      [RELATION_POSITIVE] = "positive", [RELATION_UNORDERED] = "not a number"};
  if (s->shape == SHAPE_SIGN && outcome == RELATION_NEGATIVE)
    return "negative as a signed number";
  return names[outcome];
}

static void value_clause(const RelationSite *s, const RelationWords *w,
                         RelationOutcome outcome, Str *out) {
  const char *class = class_of(s, outcome);
  if (!strcmp(s->name, "compare")) {
    quote(out, w->left, "the tested value");
    str_addf(out, " is %s", class);
  } else if (!strcmp(s->name, "call")) {
    str_add(out, "the result of ");
    quote(out, w->left, "the call");
    str_addf(out, " is %s", class);
  } else if (!strcmp(s->name, "return")) {
    str_addf(out, "the returned value is %s", class);
  } else {
    quote(out, w->left, "the stored value");
    str_addf(out, w->left ? " becomes %s" : " is %s", class);
  }
}

const char *relation_clause(CloseUnit *u, const RelationSite *s,
                            const RelationWords *w, RelationOutcome outcome) {
  Str text = {0};
  if (s->shape == SHAPE_CHANGE) {
    quote(&text, w->left, "what is assigned to");
    str_add(&text, outcome == RELATION_SAME ? " keeps its value"
                                            : " gets another value");
  } else if (s->right) {
    compare_clause(w, outcome, &text);
  } else {
    value_clause(s, w, outcome, &text);
  }
  const char *kept = arena_strdup(&u->plan->arena, str_text(&text));
  str_release(&text);
  return kept;
}
