// A change of the program as a change of its source: see edit.h.
#include "patch/edit.h"

#include <string.h>

#include "patch/diff.h"
#include "patch/editor.h"
#include "patch/literal.h"

const char *site_name(const EditSite *site, int64_t number) {
  if (number < 0 || number >= (int64_t)site->nnames)
    return "?";
  const char *colon = strchr(site->names[number], ':');
  return colon ? colon + 1 : site->names[number];
}

void edits_find(const EditSite *site, EditChange change, const char *text,
                size_t len, Arena *arena, Edits *out) {
  static void (*const makers[SITE_KINDS])(Editor *) = {
      [SITE_COMPARE] = edit_condition, [SITE_TEST] = edit_condition,
      [SITE_ARITH] = edit_arith,       [SITE_CONSTANT] = edit_constant,
      [SITE_STORE] = edit_store,       [SITE_RETURN] = edit_return,
      [SITE_CALL] = edit_call,         [SITE_SWAP] = edit_call,
      [SITE_ARGUMENT] = edit_call,     [SITE_INDEX] = edit_index,
      [SITE_VARIABLE] = edit_name,     [SITE_FIELD] = edit_name};
  Editor ed = {
      .site = site, .change = change, .len = len, .arena = arena, .out = out};
  code_lex(&ed.code, text, len);
  ed.at = code_find(&ed.code, site->line, site->column);
  if (ed.at != CODE_NONE && site->kind < SITE_KINDS && makers[site->kind])
    makers[site->kind](&ed);
  code_release(&ed.code);
}

// --- words ------------------------------------------------------------------

static const char *constant_text(int64_t value, Arena *arena) {
  Str text = {0};
  literal_write(&text, value, "", 0);
  return arena_take(arena, &text);
}

static const char *real_text(const EditSite *s, EditChange c, bool new,
                             Arena *arena) {
  double value, to = (double)c.a;
  Str text = {0};
  memcpy(&value, &s->value, sizeof value);
  to = c.change == CHANGE_ADD     ? value + to
       : c.change == CHANGE_MINUS ? -value
                                  : to;
  literal_write_real(&text, new ? to : value, "", 0);
  return arena_take(arena, &text);
}

static const char *constant_words(const EditSite *s, EditChange c,
                                  Arena *arena) {
  int64_t to = c.change == CHANGE_ADD     ? s->value + c.a
               : c.change == CHANGE_MINUS ? -s->value
                                          : c.a;
  if (s->flags & SITE_REAL)
    return arena_printf(arena, "`%s` to `%s`", real_text(s, c, false, arena),
                        real_text(s, c, true, arena));
  return arena_printf(arena, "`%s` to `%s`", constant_text(s->value, arena),
                      constant_text(to, arena));
}

// What the site computes, in words.
static const char *thing(const EditSite *s, Arena *arena) {
  switch (s->kind) {
  case SITE_STORE:
    return *s->text ? arena_printf(arena, "what is stored in `%s`", s->text)
                    : "the stored value";
  case SITE_RETURN:
    return "the returned value";
  case SITE_ARGUMENT:
    return arena_printf(arena, *s->text ? "argument %u of `%s`" : "argument %u",
                        s->operand + 1, s->text);
  case SITE_INDEX:
    return "the index";
  default:
    return *s->text ? arena_printf(arena, "`%s`", s->text) : "the value";
  }
}

static const char *value_words(const EditSite *s, EditChange c, Arena *arena) {
  const char *what = thing(s, arena);
  if (c.change == CHANGE_SET)
    return arena_printf(arena, "%s set to %lld", what, (long long)c.a);
  if (c.change == CHANGE_MINUS)
    return arena_printf(arena, "%s negated", what);
  return arena_printf(arena, c.a < 0 ? "%s minus %lld" : "%s plus %lld", what,
                      (long long)(c.a < 0 ? -c.a : c.a));
}

static const char *skip_words(const EditSite *s, EditChange c, Arena *arena) {
  if (s->kind == SITE_STORE)
    return *s->text ? arena_printf(arena, "without storing in `%s`", s->text)
                    : "without storing the value";
  const char *callee =
      *s->text ? arena_printf(arena, "`%s`", s->text) : "the function";
  if (s->flags & SITE_VOID)
    return arena_printf(arena, "without the call of %s", callee);
  return arena_printf(arena, "%lld instead of the call of %s", (long long)c.a,
                      callee);
}

const char *edit_words(const EditSite *s, EditChange c, Arena *arena) {
  const char *op =
      s->kind == SITE_ARITH ? arith_text(s->op) : compare_text(s->op);
  switch (c.change) {
  case CHANGE_COMPARE:
    return arena_printf(arena, "`%s` to `%s`", op, compare_text((unsigned)c.a));
  case CHANGE_ARITH:
    return arena_printf(arena, "`%s` to `%s`", op, arith_text((unsigned)c.a));
  case CHANGE_FORCE:
    return c.a ? "the condition always true" : "the condition always false";
  case CHANGE_NEGATE:
    return "the condition negated";
  case CHANGE_LEFT:
    return arena_printf(arena, "only the left operand of `%s`", op);
  case CHANGE_RIGHT:
    return arena_printf(arena, "only the right operand of `%s`", op);
  case CHANGE_ADD:
  case CHANGE_SET:
  case CHANGE_MINUS:
    return s->kind == SITE_CONSTANT ? constant_words(s, c, arena)
                                    : value_words(s, c, arena);
  case CHANGE_SKIP:
    return skip_words(s, c, arena);
  case CHANGE_PLUS:
    return "`=` to `+=`";
  case CHANGE_LESS:
    return "`=` to `-=`";
  case CHANGE_SWAP:
    return arena_printf(arena, "arguments %u and %lld exchanged",
                        s->operand + 1, (long long)s->value + 1);
  case CHANGE_NAME:
    return arena_printf(arena, "`%s` to `%s`", s->text, site_name(s, c.a));
  case CHANGE_AND:
  case CHANGE_AND_NAME:
    return arena_printf(arena, "the condition also needs `%s`",
                        clause_text(s, c, arena));
  case CHANGE_OR:
  case CHANGE_OR_NAME:
    return arena_printf(arena, "the condition also holds if `%s`",
                        clause_text(s, c, arena));
  default:
    return "no change";
  }
}

// --- applying ---------------------------------------------------------------

void edit_apply(const Edit *e, const char *text, size_t len, Str *out) {
  str_addn(out, text, e->at);
  str_add(out, e->text);
  str_addn(out, text + e->at + e->len, len - e->at - e->len);
}

void edit_diff(const Edit *e, const char *path, const char *text, size_t len,
               Str *out) {
  Str new = {0};
  edit_apply(e, text, len, &new);
  diff_write(path, text, len, str_text(&new), new.len, out);
  str_release(&new);
}
