// What `culprit since` prints: see since_print.h.
#include "cli/since/since_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_out.h"
#include "util/escape.h"

enum { LINES_SHOWN = 10, NAMES_SHOWN = 10 };

// --- text --------------------------------------------------------------------

static void print_candidates(const SinceResult *r, FILE *out) {
  const CommitNames *list = &r->search->candidates;
  fprintf(out,
          "one of %zu commits: the others between do not build, or the "
          "tests have no verdict there\n",
          list->len);
  for (size_t i = 0; i < list->len && i < NAMES_SHOWN; i++) {
    CommitText text;
    Err ignored;
    if (commit_text(r->search, list->items[i].oid, &text, &ignored))
      continue;
    escape_printf(out, "  %s\n", text.text);
    commit_text_release(&text);
  }
  if (list->len > NAMES_SHOWN)
    fprintf(out, "  and %zu more\n", list->len - NAMES_SHOWN);
}

static int print_commit(const SinceResult *r, FILE *out, Err *err) {
  CommitText text;
  if (r->hunks_only) {
    if (commit_text(r->search, r->search->good, &text, err))
      return -1;
    escape_printf(out, "changes since commit %s", text.text);
    commit_text_release(&text);
    return 0;
  }
  if (r->found == COMMITS_AMONG) {
    print_candidates(r, out);
    fputs("what they change together", out);
    return 0;
  }
  if (commit_text(r->search, r->search->guilty, &text, err))
    return -1;
  escape_printf(out, "%s%s", *text.name ? "commit " : "", text.text);
  commit_text_release(&text);
  return 0;
}

static void print_effect(const SinceResult *r, FILE *out) {
  const TakenBack *b = r->back;
  size_t n = b->hunks.len;
  if (r->back_end == BACK_NONE) {
    fputs(": it changes only tests and what is not text\n", out);
    return;
  }
  if (r->back_end != BACK_FOUND) {
    fprintf(out, ", %zu hunk%s\n", n, plural(n));
    return;
  }
  if (n == 1)
    fputs(", its only hunk; without it", out);
  else
    fprintf(out, ", %zu of its %zu hunk%s; without %s", b->nkept, n, plural(n),
            b->nkept == 1 ? "it" : "them");
  fprintf(out, " %zu of %zu failing test%s pass%s", r->fixed, r->failing,
          plural(r->failing), r->fixed == 1 && r->failing == 1 ? "es" : "");
  if (r->checked && r->passing)
    fprintf(out, ", %zu of %zu other%s still do%s", r->kept, r->passing,
            plural(r->passing), r->passing == 1 ? "es" : "");
  fputc('\n', out);
}

static void print_hunks(const SinceResult *r, FILE *out) {
  const TakenBack *b = r->back;
  fputc('\n', out);
  for (size_t i = 0; i < b->hunks.len; i++) {
    const ChangeHunk *h = &b->hunks.items[i];
    if (!h->kept)
      continue;
    escape_printf(out, "  %s:%" PRIu32, h->path, h->line);
    if (h->whole)
      escape_printf(out, "  the file as a whole\n");
    else
      escape_printf(out, "  +%" PRIu32 " -%" PRIu32 "  %s\n", h->hunk.count,
                    h->hunk.old_count, h->hunk.declaration);
  }
}

static const ChangeHunk *hunk_of(const TakenBack *b, const LineSuspect *s) {
  for (size_t i = 0; i < b->hunks.len; i++) {
    const ChangeHunk *h = &b->hunks.items[i];
    if (h->kept && line_suspect_in(s, h->path, h->line,
                                   h->whole ? UINT32_MAX / 2 : h->lines))
      return h;
  }
  return NULL;
}

static void print_lines(const SinceResult *r, FILE *out) {
  size_t shown = 0;
  for (size_t i = 0; i < r->suspects->lines.len && shown < LINES_SHOWN; i++) {
    const LineSuspect *s = &r->suspects->lines.items[i];
    if (!hunk_of(r->back, s))
      continue;
    if (!shown++)
      fputs("\nlines in them that failing tests execute:\n", out);
    escape_printf(out, "  %zu. %s:%" PRIu32 "  (rank %" PRIu32 " of all)\n",
                  shown, s->path, s->line, s->rank);
  }
}

