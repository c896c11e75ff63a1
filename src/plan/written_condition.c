// Conditions as the source writes them: see written_condition.h.
#include "plan/written_condition.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "plan/place.h"

enum { SHOWN_MAX = 100 }; // bytes of a condition's text

// --- the code's side --------------------------------------------------------

static bool is_truth(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  return LLVMGetTypeKind(t) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(t) == 1;
}

static bool is_not(LLVMValueRef v) {
  return LLVMGetInstructionOpcode(v) == LLVMXor && is_truth(v);
}

// The operator that compares so; NULL: it is no comparison.
static const char *comparison_of(LLVMValueRef v) {
  if (LLVMIsAICmpInst(v))
    switch (LLVMGetICmpPredicate(v)) {
    case LLVMIntEQ:
      return "==";
    case LLVMIntNE:
      return "!=";
    case LLVMIntUGT:
    case LLVMIntSGT:
      return ">";
    case LLVMIntUGE:
    case LLVMIntSGE:
      return ">=";
    case LLVMIntULT:
    case LLVMIntSLT:
      return "<";
    default:
      return "<=";
    }
  if (LLVMIsAFCmpInst(v))
    switch (LLVMGetFCmpPredicate(v)) {
    case LLVMRealOEQ:
      return "==";
    case LLVMRealUNE:
      return "!=";
    case LLVMRealOGT:
      return ">";
    case LLVMRealOGE:
      return ">=";
    case LLVMRealOLT:
      return "<";
    case LLVMRealOLE:
      return "<=";
    default:
      return "?";
    }
  return NULL;
}

// `x` where a truth value is wanted: compared with zero.
static bool tests_zero(LLVMValueRef v) {
  const char *op = comparison_of(v);
  return op && !strcmp(op, "!=") && LLVMIsNull(LLVMGetOperand(v, 1));
}

// Neither compared nor negated in the source.
static bool tests_truth(LLVMValueRef v) {
  return !is_not(v) && (!comparison_of(v) || tests_zero(v));
}

// What the truth value was made from.
static LLVMValueRef origin_of(LLVMValueRef v) {
  while (LLVMIsAInstruction(v) && (tests_zero(v) || LLVMIsATruncInst(v) ||
                                   LLVMIsAZExtInst(v) || LLVMIsASExtInst(v)))
    v = LLVMGetOperand(v, 0);
  return v;
}

static bool is_at(Plan *p, LLVMValueRef a, LLVMValueRef b) {
  Place x, y;
  return place_of(p, a, &x) && place_of(p, b, &y) && x.source == y.source &&
         x.line == y.line && x.col_lo == y.col_lo;
}

static bool is_call_of(LLVMValueRef v, const Code *c, size_t token) {
  LLVMValueRef callee = LLVMIsACallInst(v) ? LLVMGetCalledValue(v) : NULL;
  size_t n;
  if (!callee || !LLVMIsAFunction(callee))
    return false;
  return code_is(c, token, LLVMGetValueName2(callee, &n));
}

static bool decides(LLVMValueRef v) {
  if (!is_truth(v) || LLVMIsAPHINode(v))
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (LLVMIsABranchInst(user) || LLVMIsAPHINode(user) ||
        (LLVMIsASelectInst(user) && LLVMGetOperand(user, 0) == v))
      return true;
  }
  return false;
}

void conditions_list(Plan *p, LLVMValueRef function, ConditionList *out) {
  Place place;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i))
      if (decides(i) && place_of(p, i, &place))
        array_push(out,
                   (ConditionAt){place.source, place.line, place.col_lo, i});
}

// --- blocks in order --------------------------------------------------------

// A block that splits a critical edge holds nothing but a jump, at the place of
// the branch. So does `1` of `c ? 1 : x`, but it leads to a choice of values.
static bool is_split(LLVMBasicBlockRef b, LLVMValueRef branch) {
  LLVMValueRef end = LLVMGetFirstInstruction(b);
  if (!LLVMIsABranchInst(end) || LLVMIsConditional(end) ||
      LLVMInstructionGetDebugLoc(end) != LLVMInstructionGetDebugLoc(branch))
    return false;
  LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetSuccessor(end, 0));
  return !LLVMIsAPHINode(first) || is_truth(first);
}

