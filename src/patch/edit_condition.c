// SourceEdits of comparisons and of truth values that are branched on: see editor.h.
//
//   if (!(a < b) && p)    the comparison: `a < b`, negated once around
//                         the implicit one: `p`
#include <string.h>

#include "patch/editor.h"

static const struct {
  const char *text;
  int level;
} compares[OP_COMPARES] = {
    [OP_LT] = {"<", CODE_ORDERS},  [OP_EQ] = {"==", CODE_EQUALS},
    [OP_GT] = {">", CODE_ORDERS},  [OP_GE] = {">=", CODE_ORDERS},
    [OP_NE] = {"!=", CODE_EQUALS}, [OP_LE] = {"<=", CODE_ORDERS}};

const char *compare_mark(unsigned op) {
  return op < OP_COMPARES ? compares[op].text : "?";
}

int compare_level(unsigned op) {
  return op < OP_COMPARES ? compares[op].level : CODE_EQUALS;
}

static unsigned negated(unsigned op) { return (op + 3) % OP_COMPARES; }

// Which comparison the token is; OP_COMPARES: none.
static unsigned compare_at(const Editor *ed, size_t token) {
  unsigned op = 0;
  while (op < OP_COMPARES && !code_is(&ed->code, token, compares[op].text))
    op++;
  return op;
}

// --- clauses ----------------------------------------------------------------

static bool is_clause(TryChange c) {
  return c == CHANGE_AND || c == CHANGE_OR || c == CHANGE_AND_NAME ||
         c == CHANGE_OR_NAME;
}

static bool is_and(TryChange c) {
  return c == CHANGE_AND || c == CHANGE_AND_NAME;
}

// What it says: "n > 0".
static const char *clause_text(Editor *ed) {
  const Site *site = ed->site;
  EditChange c = ed->change;
  unsigned op = (unsigned)(c.a >> 8) & 0xff;
  int64_t which = c.a & 0xff;
  const char *name = site_name(site, which);
  bool pointer =
      which < (int64_t)site->nnames && site->names[which].kind == 'p';
  if (c.change == CHANGE_AND_NAME || c.change == CHANGE_OR_NAME)
    return arena_printf(ed->arena, "%s %s %s", name, compare_mark(op),
                        site_name(site, c.b));
  if (pointer && !c.b && (op == OP_EQ || op == OP_NE))
    return arena_printf(ed->arena, op == OP_EQ ? "!%s" : "%s", name);
  return arena_printf(ed->arena, "%s %s %lld", name, compare_mark(op),
                      (long long)c.b);
}

static void add_clause(Editor *ed, Extent e) {
  bool both = is_and(ed->change.change);
  const char *clause = clause_text(ed);
  EditPiece left = piece_of(ed, e);
  if (left.level == CODE_AND && !both) // compilers warn without parentheses
    left = piece_text(arena_printf(ed->arena, "(%s)", left.text));
  EditPiece p =
      piece_binary(ed, left, both ? "&&" : "||", both ? CODE_AND : CODE_OR,
                   (EditPiece){clause, CODE_EQUALS});
  const char *words = both ? "`%s` also needs `%s`" : "`%s` also holds if `%s`";
  editor_replace(ed, e, p,
                 arena_printf(ed->arena, words, editor_show(ed, e), clause));
}

// --- truth values -----------------------------------------------------------

// The value stays the same, whatever it does besides.
static void force_keeping(Editor *ed, Extent e) {
  bool yes = ed->change.a;
  int level = yes ? CODE_OR : CODE_AND;
  EditPiece p = piece_binary(ed, piece_of(ed, e), yes ? "||" : "&&", level,
                             piece_text(yes ? "1" : "0"));
  editor_replace(ed, e, p, NULL);
}

static void force(Editor *ed, Extent e) {
  unsigned negations = 0;
  Extent whole = code_condition(&ed->code, e, &negations);
  bool yes = (ed->change.a != 0) != (negations % 2 == 1);
  if (editor_assigns(ed, e))
    force_keeping(ed, e);
  editor_replace(ed, negations ? whole : e, piece_text(yes ? "1" : "0"), NULL);
  if (editor_calls(ed, e))
    force_keeping(ed, e);
}

static void negate(Editor *ed, Extent e) {
  unsigned negations = 0;
  Extent whole = code_condition(&ed->code, e, &negations);
  if (negations % 2)
    editor_replace(ed, whole, piece_of(ed, e), NULL);
  else
    editor_replace(ed, negations ? whole : e, piece_not(ed, e), NULL);
}