static void print_notes(const SinceResult *r, FILE *out) {
  const CommitSearch *s = r->search;
  const TakenBack *b = r->back;
  for (size_t i = 0; i < r->broken.len && i < NAMES_SHOWN; i++)
    escape_printf(out, "note: %s passes now and fails without them\n",
                  r->broken.items[i]);
  if (r->elsewhere)
    fprintf(out,
            "note: %zu other failing test%s not fail there: `culprit since "
            "--test NAME` looks for each\n",
            r->elsewhere, r->elsewhere == 1 ? " does" : "s do");
  if (s->flaky)
    fprintf(out, "note: %zu test%s flaky in the good version and not used\n",
            s->flaky, s->flaky == 1 ? " is" : "s are");
  if (s->unknown)
    fprintf(out,
            "note: %zu test%s not known in the good version and not "
            "used\n",
            s->unknown, s->unknown == 1 ? " is" : "s are");
  if (b->on_commit)
    fputs("note: later commits changed some of the same lines, so the hunks "
          "were found in the commit itself\n",
          out);
  if (b->in_tests)
    fprintf(out, "note: %zu hunk%s of tests %s left as they are\n", b->in_tests,
            plural(b->in_tests), b->in_tests == 1 ? "is" : "are");
  if (s->checkout->submodules)
    fputs("note: submodules have the files of your work tree in every "
          "version\n",
          out);
  if (r->back_end == BACK_FAILS)
    fputs("note: the tests fail without all of its hunks, too: look at the "
          "commit as a whole\n",
          out);
  if (r->back_end == BACK_SPENT)
    fputs("note: the budget was spent before the hunks were found; the same "
          "command resumes\n",
          out);
}

int since_print_text(const SinceResult *r, FILE *out, Err *err) {
  if (print_commit(r, out, err))
    return -1;
  print_effect(r, out);
  if (r->back_end == BACK_FOUND) {
    print_hunks(r, out);
    print_lines(r, out);
    fprintf(out, "\nto take %s back, `git apply`:\n\n",
            r->back->nkept == 1 ? "it" : "them");
    fputs(r->patch, out);
    fputc('\n', out);
  }
  print_notes(r, out);
  fprintf(out, "%zu build%s, %.1f s", r->builds, plural(r->builds), r->seconds);
  if (r->reused)
    fprintf(out, "; %zu outcome%s known", r->reused,
            r->reused == 1 ? " was" : "s were");
  fputc('\n', out);
  return 0;
}

// --- JSON --------------------------------------------------------------------

static void json_if_any(const char *key, const char *text, FILE *out) {
  if (text && *text)
    json_text(key, text, out);
  else
    fprintf(out, ",\"%s\":null", key);
}

static void json_commit(const SinceResult *r, const char *key, const char *oid,
                        FILE *out) {
  CommitText text;
  Err ignored;
  fprintf(out, ",\n \"%s\": ", key);
  if (!*oid || commit_text(r->search, oid, &text, &ignored)) {
    fputs("null", out);
    return;
  }
  fputs("{\"hash\": ", out);
  json_string(*text.name ? oid : "", out);
  json_text("short", text.name, out);
  json_text("date", text.date, out);
  json_text("subject", text.subject, out);
  fputc('}', out);
  commit_text_release(&text);
}

static void json_hunk(const ChangeHunk *h, const char *patch, FILE *out) {
  fputs("\n  {\"file\": ", out);
  json_string(h->path, out);
  fprintf(out,
          ", \"line\": %" PRIu32 ", \"added\": %" PRIu32
          ", \"removed\": %" PRIu32,
          h->line, h->hunk.count, h->hunk.old_count);
  json_bool("whole", h->whole, out);
  json_bool("changed_later", !h->movable, out);
  json_text("declaration", h->hunk.declaration, out);
  json_if_any("patch", patch, out);
  fputc('}', out);
}