// Where the i-th successor leads.
static LLVMBasicBlockRef target(LLVMValueRef branch, unsigned i) {
  LLVMBasicBlockRef b = LLVMGetSuccessor(branch, i);
  return is_split(b, branch)
             ? LLVMGetSuccessor(LLVMGetBasicBlockTerminator(b), 0)
             : b;
}

static bool comes_behind(LLVMBasicBlockRef b, LLVMBasicBlockRef from) {
  for (; from; from = LLVMGetNextBasicBlock(from))
    if (from == b)
      return true;
  return false;
}

// Which successor comes next, 0 or 1; -1: none, or one goes back. Of two that
// come, the nearer one.
static int next_successor(LLVMValueRef branch) {
  LLVMBasicBlockRef here = LLVMGetInstructionParent(branch);
  LLVMBasicBlockRef yes = target(branch, 0);
  LLVMBasicBlockRef no = target(branch, 1);
  LLVMBasicBlockRef next = LLVMGetNextBasicBlock(here);
  if (yes == no || !next || !comes_behind(yes, next) || !comes_behind(no, next))
    return -1;
  return comes_behind(no, yes) ? 0 : 1;
}

// Only do ... while branches back.
static bool goes_back(LLVMValueRef branch) {
  LLVMBasicBlockRef here = LLVMGetInstructionParent(branch);
  LLVMBasicBlockRef yes = target(branch, 0);
  return yes == here || !comes_behind(yes, here);
}

static LLVMValueRef condition_end(LLVMBasicBlockRef b) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
  return LLVMIsABranchInst(end) && LLVMIsConditional(end) ? end : NULL;
}

static bool leads_to(LLVMValueRef branch, LLVMBasicBlockRef b) {
  return target(branch, 0) == b || target(branch, 1) == b;
}

// Without any text: the block that comes next is entered if the condition is
// true. But that of `a` in `a || b` if it is false: the other one is behind b,
// where b is true.
static void read_blocks(LLVMValueRef branch, Condition *out) {
  int next = next_successor(branch);
  if (next < 0) {
    out->known = goes_back(branch);
    return;
  }
  LLVMBasicBlockRef here = target(branch, next == 1);
  LLVMBasicBlockRef there = target(branch, next == 0);
  LLVMValueRef last = condition_end(here);
  bool either = false;
  for (int n; last && leads_to(last, there) && !either;) {
    if ((n = next_successor(last)) < 0)
      return;
    here = target(last, n == 1);
    either = here == there;
    last = condition_end(here);
  }
  out->known = true;
  out->inverted = (next == 0) == either;
}

// --- texts ------------------------------------------------------------------

static const Code *code_of(Plan *p, uint32_t source) {
  return source_text_code(&p->texts.items[source]);
}

static bool is_inside_character(char c) { return (c & 0xc0) == 0x80; }

// Leaves out the middle of a long text.
static void shorten(Str *text) {
  size_t head = SHOWN_MAX / 2, tail = text->len - SHOWN_MAX / 2;
  if (text->len <= SHOWN_MAX)
    return;
  while (head && is_inside_character(text->data[head]))
    head--;
  while (tail < text->len && is_inside_character(text->data[tail]))
    tail++;
  Str cut = {0};
  str_addn(&cut, text->data, head);
  str_add(&cut, " ... ");
  str_add(&cut, text->data + tail);
  str_release(text);
  *text = cut;
}

static const char *keep_text(Plan *p, const Code *c, Extent e) {
  Str text = {0};
  code_show(c, code_bare(c, e), &text);
  shorten(&text);
  const char *kept = arena_strdup(&p->arena, str_text(&text));
  str_release(&text);
  return kept;
}

static void put_text(Plan *p, const Code *c, Extent e, Condition *out) {
  const Token *first = &c->tokens.items[e.first];
  const Token *last = &c->tokens.items[e.last];
  out->known = true;
  out->text = keep_text(p, c, e);
  if (first->line != last->line)
    return;
  out->line = first->line;
  out->col_lo = first->col;
  out->col_hi = last->col + last->len - 1;
}