// What is compared with 0, or something that is compared within a macro.
static void change_truth(Editor *ed, Extent e) {
  unsigned op = (unsigned)ed->change.a;
  bool plain = ed->site->kind == SITE_TEST || ed->site->op == OP_NE;
  unsigned now = ed->site->kind == SITE_TEST ? OP_NE : ed->site->op;
  if (ed->change.change == CHANGE_NEGATE ||
      (ed->change.change == CHANGE_COMPARE && op == negated(now)))
    negate(ed, e);
  else if (ed->change.change == CHANGE_FORCE)
    force(ed, e);
  else if (is_clause(ed->change.change))
    add_clause(ed, e);
  else if (ed->change.change == CHANGE_COMPARE && plain && op < OP_COMPARES)
    editor_replace(ed, e,
                   piece_binary(ed, piece_of(ed, e), compare_mark(op),
                                compare_level(op), piece_text("0")),
                   NULL);
}

static void change_compare(Editor *ed, unsigned now) {
  Extent e = code_expression(&ed->code, ed->at);
  unsigned op = ed->change.change == CHANGE_NEGATE ? negated(now)
                                                   : (unsigned)ed->change.a;
  bool other =
      ed->change.change == CHANGE_COMPARE || ed->change.change == CHANGE_NEGATE;
  if (other && op < OP_COMPARES)
    editor_operator(ed, ed->at, compare_mark(op), compare_level(op));
  else if (ed->change.change == CHANGE_FORCE)
    force(ed, e);
  else if (is_clause(ed->change.change))
    add_clause(ed, e);
}

// --- where ------------------------------------------------------------------

// Without negations: what clang branches on.
static Extent stripped(const Editor *ed, Extent e) {
  unsigned ignored = 0;
  return code_strip(&ed->code, e, &ignored);
}

// The operand of && and || that is decided last.
static Extent last_operand(const Editor *ed, Extent e) {
  const Code *c = &ed->code;
  for (e = stripped(ed, e); code_is_logical(c, e); e = stripped(ed, e)) {
    size_t at = e.last;
    int level = code_weakest(c, e);
    for (; at > e.first && code_level(c, at) != level; at--) {
      bool closes = code_is(c, at, ")") || code_is(c, at, "]");
      size_t open = closes ? code_partner(c, at) : at;
      at = open > e.first && open != CODE_NONE ? open : e.first + 1;
    }
    if (at <= e.first || at >= e.last)
      return e;
    e.first = at + 1;
  }
  return e;
}

// The condition that a branch with this token decides. `loop`: its value is
// computed as a whole.
static bool branch_condition(const Editor *ed, Extent *out, bool *loop) {
  const Code *c = &ed->code;
  size_t at = ed->at;
  *loop = code_is(c, at, "while") || code_is(c, at, "for");
  if (code_level(c, at) == CODE_AND || code_level(c, at) == CODE_OR) {
    *out = editor_left(ed, at);
    return true;
  }
  if (code_head(c, at, out))
    return true;
  if (at >= 2 && code_is(c, at - 1, "(") && code_head(c, at - 2, out))
    return true;
  *out = code_from(c, at, CODE_CHOOSES);
  if (code_is(c, out->last + 1, "?"))
    return true;
  *loop = true;
  return code_is(c, at, "}") && code_is(c, at + 1, "while") &&
         code_head(c, at + 1, out);
}

static void edit_test(Editor *ed) {
  Extent e;
  bool loop;
  if (!branch_condition(ed, &e, &loop))
    return;
  change_truth(ed, loop ? e : last_operand(ed, e));
  change_truth(ed, loop ? last_operand(ed, e) : e);
}

void edit_condition(Editor *ed) {
  unsigned now = compare_at(ed, ed->at);
  bool head = code_is(&ed->code, ed->at, "while") ||
              code_is(&ed->code, ed->at, "for") ||
              code_is(&ed->code, ed->at, "}"); // of a do
  if (ed->site->kind == SITE_TEST || head)
    edit_test(ed);
  else if (now < OP_COMPARES && code_level(&ed->code, ed->at))
    change_compare(ed, now);
  else
    change_truth(ed, stripped(ed, code_expression(&ed->code, ed->at)));
}

// `a && b && c`: of the second one only `b && c` becomes `(b || c)`.
void edit_logic(Editor *ed) {
  const Code *c = &ed->code;
  Extent operand;
  size_t oper = code_connective(c, ed->at, &operand);
  if (oper == CODE_NONE)
    return;
  bool both = code_is(c, oper, "&&");
  const char *text = both ? "||" : "&&";
  Extent left = editor_left(ed, oper), right = editor_right(ed, oper);
  if (left.first >= operand.first) {
    editor_operator(ed, oper, text, both ? CODE_OR : CODE_AND);
    return;
  }
  EditPiece p =
      piece_text(arena_printf(ed->arena, "(%s %s %s)", editor_raw(ed, operand),
                              text, editor_raw(ed, right)));
  editor_replace(
      ed, (Extent){operand.first, right.last}, p,
      arena_printf(ed->arena, "`%s` to `%s`", both ? "&&" : "||", text));
}