static void json_hunks(const SinceResult *r, FILE *out) {
  bool first = true;
  size_t n = 0; // of kept ones
  fputs(",\n \"hunks\": [", out);
  for (size_t i = 0; i < r->back->hunks.len; i++)
    if (r->back->hunks.items[i].kept) {
      json_separator(&first, out);
      json_hunk(&r->back->hunks.items[i],
                n < r->patches.len ? r->patches.items[n] : NULL, out);
      n++;
    }
  fprintf(out, "],\n \"hunks_of\": %zu, \"test_hunks\": %zu",
          r->back->hunks.len, r->back->in_tests);
  json_bool("found_on_commit", r->back->on_commit, out);
}

static void json_lines(const SinceResult *r, FILE *out) {
  bool first = true;
  fputs(",\n \"ranking\": [", out);
  for (size_t i = 0; i < r->suspects->lines.len; i++) {
    const LineSuspect *s = &r->suspects->lines.items[i];
    if (!hunk_of(r->back, s))
      continue;
    json_separator(&first, out);
    fputs("\n  {\"file\": ", out);
    json_string(s->path, out);
    fprintf(out, ", \"line\": %" PRIu32 ", \"rank\": %" PRIu32, s->line,
            s->rank);
    json_double("score", s->score, out);
    fputc('}', out);
  }
  fputc(']', out);
}

static void json_names(const char *key, const CommitNames *list, FILE *out) {
  bool first = true;
  fprintf(out, ",\n \"%s\": [", key);
  for (size_t i = 0; i < list->len; i++) {
    json_separator(&first, out);
    json_string(list->items[i].oid, out);
  }
  fputc(']', out);
}

static void json_broken(const SinceResult *r, FILE *out) {
  bool first = true;
  fputs(",\n \"broken_tests\": [", out);
  for (size_t i = 0; i < r->broken.len; i++) {
    json_separator(&first, out);
    json_string(r->broken.items[i], out);
  }
  fputc(']', out);
}

static const char *end_word(const SinceResult *r) {
  static const char *const words[] = {[BACK_FOUND] = "found",
                                      [BACK_NONE] = "no hunks",
                                      [BACK_FAILS] = "fails without them",
                                      [BACK_SPENT] = "budget"};
  return words[r->back_end];
}

int since_print_json(const SinceResult *r, FILE *out, Err *err) {
  const CommitSearch *s = r->search;
  bool uncommitted = s->checkout->dirty && !strcmp(s->guilty, s->latest);
  (void)err;
  fputs("{\"commit\": ", out);
  if (*s->guilty && !uncommitted)
    json_string(s->guilty, out);
  else
    fputs("null", out);
  json_bool("uncommitted", uncommitted, out);
  json_if_any("good", s->good, out);
  json_commit(r, "guilty", s->guilty, out);
  json_commit(r, "good_commit", s->good, out);
  json_names("candidates", &s->candidates, out);
  json_names("skipped", &s->skipped, out);
  json_text("result", end_word(r), out);
  json_hunks(r, out);
  fprintf(out,
          ",\n \"failing\": %zu, \"repaired\": %zu, \"passing\": %zu, "
          "\"broken\": %zu",
          r->failing, r->fixed, r->passing,
          r->checked ? r->passing - r->kept : 0);
  json_bool("all_tests_run", r->checked, out);
  json_broken(r, out);
  fprintf(out, ",\n \"flaky\": %zu, \"unknown\": %zu, \"elsewhere\": %zu",
          s->flaky, s->unknown, r->elsewhere);
  json_bool("submodules", s->checkout->submodules, out);
  json_lines(r, out);
  json_text("patch", r->patch, out);
  fprintf(out,
          ",\n \"builds\": %zu, \"commit_builds\": %zu, \"reused\": %zu, "
          "\"seconds\": %.1f}\n",
          r->builds, r->commit_builds, r->reused, r->seconds);
  return 0;
}