// --- macros -----------------------------------------------------------------

// `value` among the conditions at its place: *n of them.
static size_t number_here(const ConditionList *list, const Place *place,
                          LLVMValueRef value, size_t *n) {
  size_t number = SIZE_MAX;
  *n = 0;
  for (size_t i = 0; i < list->len; i++) {
    const ConditionAt *c = &list->items[i];
    if (c->source != place->source || c->line != place->line ||
        c->col != place->col_lo)
      continue;
    if (c->value == value)
      number = *n;
    ++*n;
  }
  return number;
}

// How many conditions are at its place.
static size_t number_at(Plan *p, const ConditionList *list,
                        LLVMValueRef value) {
  Place place;
  size_t n = 0;
  if (LLVMIsAInstruction(value) && place_of(p, value, &place))
    number_here(list, &place, value, &n);
  return n;
}

typedef struct {
  Plan *plan;
  const Code *code;
  Extent use; // the macro with its arguments
  LLVMValueRef value, branch;
  size_t number, count; // among the conditions of the macro
} MacroUse;

// The conditions that the macro expands to, if there are as many as the code
// has. The last may be the macro as a whole.
static bool list_conditions(const MacroUse *u, const Code *c, Extents *out) {
  Extent all = {0, c->tokens.len - 2};
  if (c->tokens.len < 2)
    return false;
  code_conditions(c, all, out);
  if (out->len + 1 == u->count && !code_is_logical(c, all))
    array_push(out, all);
  return out->len == u->count;
}

static bool read_expanded(const MacroUse *u, const Code *c, Condition *out) {
  Extents list = {0};
  unsigned inside = 0;
  bool found = u->number < u->count && list_conditions(u, c, &list);
  if (found) {
    Extent e = list.items[u->number];
    code_strip(c, e, &inside);
    bool whole = e.first == 0 && e.last == c->tokens.len - 2;
    unsigned around = 0;
    Extent written = code_condition(u->code, u->use, &around);
    if (whole)
      put_text(u->plan, u->code, written, out);
    else
      out->text = keep_text(u->plan, c, e);
    out->known = true;
    out->inverted =
        u->branch && !is_not(u->value) && (inside + (whole ? around : 0)) % 2;
  }
  array_release(&list);
  return found;
}

// By the text that the macro stands for.
static bool read_macro(const MacroUse *u, Condition *out) {
  const Token *name = &u->code->tokens.items[u->use.first];
  const Token *last = &u->code->tokens.items[u->use.last];
  size_t n = last->at + (size_t)last->len - name->at;
  char *use = mem_dup(u->code->text + name->at, n + 1);
  use[n] = 0;
  Place place;
  Str text = {0};
  place_of(u->plan, u->value, &place);
  const Source *source = &u->plan->sources.items[place.source];
  const Macros *macros =
      source_text_macros(&u->plan->texts.items[place.source], source->path);
  bool found =
      macros_find(macros, u->code->text + name->at, name->len, name->line) &&
      macros_expand(macros, use, name->line, &text);
  if (found) {
    Code code;
    code_lex(&code, str_text(&text), text.len);
    found = read_expanded(u, &code, out);
    code_release(&code);
  }
  str_release(&text);
  free(use);
  return found;
}

// By the order of blocks.
static void read_order(const MacroUse *u, Condition *out) {
  unsigned ignored = 0;
  Extent written = code_condition(u->code, u->use, &ignored);
  if (!u->branch || is_not(u->value) || LLVMIsAPHINode(u->value)) {
    if (u->count == 1)
      put_text(u->plan, u->code, u->branch ? written : u->use, out);
    return;
  }
  int next = next_successor(u->branch);
  if (u->count != 1 || next < 0)
    return;
  put_text(u->plan, u->code, written, out);
  out->inverted = (next == 0) != code_true_is_next(u->code, written);
}

