// The HTML report: one session as a page for people, `culprit report --html`.
//
// The page stands alone: no request leaves it. It consists of
//   - a static part, readable without JavaScript: what failed, how sure the
//     answer is, the first suspects of every failure with their excerpts, the
//     source around them;
//   - data, as JSON in <script type="application/json"> elements, each parsed
//     only when it is looked at;
//   - the style sheet and program of report/page/, inside or (assets) beside.
//
// Everything that comes from outside (paths, tests, messages, sources) is
// escaped on its way: html_text in markup, html_json in data. The same session
// gives the same bytes.
#ifndef CULPRIT_REPORT_HTML_PAGE_H
#define CULPRIT_REPORT_HTML_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "locate/localizer.h"
#include "report/core_note.h"
#include "report/html_cover.h"
#include "report/loops.h"
#include "report/near_test.h"
#include "report/report.h"
#include "run/kept_page.h"

// A suspect as the page has it: a Suspect without what is shown of few.
typedef struct {
  uint32_t entity, rank_best, rank, ef, ep;
  double score;
  uint32_t line; // to look at
} Listed;

// One condition outcome, returned value, relation or pair on a line: how many
// runs saw it, of how many that can tell.
typedef struct {
  uint32_t statement, entity, ef, ep;
  RunCounts of;
} Tuple;
typedef ARRAY(Tuple) Tuples;

// What one method says of one failure.
typedef struct {
  Listed *items;
  size_t n, total; // total: how many there are; the first n are kept
  // The evidence of the first ones, and what must be known to judge all.
  EvidenceList *evidence;
  size_t nevidence;
  EvidenceList notes;
  uint32_t failing, passing;
  bool stand_in;
} KeptListing;

typedef struct {
  Localizer method;
  char *reason;          // why it cannot be applied to this session; or NULL
  KeptListing *listings; // one per failure; NULL: not applied
} MethodListing;

typedef struct {
  Report report; // suite, deaths, places, sources; method: the first
  const char *started;
  bool finished;
  MethodListing *methods; // the chosen one first
  size_t nmethods;
  Tuples *tuples; // per failure, by statement; NULL: none
  const Cover *cover;
  const SourceLoops *loops; // per failure: that its first run never left
  const NearTest *nearest;  // per failure
  const KeptPage *pages;    // per failure
  const Notes *notes;       // what `culprit near` found; NULL: nothing
  const CoreNote *core;     // what `culprit spec` found; NULL: nothing
  const char *assets; // where style and program lie, as the page names it;
                      // NULL: inside the page
} HtmlReport;

// --- gathering --------------------------------------------------------------

// Keeps the first `most` suspects of a ranking, and the evidence of the first
// `explain` of them.
void listing_keep(KeptListing *l, const HtmlReport *h, const Ranking *r,
                  size_t most, size_t explain);
void method_listing_release(MethodListing *m, size_t nfailures);

// --- writing ----------------------------------------------------------------

void html_write(HtmlReport *h, FILE *out);

// The style sheet and the program, from report/page/.
extern const char html_css[], html_js[];

// --- shared by the parts ----------------------------------------------------

// How strongly a suspect is suspected, 0 to 10, by its place in the list: the
// first is 10, the last 0, the others on a logarithmic scale between; of a tie
// the geometric middle counts. How much evidence there is, 0 to 4.
int html_hue(const Listed *s, size_t total);
int html_light(const Listed *s, const KeptListing *l);

// What is missing or doubtful in this session: "level", then a sentence each.
typedef struct {
  const char *level; // "bad": nothing can be said; "warn": mind this; "note"
  char *text;
} Notice;
typedef ARRAY(Notice) Notices;
void html_notices(HtmlReport *h, Notices *out);
void notices_release(Notices *n);

// How far the ranking of a failure can be trusted.
typedef struct {
  int level;        // 0 to 4
  const char *word; // "a guess" to "strong"
  Notices reasons;  // sentences; "good" or "bad" for the answer
} Sureness;
void html_sureness(const HtmlReport *h, size_t failure, Sureness *out);

// Escaped, control characters and bidirectional ones made visible.
void html_text(const char *text, FILE *out);
void html_text_n(const char *text, size_t n, FILE *out);

// One data element: what is printed to the stream between the two calls.
typedef struct {
  FILE *json;
  char *data;
  size_t size;
} HtmlJson;
FILE *html_json_begin(HtmlJson *j);
void html_json_end(HtmlJson *j, const char *id, FILE *out);

// What `culprit try` found at the statement, as markup (html_tried.c): the
// changes that repaired something, with their diffs.
void html_changes(const HtmlReport *h, size_t failure, uint32_t statement,
                  FILE *out);
// The same of the whole failure, as a member of its data; nothing if nothing
// was tried. `index`: how the page numbers a statement.
void html_changes_data(const HtmlReport *h, size_t failure,
                       const uint32_t *index, FILE *out);

void html_static(HtmlReport *h, FILE *out);
void html_data(HtmlReport *h, FILE *out);

#endif
