// The part of the page that needs no JavaScript: what failed, the first
// suspects of every failure with excerpts, and the source around them. The
// program of the page hides it and shows the same, and more, its own way.
#include <stdlib.h>
#include <string.h>

#include "report/html_page.h"
#include "report/tried.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  FAILURES = 100, // with suspects; of further ones only the head
  CONTEXT = 2,    // lines around a suspect
  NAMES = 12,
  DIFFERENCES = 40,
  WHOLE_FILE = 800, // lines; of longer files what is around suspects
  AROUND = 12,
  SOURCE_LINES = 2000, // altogether
};

static const char *const glyphs[] = {"○", "◔", "◑", "◕", "●"};

// The glyph that says the same as the hue.
static const char *glyph(int hue) { return glyphs[(hue * 4 + 5) / 10]; }

// --- head -------------------------------------------------------------------

static void put_fact(const char *name, const char *value, FILE *out) {
  fprintf(out, "<div><dt>%s</dt><dd>", name);
  html_text(value, out);
  fputs("</dd></div>\n", out);
}

static void put_runs(const HtmlReport *h, FILE *out) {
  const Report *r = &h->report;
  size_t other = r->suite->nruns - report_verdicts(r, VERDICT_FAIL) -
                 report_verdicts(r, VERDICT_PASS);
  fprintf(out, "<div><dt>Runs</dt><dd>%zu failed, %zu passed",
          report_verdicts(r, VERDICT_FAIL), report_verdicts(r, VERDICT_PASS));
  if (other)
    fprintf(out, ", %zu left out", other);
  fputs("</dd></div>\n", out);
}

static void put_build(const HtmlReport *h, FILE *out) {
  const Report *r = &h->report;
  fprintf(out,
          "<div><dt>Build</dt><dd>%zu source file%s, %zu of %zu statements "
          "executed</dd></div>\n",
          r->suite->nsources, plural(r->suite->nsources), r->executed,
          r->executable);
}

static void put_header(const HtmlReport *h, FILE *out) {
  const Suite *suite = h->report.suite;
  size_t failing = report_verdicts(&h->report, VERDICT_FAIL);
  fputs("<header id=\"top\">\n<p class=\"brand\">culprit</p>\n<h1>", out);
  fprintf(out, "%zu of %zu test%s fail%s", failing, suite->nruns,
          plural(suite->nruns), verb_s(failing));
  Str at = {0};
  if (suite->nfailures > 1)
    place_groups_count(h->report.groups, &at);
  if (suite->nfailures)
    fprintf(out, " <small>%zu %sfailure%s%s</small>", suite->nfailures,
            suite->nfailures > 1 ? "different " : "", plural(suite->nfailures),
            str_text(&at));
  str_release(&at);
  fputs("</h1>\n<dl class=\"facts\">\n", out);
  put_runs(h, out);
  put_build(h, out);
  put_fact("Method", h->report.method, out);
  if (h->started)
    put_fact("Started", h->started, out);
  put_fact("Run again", suite->command, out);
  put_fact("In", suite->cwd, out);
  fputs("</dl>\n</header>\n", out);
}

static void put_notices(HtmlReport *h, FILE *out) {
  Notices notices = {0};
  html_notices(h, &notices);
  fputs("<div id=\"notices\">\n", out);
  for (size_t i = 0; i < notices.len; i++) {
    fprintf(out, "<p class=\"notice %s\" role=\"%s\">", notices.items[i].level,
            strcmp(notices.items[i].level, "bad") ? "note" : "alert");
    html_text(notices.items[i].text, out);
    fputs("</p>\n", out);
  }
  fputs("</div>\n", out);
  notices_release(&notices);
}

// --- one suspect ------------------------------------------------------------

static void put_excerpt(HtmlReport *h, const Entity *e, FILE *out) {
  uint32_t from = e->line > CONTEXT ? e->line - CONTEXT : 1;
  const char *text;
  size_t n;
  if (!sources_line(h->report.sources, e->source, e->line, &text, &n))
    return;
  fputs("<pre class=\"excerpt\">", out);
  for (uint32_t line = from; line <= e->line + CONTEXT; line++) {
    if (!sources_line(h->report.sources, e->source, line, &text, &n))
      break;
    fprintf(out, "<span class=\"l%s\"><b>%u</b> ",
            line == e->line ? " hit" : "", line);
    html_text_n(text, n, out);
    fputs("</span>", out);
  }
  fputs("</pre>\n", out);
}

static void put_place(const Suite *suite, const Entity *e, FILE *out) {
  fputs("<span class=\"place\">", out);
  html_text(suite_path(suite, e->source), out);
  fprintf(out, ":%u</span>", e->line);
}