// Is it the name of a macro? Where a comparison or a negation was expected, or
// a call, it is.
static bool is_macro(Plan *p, const Place *place, const Code *c, size_t token,
                     LLVMValueRef value) {
  const Token *t = &c->tokens.items[token];
  LLVMValueRef origin = origin_of(value);
  if (t->kind != TOK_WORD || token_is_keyword(c->text, t) ||
      token_starts(c->text, t, "__builtin_") || is_call_of(origin, c, token))
    return false;
  bool called = code_is(c, token + 1, "(");
  const Macros *macros = source_text_macros(
      &p->texts.items[place->source], p->sources.items[place->source].path);
  const Macro *known = macros_find(macros, c->text + t->at, t->len, t->line);
  if (known && (!known->params || called))
    return true;
  bool operator=(comparison_of(value) && !tests_zero(value)) || is_not(value);
  return operator||(called && !LLVMIsACallInst(origin));
}

// --- plain text -------------------------------------------------------------

static bool is_logical(const Code *c, size_t token) {
  return code_is(c, token, "&&") || code_is(c, token, "||");
}

static bool is_comparison(const Code *c, size_t token) {
  static const char *const marks[] = {"==", "!=", "<", ">", "<=", ">="};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (code_is(c, token, marks[i]))
      return true;
  return false;
}

static bool has_choice(const Code *c, Extent e) {
  for (size_t i = e.first; i <= e.last; i++)
    if (code_is(c, i, "?"))
      return true;
  return false;
}

// `a ? b : c`, which begins here, or whose parenthesis does.
static Extent find_choice(const Code *c, size_t token) {
  Extent group = code_expression(c, token);
  return code_is(c, token, "(") && has_choice(c, group) ? group
                                                        : code_choice(c, token);
}

// The expression at the token, if it can be the one that has this value.
static bool find_expression(const Code *c, size_t token, LLVMValueRef value,
                            Extent *out) {
  LLVMValueRef origin = origin_of(value);
  const char *op = comparison_of(value);
  bool choice = (LLVMIsAPHINode(origin) || LLVMIsASelectInst(origin)) &&
                !is_logical(c, token);
  // The last operand of && has the place of the operator.
  if (is_logical(c, token) && !LLVMIsAPHINode(origin) && !is_not(value)) {
    *out = code_right(c, token);
    return true;
  }
  *out = choice ? find_choice(c, token) : code_expression(c, token);
  if (choice)
    return has_choice(c, *out);
  if (is_not(value))
    return code_is(c, token, "!");
  if (op && code_is(c, token, op))
    return true;
  if (op && !tests_zero(value))
    return false;
  return !is_comparison(c, token) &&
         is_logical(c, token) == (LLVMIsAPHINode(origin) != NULL);
}

static void read_plain(Plan *p, const Code *c, size_t token, LLVMValueRef value,
                       bool branch, Condition *out) {
  Extent e;
  unsigned negations = 0;
  if (!find_expression(c, token, value, &e))
    return;
  if (branch)
    e = code_condition(c, e, &negations);
  put_text(p, c, e, out);
  out->inverted = negations % 2;
}

// `while (x)` tests at the place of the keyword, do at that of its last
// statement.
static bool read_loop(Plan *p, const Code *c, size_t token, LLVMValueRef value,
                      LLVMValueRef branch, Condition *out) {
  Extent e;
  bool found = false;
  if (!branch || !tests_truth(value))
    return false;
  if (code_head(c, token, &e))
    found = true;
  else if (goes_back(branch))
    found = is_at(p, value, branch) && code_do_head(c, token, &e);
  if (found)
    put_text(p, c, e, out);
  return found;
}

// `while (a && b)` branches on a value that has no place of its own: found from
// its last operand, which has one.
static void read_logical(Plan *p, LLVMValueRef phi, Condition *out) {
  LLVMValueRef last = LLVMGetIncomingValue(phi, LLVMCountIncoming(phi) - 1);
  unsigned negations = 0;
  Place place;
  Extent e;
  while (LLVMIsAPHINode(last)) // (b || c) in turn
    last = LLVMGetIncomingValue(last, LLVMCountIncoming(last) - 1);
  if (!LLVMIsAInstruction(last) || !place_of(p, last, &place))
    return;
  const Code *c = code_of(p, place.source);
  size_t token = code_find(c, place.line, place.col_lo);
  if (token == CODE_NONE || (!is_macro(p, &place, c, token, last) &&
                             !find_expression(c, token, last, &e)))
    return;
  if (is_macro(p, &place, c, token, last))
    e = code_expression(c, token);
  if (!code_whole(c, e, &e, &negations))
    return;
  put_text(p, c, e, out);
  out->inverted = negations % 2;
}

