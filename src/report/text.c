// The ranking on a terminal:
//
//   2 of 7 tests fail: 1 failure
//   ochiai, 9 of 9 statements executed
//
//   Failure 1 of 1 (exit): exit status 1
//     2 failing runs against 5 passing; tests 3, 6
//
//     1-7  0.707  fig1.c:7 in main
//          |     count = block_queue + 1;
//          |           ^~~~~~~~~~~~~~~
//          = 2 of 2 failing, 2 of 5 passing runs
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "locate/try_note.h"
#include "report/excerpt.h"
#include "report/hints.h"
#include "report/report.h"
#include "util/escape.h"
#include "util/str.h"

enum {
  SHOWN = 10,
  SHOWN_LESS = 3, // of further failures at the same place
  NAMES_SHOWN = 8,
  REASONS_SHOWN = 3,
  PLACES_SHOWN = 20
};

// Colours as compilers use them; empty without --color.
typedef struct {
  const char *fail, *place, *caret, *note, *off;
} Palette;

static Palette palette(const Report *r) {
  if (!r->color)
    return (Palette){"", "", "", "", ""};
  return (Palette){"\033[1;31m", "\033[1m", "\033[1;32m", "\033[1;36m",
                   "\033[0m"};
}

enum { NOTE_COLUMNS = 6 }; // "note: "
static void put_note(const Report *r, FILE *out) {
  Palette p = palette(r);
  fprintf(out, "%snote:%s ", p.note, p.off);
}

// --- lists of tests ---------------------------------------------------------

typedef struct {
  Str *out;
  size_t n;
} NameList;

static void put_name(NameList *l, const char *name) {
  if (l->n < NAMES_SHOWN) {
    str_add(l->out, l->n ? ", " : "");
    escape_add(l->out, name);
  }
  l->n++;
}

static void end_names(const NameList *l) {
  if (l->n > NAMES_SHOWN)
    str_addf(l->out, " and %zu more", l->n - NAMES_SHOWN);
}

// --- what to know before reading --------------------------------------------

static void note_verdict(const Report *r, Verdict verdict, const char *what,
                         FILE *out) {
  size_t n = report_verdicts(r, verdict);
  if (!n)
    return;
  Str text = {0};
  put_note(r, out);
  str_addf(&text, "%zu test%s left out (%s): ", n, plural(n), what);
  NameList names = {&text, 0};
  for (size_t i = 0; i < r->suite->nruns; i++)
    if (r->suite->runs[i].verdict == verdict)
      put_name(&names, r->suite->runs[i].test);
  end_names(&names);
  report_wrapped(text.data, NOTE_COLUMNS, NOTE_COLUMNS, out);
  str_release(&text);
}

static bool lacks_spectrum(const RunInfo *run) {
  return !run->has_spectrum &&
         (run->verdict == VERDICT_PASS || run->verdict == VERDICT_FAIL);
}

static const char *reason_of(const RunInfo *run) {
  return run->note && *run->note
             ? run->note
             : "the test ran no instrumented program (try `culprit doctor`)";
}

typedef struct {
  const char *text;
  size_t n;
} Reason;

static int more_often_first(const void *a, const void *b) {
  const Reason *x = a, *y = b;
  if (x->n != y->n)
    return x->n > y->n ? -1 : 1;
  return strcmp(x->text, y->text);
}

typedef ARRAY(Reason) Reasons;

static void count_reason(Reasons *reasons, const char *text) {
  for (size_t i = 0; i < reasons->len; i++) {
    if (!strcmp(reasons->items[i].text, text)) {
      reasons->items[i].n++;
      return;
    }
  }
  if (reasons->len < 1000) // all different: the first ones are example enough
    array_push(reasons, (Reason){text, 1});
}

static bool has_remark(const RunInfo *run) {
  return run->has_spectrum && run->note && *run->note &&
         (run->verdict == VERDICT_PASS || run->verdict == VERDICT_FAIL);
}

