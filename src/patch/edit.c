// A change of the program as a change of its source: see edit.h.
#include "patch/edit.h"

#include "patch/diff.h"
#include "patch/editor.h"

const char *site_name(const Site *site, int64_t number) {
  bool known = number >= 0 && number < (int64_t)site->nnames;
  return known ? site->names[number].name : "?";
}

void edits_find(const Site *site, EditChange change, const char *text,
                size_t len, Arena *arena, SourceEdits *out) {
  static void (*const makers[SITE_KINDS])(Editor *) = {
      [SITE_COMPARE] = edit_condition, [SITE_TEST] = edit_condition,
      [SITE_ARITH] = edit_arith,       [SITE_CONSTANT] = edit_constant,
      [SITE_STORE] = edit_store,       [SITE_RETURN] = edit_return,
      [SITE_CALL] = edit_call,         [SITE_SWAP] = edit_call,
      [SITE_ARGUMENT] = edit_call,     [SITE_INDEX] = edit_index,
      [SITE_VARIABLE] = edit_name,     [SITE_FIELD] = edit_name,
      [SITE_LOGIC] = edit_logic,       [SITE_BEFORE] = edit_before};
  Editor ed = {
      .site = site, .change = change, .len = len, .arena = arena, .out = out};
  code_lex(&ed.code, text, len);
  ed.at = code_find(&ed.code, site->line, site->column);
  if (ed.at != CODE_NONE && site->kind < SITE_KINDS && makers[site->kind])
    makers[site->kind](&ed);
  code_release(&ed.code);
}

// --- applying ---------------------------------------------------------------

void edit_apply(const SourceEdit *e, const char *text, size_t len, Str *out) {
  str_addn(out, text, e->at);
  str_add(out, e->text);
  str_addn(out, text + e->at + e->len, len - e->at - e->len);
}

void edit_diff(const SourceEdit *e, const char *path, const char *text,
               size_t len, Str *out) {
  Str new = {0};
  edit_apply(e, text, len, &new);
  diff_write(path, text, len, str_text(&new), new.len, out);
  str_release(&new);
}