// `changes`: all that there is to say of them has been said.
static void put_evidence(const EvidenceList *list, bool changes, FILE *out) {
  fputs("<ul class=\"evidence\">", out);
  for (size_t i = 0; i < list->len; i++) {
    if (changes && !strcmp(list->items[i].kind, EVIDENCE_TRY))
      continue;
    fputs("<li>", out);
    html_text(list->items[i].text, out);
    fputs("</li>", out);
  }
  fputs("</ul>\n", out);
}

static void put_rank(const Listed *s, FILE *out) {
  if (s->rank_best == s->rank)
    fprintf(out, "%u", s->rank);
  else
    fprintf(out, "%u–%u", s->rank_best, s->rank);
}

static void put_suspect(HtmlReport *h, size_t failure, size_t i, FILE *out) {
  const KeptListing *l = &h->methods[0].listings[failure];
  const TryNote *tried = report_tried(&h->report, failure);
  const Suite *suite = h->report.suite;
  const Listed *s = &l->items[i];
  Entity shown = suite->entities[s->entity];
  const Entity *e = &shown;
  shown.line = s->line;
  int hue = html_hue(s, l->total), light = html_light(s, l);
  Str score = {0};
  report_score(s->score, &score);
  fprintf(out, "<li class=\"suspect h%d b%d\">\n<p><b class=\"rank\">", hue,
          light);
  put_rank(s, out);
  fprintf(out, "</b> <i class=\"glyph\">%s</i> ", glyph(hue));
  put_place(suite, e, out);
  fputs(" <span class=\"function\">", out);
  html_text(report_function(suite, e), out);
  fprintf(out,
          "</span> <span class=\"numbers\">score %s <i class=\"bar w%d\"></i> "
          "%u/%u failing, %u/%u passing</span></p>\n",
          str_text(&score), hue, s->ef, l->failing, s->ep, l->passing);
  str_release(&score);
  put_excerpt(h, e, out);
  html_changes(h, failure, s->entity, out);
  if (i < l->nevidence)
    put_evidence(&l->evidence[i], tried && tried_best(tried, s->entity), out);
  fputs("</li>\n", out);
}

// --- one failure ------------------------------------------------------------

static void put_tests(const Suite *suite, const FailureGroup *g, FILE *out) {
  fprintf(out, "test%s ", plural(g->nruns));
  for (size_t i = 0; i < g->nruns && i < NAMES; i++) {
    fputs(i ? ", " : "", out);
    html_text(suite->runs[g->runs[i]].test, out);
  }
  if (g->nruns > NAMES)
    fprintf(out, " and %zu more", g->nruns - NAMES);
}

static void put_rerun(const Suite *suite, const FailureGroup *g, FILE *out) {
  const char *command = g->nruns ? suite->runs[g->runs[0]].command : NULL;
  if (!command || !*command)
    return;
  fputs("<p class=\"rerun\">To see it: <code>", out);
  html_text(command, out);
  fputs("</code></p>\n", out);
}

static void put_sureness(const HtmlReport *h, size_t failure, FILE *out) {
  Sureness s;
  html_sureness(h, failure, &s);
  fprintf(out, "<div class=\"sure s%d\"><p>How sure: <b>%s</b></p><ul>",
          s.level, s.word);
  for (size_t i = 0; i < s.reasons.len; i++) {
    fprintf(out, "<li class=\"%s\">", s.reasons.items[i].level);
    html_text(s.reasons.items[i].text, out);
    fputs("</li>", out);
  }
  fputs("</ul></div>\n", out);
  notices_release(&s.reasons);
}

// What is wrong in the page, beside the lines that wrote it.
static void put_fragments(const HtmlReport *h, size_t failure, FILE *out) {
  const Suite *suite = h->report.suite;
  PlaceList places = {0};
  report_places(&h->report, failure, &places);
  for (size_t i = 0; i < places.len; i++) {
    const PlaceAt *p = places.items[i];
    fprintf(out, "<p class=\"fragment\">%s: ", p->what);
    html_text(suite_path(suite, suite->entities[p->statement].source), out);
    fprintf(out, ":%u <mark>", p->line);
    html_text(p->excerpt, out);
    fputs("</mark></p>\n", out);
  }
  array_release(&places);
}

static void put_difference(const Suite *suite, const EntityList *list,
                           const char *who, FILE *out) {
  fprintf(out, "<p>Only the %s run executes %zu line%s", who, list->len,
          plural(list->len));
  for (size_t i = 0; i < list->len && i < DIFFERENCES; i++) {
    fputs(i ? ", " : ": ", out);
    put_place(suite, &suite->entities[list->items[i]], out);
  }
  fputs(list->len > DIFFERENCES ? " ...</p>\n" : "</p>\n", out);
}