static Condition read_text(Plan *p, const ConditionList *list,
                           LLVMValueRef value, LLVMValueRef branch) {
  Condition out = {.known = !branch}; // a value that is used is as written
  Place place;
  if (!LLVMIsAInstruction(value))
    return out;
  if (!place_of(p, value, &place)) {
    if (LLVMIsAPHINode(value) && branch)
      read_logical(p, value, &out);
    return out;
  }
  const Code *c = code_of(p, place.source);
  size_t token = code_find(c, place.line, place.col_lo);
  if (token == CODE_NONE || read_loop(p, c, token, value, branch, &out))
    return out;
  if (!is_macro(p, &place, c, token, value)) {
    read_plain(p, c, token, value, branch, &out);
    return out;
  }
  MacroUse u = {p, c, code_expression(c, token), value, branch, 0, 0};
  u.number = number_here(list, &place, value, &u.count);
  if (!read_macro(&u, &out))
    read_order(&u, &out);
  return out;
}

Condition condition_read(Plan *p, const ConditionList *list, LLVMValueRef value,
                         LLVMValueRef branch) {
  Condition out = read_text(p, list, value, branch);
  if (!out.known && number_at(p, list, value) < 2)
    read_blocks(branch, &out);
  return out;
}

// --- switch -----------------------------------------------------------------

// Behind a switch inside another one; else `i` itself.
static size_t behind_switch(const Code *c, size_t i) {
  size_t head = code_is(c, i, "switch") && code_is(c, i + 1, "(")
                    ? code_partner(c, i + 1)
                    : CODE_NONE;
  size_t end = head != CODE_NONE && code_is(c, head + 1, "{")
                   ? code_partner(c, head + 1)
                   : CODE_NONE;
  return end == CODE_NONE ? i : end;
}

// The labels in the body of a switch, which begins here.
static void find_labels(const Code *c, size_t open, Extents *out) {
  size_t close = code_partner(c, open);
  for (size_t i = open + 1; close != CODE_NONE && i < close; i++) {
    i = behind_switch(c, i);
    if (!code_is(c, i, "case"))
      continue;
    Extent e = {i, i + 1};
    while (e.last + 1 < close && !code_is(c, e.last + 1, ":"))
      e.last++;
    array_push(out, e);
  }
}

static const char *case_value(Plan *p, LLVMValueRef branch, unsigned i) {
  LLVMValueRef value = LLVMGetOperand(branch, 2 * i);
  char *text = mem_printf("case %lld", LLVMConstIntGetSExtValue(value));
  const char *kept = arena_strdup(&p->arena, text);
  free(text);
  return kept;
}

// The token `switch`, or CODE_NONE.
static size_t find_switch(Plan *p, LLVMValueRef branch, const Code **code) {
  Place place;
  if (!place_of(p, branch, &place))
    return CODE_NONE;
  *code = code_of(p, place.source);
  size_t token = code_find(*code, place.line, place.col_lo);
  bool found = token != CODE_NONE && code_is(*code, token, "switch") &&
               code_is(*code, token + 1, "(");
  return found ? token : CODE_NONE;
}

void condition_cases(Plan *p, LLVMValueRef branch, const char **texts) {
  const Code *c = NULL;
  unsigned n = LLVMGetNumSuccessors(branch);
  size_t token = find_switch(p, branch, &c);
  size_t close = token == CODE_NONE ? token : code_partner(c, token + 1);
  Extents labels = {0};
  texts[0] = NULL;
  if (close != CODE_NONE && close > token + 2)
    texts[0] = keep_text(p, c, (Extent){token + 2, close - 1});
  if (close != CODE_NONE && code_is(c, close + 1, "{"))
    find_labels(c, close + 1, &labels);
  for (unsigned i = 1; i < n; i++)
    texts[i] = labels.len + 1 == n ? keep_text(p, c, labels.items[i - 1])
                                   : case_value(p, branch, i);
  array_release(&labels);
}