// How many runs are like that, and what their notes say; `one` and `many`
// follow the number.
static void note_reasons(const Report *r, bool (*takes)(const RunInfo *),
                         const char *one, const char *many, FILE *out) {
  Reasons reasons = {0};
  size_t n = 0;
  for (size_t i = 0; i < r->suite->nruns; i++) {
    if (!takes(&r->suite->runs[i]))
      continue;
    n++;
    count_reason(&reasons, reason_of(&r->suite->runs[i]));
  }
  if (!n)
    return;
  qsort(reasons.items, reasons.len, sizeof *reasons.items, more_often_first);
  put_note(r, out);
  fprintf(out, "%zu %s:\n", n, n == 1 ? one : many);
  for (size_t i = 0; i < reasons.len && i < REASONS_SHOWN; i++) {
    fprintf(out, "      %zu: ", reasons.items[i].n);
    report_escaped(reasons.items[i].text, out);
    fputc('\n', out);
  }
  if (reasons.len > REASONS_SHOWN)
    fprintf(out, "      ... and %zu more\n", reasons.len - REASONS_SHOWN);
  array_release(&reasons);
}

static void note_imprecise(const Report *r, FILE *out) {
  size_t n = 0;
  for (size_t i = 0; i < r->suite->nruns; i++)
    n += r->suite->runs[i].imprecise && r->suite->runs[i].has_spectrum;
  if (!n)
    return;
  Str text = {0};
  put_note(r, out);
  str_addf(&text,
           "%zu run%s killed before the last lines could be confirmed: lines "
           "just after the point of death may be marked as executed",
           n, n == 1 ? " was" : "s were");
  report_wrapped(text.data, NOTE_COLUMNS, NOTE_COLUMNS, out);
  str_release(&text);
}

// --- places -----------------------------------------------------------------

// "12 requests, 2 failures"
static void put_group(const PlaceGroup *g, FILE *out) {
  fprintf(out, "%zu request%s, %zu failure%s", g->runs, plural(g->runs), g->n,
          plural(g->n));
}

static const char *place_of(const Report *r, const PlaceGroup *g) {
  const char *place = r->suite->failures[g->first].place;
  return *place ? place : "no known line";
}

// Of a PHP application: where its failures are, before all that is to be said of
// each.
static void put_overview(const Report *r, FILE *out) {
  const PlaceGroups *groups = r->groups;
  if (!groups || groups->len < 2)
    return;
  fputs("\nPlaces, most requests first:\n", out);
  for (size_t i = 0; i < groups->len && i < PLACES_SHOWN; i++) {
    const PlaceGroup *g = &groups->items[i];
    fputs("  ", out);
    report_escaped(place_of(r, g), out);
    fputs(": ", out);
    put_group(g, out);
    fprintf(out, g->n > 1 ? " (%zu-%zu)\n" : " (%zu)\n", g->first + 1,
            g->first + g->n);
  }
  if (groups->len > PLACES_SHOWN)
    fprintf(out, "  ... and %zu more\n", groups->len - PLACES_SHOWN);
}

static void put_place_head(const Report *r, size_t failure, FILE *out) {
  const PlaceGroup *g = r->groups && r->groups->len > 1
                            ? place_group_at(r->groups, failure)
                            : NULL;
  Palette p = palette(r);
  if (!g)
    return;
  fprintf(out, "\n%s", p.place);
  report_escaped(place_of(r, g), out);
  fprintf(out, "%s: ", p.off);
  put_group(g, out);
  fputc('\n', out);
}

// --- one failure ------------------------------------------------------------

// Of a PHP application: what to ask for to see it.
static void put_request(const Report *r, const FailureGroup *g, FILE *out) {
  const char *command = g->nruns ? r->suite->runs[g->runs[0]].command : "";
  if (!report_request(command))
    return;
  fputs("  shown by: ", out);
  report_escaped(command, out);
  if (g->nruns > 1)
    fprintf(out, " and %zu more", g->nruns - 1);
  fputc('\n', out);
}

// Of a page: what is wrong in it, beside the lines that wrote it. As the first
// run shows it.
static void put_places(const Report *r, const Ranking *ranking, FILE *out) {
  PlaceList places = {0};
  report_places(r, ranking->failure, &places);
  for (size_t i = 0; i < places.len; i++) {
    const PlaceAt *p = places.items[i];
    const Entity *e = &r->suite->entities[p->statement];
    fprintf(out, "  %s: ", p->what);
    report_escaped(suite_path(r->suite, e->source), out);
    fprintf(out, ":%u  ", p->line);
    report_escaped(p->excerpt, out);
    fputc('\n', out);
  }
  array_release(&places);
}

