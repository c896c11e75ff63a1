// SourceEdits of statements that are put in front of others (SITE_BEFORE): see
// editor.h.
//
//   if (p == NULL)      if (n > max)      done = 0;
//     return 0;           n = max;
#include <string.h>

#include "patch/editor.h"

// What it is compared with, or set to.
static const char *operand(const Site *site, EditChange c, Arena *arena) {
  int64_t which = c.a & 0xff;
  bool pointer =
      which < (int64_t)site->nnames && site->names[which].kind == 'p';
  if (c.a & TRY_NAMED)
    return site_name(site, c.b);
  return pointer && !c.b ? "NULL" : arena_printf(arena, "%lld", (long long)c.b);
}

static const char *condition(const Site *site, EditChange c, Arena *arena) {
  unsigned op = (unsigned)(c.a >> 8) & 0xff;
  if (op == TRY_ALWAYS)
    return NULL;
  return arena_printf(arena, "%s %s %s", site_name(site, c.a & 0xff),
                      compare_mark(op), operand(site, c, arena));
}

static const char *action(const Site *site, EditChange c, Arena *arena) {
  long long value = (long long)(c.a >> 32);
  if (c.change == CHANGE_ASSIGN)
    return arena_printf(arena, "%s = %s;", site_name(site, c.a & 0xff),
                        operand(site, c, arena));
  if (site->flags & SITE_POINTER && !value)
    return "return NULL;";
  if (site->width == 1)
    return value ? "return true;" : "return false;";
  return site->width ? arena_printf(arena, "return %lld;", value) : "return;";
}

void edit_inserted(const Site *site, EditChange c, Str *out) {
  Arena arena = {0};
  const char *when = condition(site, c, &arena);
  if (when)
    str_addf(out, "if (%s) ", when);
  str_add(out, action(site, c, &arena));
  arena_release(&arena);
}

// The blanks in front of the token; NULL: it is not the first of its line.
static const char *indent_of(Editor *ed, size_t at) {
  size_t from = at;
  while (from > 0 && strchr(" \t", ed->code.text[from - 1]))
    from--;
  bool first = !from || ed->code.text[from - 1] == '\n';
  return first ? arena_strndup(ed->arena, ed->code.text + from, at - from)
               : NULL;
}

void edit_before(Editor *ed) {
  const char *when = condition(ed->site, ed->change, ed->arena);
  const char *what = action(ed->site, ed->change, ed->arena);
  size_t at = ed->code.tokens.items[ed->at].at;
  const char *indent = indent_of(ed, at), *deeper = "  ";
  Str text = {0}, words = {0};
  if (indent && *indent == '\t')
    deeper = "\t";
  else if (indent && strlen(indent) % 4 == 0)
    deeper = "    ";
  if (when && indent)
    str_addf(&text, "if (%s)\n%s%s", when, indent, deeper);
  else if (when)
    str_addf(&text, "if (%s) ", when);
  str_addf(&text, "%s%s%s", what, indent ? "\n" : " ", indent ? indent : "");
  str_add(&words, "with `");
  edit_inserted(ed->site, ed->change, &words);
  str_add(&words, "` before it");
  editor_add(ed, at, at, arena_strdup(ed->arena, str_text(&text)),
             arena_strdup(ed->arena, str_text(&words)));
  str_release(&text);
  str_release(&words);
}