static void put_nearest(const HtmlReport *h, size_t failure, FILE *out) {
  const Suite *suite = h->report.suite;
  const NearTest *n = h->nearest ? &h->nearest[failure] : NULL;
  if (!n || !n->found)
    return;
  fputs("<details class=\"nearest\"><summary>Nearest passing test: ", out);
  html_text(suite->runs[n->passing].test, out);
  fprintf(out, " (%.1f %% of the lines in common with test ",
          100 * n->similarity);
  html_text(suite->runs[n->failing].test, out);
  fputs(")</summary>\n", out);
  put_difference(suite, &n->only_failing, "failing", out);
  put_difference(suite, &n->only_passing, "passing", out);
  fputs("</details>\n", out);
}

// What `culprit near` found.
static void put_near(const HtmlReport *h, size_t failure, FILE *out) {
  const Suite *suite = h->report.suite;
  const char *signature = suite->failures[failure].signature;
  const NearNote *n = h->notes ? notes_find(h->notes, signature) : NULL;
  if (!n)
    return;
  fputs("<details class=\"nearest\"><summary>Nearest passing run: <code>", out);
  html_text(n->command, out);
  fputs("</code></summary><ul class=\"evidence\">\n", out);
  for (size_t i = 0; i < n->branches.len; i++) {
    const NoteBranch *b = &n->branches.items[i];
    Str text = {0};
    str_addf(&text, "%s:%u ", suite_shown(suite, b->file), b->line);
    report_branch(b, &text);
    fputs("<li>", out);
    html_text(str_text(&text), out);
    fputs("</li>", out);
    str_release(&text);
  }
  fputs("</ul></details>\n", out);
}

static void put_core(const HtmlReport *h, FILE *out) {
  const CoreNote *c = h->core;
  if (!c)
    return;
  fputs("<p class=\"notice note\">Lines that cannot hold together with", out);
  for (size_t i = 0; i < c->violated.len; i++) {
    fputs(i ? ", " : " ", out);
    html_text(c->violated.items[i], out);
  }
  fputs(" (culprit spec): ", out);
  for (size_t i = 0; i < c->statements.len; i++) {
    fputs(i ? ", " : "", out);
    put_place(h->report.suite,
              &h->report.suite->entities[c->statements.items[i]], out);
  }
  fputs("</p>\n", out);
}

// How many suspects of failure number `failure` are shown.
static size_t shown(const HtmlReport *h, size_t failure) {
  size_t top = h->report.top ? h->report.top : failure < 5 ? 20 : 5;
  if (failure >= FAILURES || !h->nmethods || !h->methods[0].listings)
    return 0;
  size_t n = h->methods[0].listings[failure].n;
  return n < top ? n : top;
}

static void put_unranked(const HtmlReport *h, size_t failure, FILE *out) {
  if (failure >= FAILURES)
    fputs("<p class=\"none\">Its suspects are shown by the program of this "
          "page, which did not run.</p>\n",
          out);
  else if (!h->nmethods || !h->methods[0].listings ||
           !h->methods[0].listings[failure].failing)
    fputs("<p class=\"none\">Not ranked: none of its runs has a usable "
          "spectrum.</p>\n",
          out);
  else if (!h->methods[0].listings[failure].passing)
    fputs("<p class=\"none\">Not ranked: no run passes to compare with.</p>\n",
          out);
  else
    fputs("<p class=\"none\">Not ranked: nothing of the chosen files was "
          "executed.</p>\n",
          out);
}

static void put_list(HtmlReport *h, size_t failure, FILE *out) {
  size_t n = shown(h, failure);
  if (!n) {
    put_unranked(h, failure, out);
    return;
  }
  const KeptListing *l = &h->methods[0].listings[failure];
  for (size_t i = 0; i < l->notes.len; i++) {
    fputs("<p class=\"notice note\">", out);
    html_text(l->notes.items[i].text, out);
    fputs("</p>\n", out);
  }
  fputs("<ol class=\"suspects\">\n", out);
  for (size_t i = 0; i < n; i++)
    put_suspect(h, failure, i, out);
  fprintf(out, "</ol>\n<p class=\"rest\">%zu of %zu lines shown</p>\n", n,
          l->total);
}

