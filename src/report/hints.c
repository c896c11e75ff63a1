// The changes that pass all tests, on a terminal: see hints.h.
#include "report/hints.h"

#include <string.h>

#include "locate/localizer.h"
#include "report/tried.h"
#include "util/escape.h"

enum { SHOWN = 3, DIFF_LINES = 16, INDENT = 4 };

static const char *color_of(DiffKind kind) {
  return kind == DIFF_ADDED     ? "\033[32m"
         : kind == DIFF_DELETED ? "\033[31m"
         : kind == DIFF_HUNK    ? "\033[36m"
         : kind == DIFF_HEAD    ? "\033[1m"
                                : "";
}

// Tabs stay: the diff can be copied.
static void put_text(const char *text, size_t n, FILE *out) {
  Str line = {0};
  for (size_t i = 0; i < n;) {
    Glyph g = glyph_at(text + i, n - i);
    if (text[i] == '\t')
      str_addc(&line, '\t');
    else
      str_add(&line, g.text);
    i += g.bytes;
  }
  fputs(str_text(&line), out);
  str_release(&line);
}

void hints_put_diff(const char *diff, int indent, bool color, FILE *out) {
  DiffReader d = {.rest = diff};
  size_t n = 0;
  while (diff_next(&d)) {
    const char *on = color ? color_of(d.kind) : "";
    if (n++ >= DIFF_LINES)
      continue;
    fprintf(out, "%*s%s", indent, "", on);
    put_text(d.line, d.length, out);
    fprintf(out, "%s\n", *on ? "\033[0m" : "");
  }
  if (n > DIFF_LINES)
    fprintf(out, "%*s... %zu more line%s (--json has all)\n", indent, "",
            n - DIFF_LINES, plural(n - DIFF_LINES));
}

static void put_head(const TryNote *n, size_t survivors, FILE *out) {
  unsigned tests = n->failing + n->passing;
  Str text = {0};
  if (survivors == 1)
    str_addf(&text,
             "Hint: this change makes all %u test%s pass. Whether it is right, "
             "they cannot tell.",
             tests, plural(tests));
  else
    str_addf(&text,
             "Hints: each of %zu changes makes all %u test%s pass. "
             "They are alternatives: which of them is right, if any, the tests "
             "cannot tell.",
             survivors, tests, plural(tests));
  fputs("\n  ", out);
  report_wrapped(str_text(&text), 2, 2, out);
  str_release(&text);
}

static void put_hint(const Report *r, const TriedChange *c, FILE *out) {
  Str text = {0};
  str_addf(&text, "%s at %s:%u", c->text, suite_shown(r->suite, c->file),
           c->line);
  fprintf(out, "%*s", INDENT, "");
  report_escaped(str_text(&text), out);
  fputc('\n', out);
  if (c->diff)
    hints_put_diff(c->diff, INDENT + 2, r->color, out);
  str_release(&text);
}

static void put_question(const TryNote *n, FILE *out) {
  Str text = {0}, shown = {0};
  if (tried_ask(n, &text)) {
    str_add(&shown, n->question.command ? "To decide: " : "");
    escape_add(&shown, str_text(&text));
    fputs("  ", out);
    report_wrapped(str_text(&shown), 2, 4, out);
  }
  str_release(&text);
  str_release(&shown);
}

void hints_put(const Report *r, const Ranking *ranking, FILE *out) {
  bool tried = !strcmp(r->method, METHOD_TRY);
  const TryNote *n = tried ? report_tried(r, ranking->failure) : NULL;
  ChangeList hints = {0};
  if (!n || !tried_survivors(n))
    return;
  tried_survivor_list(n, ranking, &hints);
  put_head(n, hints.len, out);
  for (size_t i = 0; i < hints.len && i < SHOWN; i++)
    put_hint(r, hints.items[i], out);
  if (hints.len > SHOWN)
    fprintf(out, "%*sand %zu more (--json has all)\n", INDENT, "",
            hints.len - SHOWN);
  put_question(n, out);
  array_release(&hints);
}
