// What `culprit try` found, in the page: see html_page.h.
#include "report/html_page.h"
#include "report/json_out.h"
#include "report/tried.h"

enum { SHOWN = 5 }; // changes of a line without JavaScript

// --- without JavaScript -----------------------------------------------------

static const char *class_of(DiffKind kind) {
  return kind == DIFF_ADDED     ? "l add"
         : kind == DIFF_DELETED ? "l del"
         : kind == DIFF_SAME    ? "l"
                                : "l soft";
}

static void put_diff(const char *diff, FILE *out) {
  DiffReader d = {.rest = diff};
  fputs("<pre class=\"diff\">", out);
  while (diff_next(&d)) {
    fprintf(out, "<span class=\"%s\">", class_of(d.kind));
    html_text_n(d.line, d.length, out);
    fputs("</span>", out);
  }
  fputs("</pre>", out);
}

static void put_change(const HtmlReport *h, const TryNote *n,
                       const TriedChange *c, FILE *out) {
  Str text = {0};
  tried_sentence(&h->report, n, c, false, &text);
  fprintf(out, "<li%s>", tried_survives(c) ? " class=\"survives\"" : "");
  html_text(str_text(&text), out);
  if (c->diff)
    put_diff(c->diff, out);
  fputs("</li>\n", out);
  str_release(&text);
}

void html_changes(const HtmlReport *h, size_t failure, uint32_t statement,
                  FILE *out) {
  const TryNote *n = report_tried(&h->report, failure);
  ChangeList changes = {0};
  if (n)
    tried_list(n, statement, &changes);
  if (changes.len) {
    fputs("<p class=\"hints\">What <code>culprit try</code> found; hints, not "
          "fixes:</p>\n<ul class=\"changes\">\n",
          out);
    for (size_t i = 0; i < changes.len && i < SHOWN; i++)
      put_change(h, n, changes.items[i], out);
    if (changes.len > SHOWN)
      fprintf(out, "<li>and %zu more</li>\n", changes.len - SHOWN);
    fputs("</ul>\n", out);
  }
  array_release(&changes);
}

// --- data -------------------------------------------------------------------

static void put_item(const HtmlReport *h, const TryNote *n,
                     const TriedChange *c, uint32_t statement, FILE *out) {
  Str text = {0};
  tried_sentence(&h->report, n, c, false, &text);
  fprintf(out, "[%u,%d,", statement, tried_survives(c));
  json_string(str_text(&text), out);
  fputc(',', out);
  if (c->diff)
    json_string(c->diff, out);
  else
    fputs("null", out);
  fputc(']', out);
  str_release(&text);
}

void html_changes_data(const HtmlReport *h, size_t failure,
                       const uint32_t *index, FILE *out) {
  const TryNote *n = report_tried(&h->report, failure);
  ChangeList changes = {0};
  bool first = true;
  Str text = {0};
  if (!n)
    return;
  tried_list(n, ENTITY_NONE, &changes);
  fprintf(out, ",\"tried\":{\"runs\":%u,\"lines\":[", n->runs);
  for (size_t i = 0; i < n->lines.len; i++) {
    const TriedLine *l = &n->lines.items[i];
    if (l->statement == ENTITY_NONE)
      continue;
    json_separator(&first, out);
    fprintf(out, "[%u,%u]", index[l->statement], l->tried);
  }
  first = true;
  fputs("],\"changes\":[", out);
  for (size_t i = 0; i < changes.len; i++) {
    if (changes.items[i]->statement == ENTITY_NONE)
      continue;
    json_separator(&first, out);
    put_item(h, n, changes.items[i], index[changes.items[i]->statement], out);
  }
  fputc(']', out);
  if (tried_ask(n, &text))
    json_text("question", str_text(&text), out);
  fputc('}', out);
  str_release(&text);
  array_release(&changes);
}