// What the test wrote when it failed, a few lines of it.
static void put_words(const FailureGroup *g, FILE *out) {
  for (const char *line = g->excerpt; line && *line;) {
    size_t n = strcspn(line, "\n");
    fprintf(out, "  > %.*s\n", (int)n, line);
    line += n + (line[n] == '\n');
  }
}

// The calls that led to the first death.
static void put_callers(const Report *r, size_t failure, FILE *out) {
  EvidenceList list = {0};
  evidence_callers(r->suite, r->deaths, failure, &list);
  for (size_t i = 0; i < list.len; i++) {
    fputs("  ", out);
    report_escaped(list.items[i].text, out);
    fputc('\n', out);
  }
  evidence_release(&list);
}

static void put_loops(const Report *r, FILE *out) {
  for (size_t i = 0; r->loops && i < r->loops->len; i++) {
    Str text = {0};
    loop_describe(r->suite, &r->loops->items[i], &text);
    fputs("  ", out);
    report_escaped(str_text(&text), out);
    fputc('\n', out);
    str_release(&text);
  }
}

static void put_header(const Report *r, const Ranking *ranking, FILE *out) {
  const FailureGroup *g = &r->suite->failures[ranking->failure];
  Palette p = palette(r);
  fprintf(out, "\n%sFailure %zu of %zu%s (", p.fail, ranking->failure + 1,
          r->suite->nfailures, p.off);
  report_escaped(g->kind, out);
  fprintf(out, "): %s", p.place);
  report_escaped(g->message, out);
  fprintf(out, "%s\n  ", p.off);
  Str text = {0};
  str_addf(&text, "%u failing run%s against %u %s; test%s ", ranking->failing,
           plural(ranking->failing), ranking->passing,
           ranking->stand_in ? "that fail otherwise" : "passing",
           plural(g->nruns));
  NameList names = {&text, 0};
  for (size_t i = 0; i < g->nruns; i++)
    put_name(&names, r->suite->runs[g->runs[i]].test);
  end_names(&names);
  report_wrapped(text.data, 2, 4, out);
  str_release(&text);
  put_callers(r, ranking->failure, out);
  put_loops(r, out);
  put_words(g, out);
  put_request(r, g, out);
  put_places(r, ranking, out);
  if (ranking->stand_in)
    fputs("  No test passes: runs that fail in another way stand in for "
          "passing ones.\n",
          out);
}

static void put_notes(const Report *r, const Ranking *ranking, FILE *out) {
  for (size_t i = 0; i < ranking->notes.len; i++) {
    Str text = {0};
    if (!strcmp(ranking->notes.items[i].kind, EVIDENCE_ALTERNATIVES))
      continue; // said with the hints
    fputs("  ", out);
    put_note(r, out);
    escape_add(&text, ranking->notes.items[i].text);
    report_wrapped(str_text(&text), 2 + NOTE_COLUMNS, 2 + NOTE_COLUMNS, out);
    str_release(&text);
  }
}

static void put_excerpt(Report *r, const Entity *e, int indent, FILE *out) {
  const char *line;
  size_t n;
  if (!sources_line(r->sources, e->source, e->line, &line, &n))
    return;
  Palette p = palette(r);
  Str text = {0}, caret = {0};
  excerpt_render(line, n, e->col_lo, e->col_hi,
                 (size_t)(REPORT_COLUMNS - indent - 2), &text, &caret);
  if (text.len)
    fprintf(out, "%*s| %s\n", indent, "", str_text(&text));
  if (caret.len) {
    size_t blank = strspn(caret.data, " ");
    fprintf(out, "%*s| %.*s%s%s%s\n", indent, "", (int)blank, caret.data,
            p.caret, caret.data + blank, p.off);
  }
  str_release(&text);
  str_release(&caret);
}

// Programs that read the output find a sentence in one line; people do not have
// to read beyond the edge of their terminal.
static void put_sentence(const char *sentence, int indent, FILE *out) {
  Str text = {0};
  escape_add(&text, sentence);
  fprintf(out, "%*s= ", indent, "");
  if (isatty(fileno(out)))
    report_wrapped(str_text(&text), (size_t)indent + 2, indent + 2, out);
  else
    fprintf(out, "%s\n", str_text(&text));
  str_release(&text);
}