// The message; the place that it names leads to the source, if that is shown.
static void put_message(const HtmlReport *h, size_t failure, FILE *out) {
  const FailureGroup *g = &h->report.suite->failures[failure];
  const char *at = *g->place ? strstr(g->message, g->place) : NULL;
  uint32_t source, line;
  if (!at || !shown(h, failure) ||
      !report_blamed(h->report.suite, failure, &source, &line)) {
    html_text(g->message, out);
    return;
  }
  html_text_n(g->message, (size_t)(at - g->message), out);
  fprintf(out, "<a class=\"blamed\" href=\"#L%u-%u\">", source, line);
  html_text(g->place, out);
  fputs("</a>", out);
  html_text(at + strlen(g->place), out);
}

// Text of several lines.
static void put_lines(const char *text, FILE *out) {
  for (size_t n; *text; text += n) {
    n = strcspn(text, "\n");
    html_text_n(text, n, out);
    if (text[n])
      fputc(text[n++], out);
  }
}

// What the test wrote: the lines that show the failure, then all.
static void put_output(const FailureGroup *g, FILE *out) {
  if (g->excerpt && *g->excerpt) {
    fputs("<pre class=\"words\">", out);
    put_lines(g->excerpt, out);
    fputs("</pre>\n", out);
  }
  if (!g->output || !*g->output)
    return;
  fputs("<details class=\"output\"><summary>All that the test wrote</summary>"
        "<pre>",
        out);
  put_lines(g->output, out);
  fputs("</pre></details>\n", out);
}

static void put_item(const char *text, FILE *out) {
  fputs("<li>", out);
  html_text(text, out);
  fputs("</li>\n", out);
}

// The calls and the loops in which it died or hung.
static void put_stack(const HtmlReport *h, size_t failure, FILE *out) {
  const Report *r = &h->report;
  const SourceLoops none = {0};
  const SourceLoops *loops = h->loops ? &h->loops[failure] : &none;
  EvidenceList calls = {0};
  Str text = {0};
  evidence_callers(r->suite, r->deaths, failure, &calls);
  if (calls.len || loops->len)
    fputs("<ul class=\"stack\">\n", out);
  for (size_t i = 0; i < calls.len; i++)
    put_item(calls.items[i].text, out);
  for (size_t i = 0; i < loops->len; i++) {
    str_clear(&text);
    loop_describe(r->suite, &loops->items[i], &text);
    put_item(str_text(&text), out);
  }
  if (calls.len || loops->len)
    fputs("</ul>\n", out);
  evidence_release(&calls);
  str_release(&text);
}

// Of a PHP application, before the first failure at a place.
static void put_group(const HtmlReport *h, size_t failure, FILE *out) {
  const PlaceGroups *groups = h->report.groups;
  const PlaceGroup *g =
      groups->len > 1 ? place_group_at(groups, failure) : NULL;
  if (!g)
    return;
  const char *place = h->report.suite->failures[failure].place;
  fputs("<h2 class=\"group\">", out);
  html_text(*place ? place : "no known line", out);
  fprintf(out, " <small>%zu request%s, %zu failure%s</small></h2>\n", g->runs,
          plural(g->runs), g->n, plural(g->n));
}

static void put_failure(HtmlReport *h, size_t i, FILE *out) {
  const Suite *suite = h->report.suite;
  const FailureGroup *g = &suite->failures[i];
  put_group(h, i, out);
  fprintf(out,
          "<section class=\"failure\" id=\"failure-%zu\">\n"
          "<h2>Failure %zu of %zu <span class=\"kind\">",
          i + 1, i + 1, suite->nfailures);
  html_text(g->kind, out);
  fputs("</span> ", out);
  put_message(h, i, out);
  fprintf(out, "</h2>\n<p>%zu failing run%s: ", g->nruns, plural(g->nruns));
  put_tests(suite, g, out);
  fputs("</p>\n", out);
  put_stack(h, i, out);
  put_output(g, out);
  put_rerun(suite, g, out);
  put_sureness(h, i, out);
  put_fragments(h, i, out);
  put_list(h, i, out);
  put_near(h, i, out);
  put_nearest(h, i, out);
  fputs("</section>\n", out);
}

// --- source -----------------------------------------------------------------

// The lines of one file: which are shown, and what the first failure's ranking
// says of them.
typedef struct {
  const Listed **listed; // per line, from 1
  bool *shown;
  uint32_t lines;
} FileView;