static void put_evidence(const Report *r, const Ranking *ranking,
                         const Suspect *s, int indent, FILE *out) {
  EvidenceList list = {0};
  evidence_gather(r->suite, r->deaths, ranking, s, &list);
  for (size_t i = 0; i < list.len; i++) {
    if (!strcmp(list.items[i].kind, EVIDENCE_CALLER))
      continue; // the head of the failure names them
    put_sentence(list.items[i].text, indent, out);
  }
  evidence_release(&list);
}

// How wide the column of ranks must be.
static int rank_width(const Ranking *ranking, size_t shown) {
  size_t width = 0;
  Str rank = {0};
  for (size_t i = 0; i < shown; i++) {
    str_clear(&rank);
    report_rank(&ranking->suspects.items[i], &rank);
    width = rank.len > width ? rank.len : width;
  }
  str_release(&rank);
  return (int)width;
}

static void put_suspect(Report *r, const Ranking *ranking, const Suspect *s,
                        int width, FILE *out) {
  const Entity shown = report_entity(r, s), *e = &shown;
  Palette p = palette(r);
  Str rank = {0}, score = {0}, place = {0}, what = {0};
  report_rank(s, &rank);
  report_score(s->score, &score);
  escape_add(&place, suite_path(r->suite, e->source));
  str_addf(&place, ":%u", e->line);
  report_describe(r->suite, e, &what);
  fprintf(out, "  %*s  %s  %s%s%s%s%s\n", width, str_text(&rank),
          str_text(&score), p.place, str_text(&place), p.off,
          what.len ? " " : "", str_text(&what));
  str_release(&rank);
  str_release(&score);
  str_release(&place);
  str_release(&what);
  put_excerpt(r, e, width + 4, out);
  put_evidence(r, ranking, s, width + 4, out);
}

static void put_rest(const Report *r, const Ranking *ranking, size_t shown,
                     FILE *out) {
  size_t n = ranking->suspects.len;
  if (!shown || shown >= n)
    return;
  const Suspect *last = &ranking->suspects.items[shown - 1];
  fprintf(out, "\n  %zu of %zu %ss shown (--top N)", shown, n,
          entity_kind_name(r->by));
  if (last->rank > shown)
    fprintf(out, "; %zu more tie with the last one", last->rank - shown);
  fputc('\n', out);
}

// Why there is no list.
static void put_unranked(const Report *r, const Ranking *ranking, FILE *out) {
  const FailureGroup *g = &r->suite->failures[ranking->failure];
  if (!ranking->failing)
    fprintf(out, "  Not ranked: of its %zu run%s none has a usable spectrum.\n",
            g->nruns, plural(g->nruns));
  else if (!ranking->passing)
    fputs("  Not ranked: no run passes to compare with. Add tests that pass.\n",
          out);
  else
    fprintf(out, "  Not ranked: no %s of the chosen files was executed.\n",
            entity_kind_name(r->by));
}

// --- the known fault --------------------------------------------------------

static void put_place(const Report *r, const Ranking *ranking,
                      const FaultPlace *p, FILE *out) {
  const Entity *e = &r->suite->entities[p->statement];
  const Suspect *s = fault_suspect(p, ranking);
  fputs("  fault ", out);
  report_escaped(suite_path(r->suite, p->source), out);
  fprintf(out, ":%u", p->line);
  if (e->line != p->line)
    fprintf(out, " (no statement there; line %u stands for it)", e->line);
  if (!s) {
    fputs(": not in the ranking (not executed, or left out)\n", out);
    return;
  }
  Str rank = {0};
  report_rank(s, &rank);
  fprintf(out, ": rank %s\n", str_text(&rank));
  str_release(&rank);
}

static const char *yes_no(bool b) { return b ? "yes" : "no"; }

static void put_fault(const Report *r, const Ranking *ranking, FILE *out) {
  FaultScore f;
  fault_score(r->fault, ranking, r->executed, r->executable, &f);
  fputc('\n', out);
  for (size_t i = 0; i < r->fault->places.len; i++)
    put_place(r, ranking, &r->fault->places.items[i], out);
  if (f.ranked)
    fprintf(out,
            "    first found at rank %u (average %.1f, best %u), %u tied\n",
            f.rank, f.rank_average, f.rank_best, f.ties);
  fprintf(out,
          "    examined: %.1f %% of %zu executed, %.1f %% of %zu "
          "executable %ss\n",
          f.examined_executed, f.executed, f.examined_executable, f.executable,
          entity_kind_name(r->by));
  fprintf(out, "    well-localized (< 1 %% of executed): first %s, all %s\n",
          yes_no(f.well_first), yes_no(f.well_all));
  fputs("    expected in the top", out);
  for (int i = 0; i < FAULT_TOPS; i++)
    fprintf(out, "%s %u: %.2f", i ? "," : "", fault_tops[i], f.top[i]);
  fputc('\n', out);
}

static void put_suspects(Report *r, const Ranking *ranking, size_t shown,
                         FILE *out) {
  put_notes(r, ranking, out);
  fputc('\n', out);
  int width = rank_width(ranking, shown);
  for (size_t i = 0; i < shown; i++)
    put_suspect(r, ranking, &ranking->suspects.items[i], width, out);
  put_rest(r, ranking, shown, out);
  hints_put(r, ranking, out);
  if (r->fault)
    put_fault(r, ranking, out);
}

// All failures, where one line explains them.
static void put_together(Report *r, FILE *out) {
  const Ranking *ranking = r->together;
  Palette p = palette(r);
  fprintf(out,
          "\n%sThe %zu failures together%s: one line explains each of them\n"
          "  %u failing run%s against %u passing\n",
          p.fail, r->suite->nfailures, p.off, ranking->failing,
          plural(ranking->failing), ranking->passing);
  put_suspects(r, ranking, report_shown(r, &report_text, ranking), out);
}

// The suspects of a second failure at the same place are mostly the same.
static size_t count_shown(const Report *r, const Ranking *ranking) {
  size_t shown = report_shown(r, &report_text, ranking);
  bool again = r->groups && r->groups->len &&
               !place_group_at(r->groups, ranking->failure);
  return !r->top && again && shown > SHOWN_LESS ? SHOWN_LESS : shown;
}

static void failure(Report *r, const Ranking *ranking, FILE *out) {
  size_t shown = count_shown(r, ranking);
  put_place_head(r, ranking->failure, out);
  put_header(r, ranking, out);
  if (shown)
    put_suspects(r, ranking, shown, out);
  else
    put_unranked(r, ranking, out);
}

static void put_count(const PlaceGroups *groups, FILE *out) {
  Str text = {0};
  place_groups_count(groups, &text);
  fputs(str_text(&text), out);
  str_release(&text);
}

static void begin(Report *r, FILE *out) {
  Palette p = palette(r);
  size_t failing = report_verdicts(r, VERDICT_FAIL);
  size_t n = r->suite->nfailures;
  fprintf(out, "%s%zu of %zu test%s fail%s%s", failing ? p.fail : "", failing,
          r->suite->nruns, plural(r->suite->nruns), verb_s(failing), p.off);
  if (failing)
    fprintf(out, ": %zu %sfailure%s", n, n > 1 ? "different " : "", plural(n));
  if (failing && n > 1 && r->groups)
    put_count(r->groups, out);
  if (r->known)
    fprintf(out, ", %zu known set aside", r->known);
  fprintf(out, "\n%s, %zu of %zu %s%s executed\n", r->method, r->executed,
          r->executable, entity_kind_name(r->by), plural(r->executable));
  note_verdict(r, VERDICT_FLAKY, "flaky", out);
  note_verdict(r, VERDICT_SKIP, "skipped", out);
  note_verdict(r, VERDICT_ERROR, "could not be run or judged", out);
  note_reasons(r, lacks_spectrum, "run left no spectrum and cannot be compared",
               "runs left no spectrum and cannot be compared", out);
  note_reasons(r, has_remark, "run has a remark", "runs have remarks", out);
  note_imprecise(r, out);
  if (r->together)
    put_together(r, out);
  put_overview(r, out);
}

static void end(Report *r, FILE *out) {
  Str text = {0};
  NameList names = {&text, 0};
  str_add(&text, "source not shown, the file cannot be read: ");
  for (uint32_t i = 0; i < r->suite->nsources; i++)
    if (sources_state(r->sources, i) == SOURCE_UNREADABLE)
      put_name(&names, suite_path(r->suite, i));
  end_names(&names);
  if (names.n) {
    fputc('\n', out);
    put_note(r, out);
    report_wrapped(text.data, NOTE_COLUMNS, NOTE_COLUMNS, out);
  }
  str_release(&text);
}

const ReportFormat report_text = {"text", SHOWN, begin, failure, end};