static uint32_t count_lines(HtmlReport *h, uint32_t source) {
  uint32_t lo = 0, hi = 1;
  const char *text;
  size_t n;
  while (sources_line(h->report.sources, source, hi, &text, &n))
    lo = hi, hi *= 2;
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (sources_line(h->report.sources, source, mid, &text, &n))
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

static void show_around(FileView *v, uint32_t line) {
  for (uint32_t i = line > AROUND ? line - AROUND : 1;
       i <= line + AROUND && i <= v->lines; i++)
    v->shown[i] = true;
}

static void view_init(FileView *v, HtmlReport *h, uint32_t source) {
  const Suite *suite = h->report.suite;
  const KeptListing *l = &h->methods[0].listings[0];
  v->lines = count_lines(h, source);
  v->listed = mem_array(const Listed *, (size_t)v->lines + 1);
  v->shown = mem_array(bool, (size_t)v->lines + 1);
  for (size_t i = 0; i < l->n; i++) {
    const Entity *e = &suite->entities[l->items[i].entity];
    if (e->source == source && e->line <= v->lines)
      v->listed[e->line] = &l->items[i];
  }
  for (size_t f = 0; f < suite->nfailures; f++) {
    uint32_t blamed, line;
    if (report_blamed(suite, f, &blamed, &line) && blamed == source)
      show_around(v, line);
    for (size_t i = 0; i < shown(h, f); i++) {
      const Entity *e =
          &suite->entities[h->methods[0].listings[f].items[i].entity];
      if (e->source == source)
        show_around(v, e->line);
    }
  }
  for (uint32_t i = 1; v->lines <= WHOLE_FILE && i <= v->lines; i++)
    v->shown[i] = true;
}

static void view_release(FileView *v) {
  free(v->listed);
  free(v->shown);
}

static void put_line(HtmlReport *h, uint32_t source, uint32_t line,
                     const Listed *s, FILE *out) {
  const KeptListing *l = &h->methods[0].listings[0];
  const char *text;
  size_t n;
  if (!sources_line(h->report.sources, source, line, &text, &n))
    return;
  if (s)
    fprintf(out,
            "<span id=\"L%u-%u\" class=\"l h%d b%d\"><b>%u</b> "
            "<i>%s %u</i> ",
            source, line, html_hue(s, l->total), html_light(s, l), line,
            glyph(html_hue(s, l->total)), s->rank);
  else
    fprintf(out, "<span id=\"L%u-%u\" class=\"l\"><b>%u</b> <i></i> ", source,
            line, line);
  html_text_n(text, n, out);
  fputs("</span>", out);
}

static void put_file(HtmlReport *h, uint32_t source, size_t *left, FILE *out) {
  FileView v;
  view_init(&v, h, source);
  if (v.lines && *left) {
    fputs("<details><summary>", out);
    html_text(suite_path(h->report.suite, source), out);
    fputs("</summary><pre class=\"source\">", out);
    for (uint32_t i = 1; i <= v.lines && *left; i++) {
      if (!v.shown[i])
        continue;
      if (i > 1 && !v.shown[i - 1])
        fputs("<span class=\"gap\">...</span>", out);
      put_line(h, source, i, v.listed[i], out);
      --*left;
    }
    fputs("</pre></details>\n", out);
  }
  view_release(&v);
}

static void put_file_once(HtmlReport *h, uint32_t source, bool *done,
                          size_t *left, FILE *out) {
  if (!done[source])
    put_file(h, source, left, out);
  done[source] = true;
}

// The files of the suspects shown and of the places that messages name, in the
// order they are first met.
static void put_sources(HtmlReport *h, FILE *out) {
  const Suite *suite = h->report.suite;
  bool *done = mem_array(bool, suite->nsources + 1);
  size_t left = SOURCE_LINES;
  uint32_t blamed, line;
  fputs("<section class=\"sources\">\n<h2>Source</h2>\n", out);
  for (size_t f = 0; f < suite->nfailures; f++) {
    for (size_t i = 0; i < shown(h, f); i++) {
      uint32_t entity = h->methods[0].listings[f].items[i].entity;
      put_file_once(h, suite->entities[entity].source, done, &left, out);
    }
    if (report_blamed(suite, f, &blamed, &line))
      put_file_once(h, blamed, done, &left, out);
  }
  if (!left)
    fputs("<p class=\"none\">Further source is shown by the program of this "
          "page, which did not run.</p>\n",
          out);
  fputs("</section>\n", out);
  free(done);
}

void html_static(HtmlReport *h, FILE *out) {
  put_header(h, out);
  put_notices(h, out);
  fputs("<main id=\"static\">\n", out);
  put_core(h, out);
  for (size_t i = 0; i < h->report.suite->nfailures; i++)
    put_failure(h, i, out);
  if (h->report.suite->nfailures && shown(h, 0))
    put_sources(h, out);
  fputs("</main>\n<div id=\"app\" hidden></div>\n", out);
}
