// The data of the page, as JSON in elements of their own, so that the page's
// program parses only what is looked at:
//
//   head        the session, tests, files, statements, failures, methods
//   rank-F-M    the ranking of failure F by method M
//   cover-N     the tests of each class of statements, 200 classes a piece
//   src-I       the text of file I
//   page-F      the page that shows failure F, in pieces, if one was kept
//
// Lists are columns, not objects: a hundred thousand statements stay small.
// Statements, tests, files and functions are named by their index in the
// columns of `head`. The page and this file belong together; it is not a format
// for others (`culprit rank --json` is).
#include <stdlib.h>
#include <string.h>

#include "report/html_page.h"
#include "report/json_out.h"
#include "util/fs.h"
#include "util/mem.h"

enum {
  COVER_BYTES = 24 << 20, // tests of classes beyond are left out
  PIECE = 200,            // in an element
  DIFFERENCES = 500,
};

// Entities as the page numbers them.
typedef struct {
  HtmlReport *h;
  uint32_t *entities; // the statements, by file and line
  size_t n;
  uint32_t *index; // per entity: its place there, or ENTITY_NONE
} Numbers;

// --- statements -------------------------------------------------------------

static int in_source_order(const void *a, const void *b, void *suite) {
  const Suite *s = suite;
  const Entity *x = &s->entities[*(const uint32_t *)a];
  const Entity *y = &s->entities[*(const uint32_t *)b];
  if (x->source != y->source)
    return x->source < y->source ? -1 : 1;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static void numbers_init(Numbers *nums, HtmlReport *h) {
  const Suite *suite = h->report.suite;
  *nums = (Numbers){.h = h,
                    .entities = mem_array(uint32_t, suite->nentities + 1),
                    .index = mem_array(uint32_t, suite->nentities + 1)};
  for (uint32_t e = 0; e < suite->nentities; e++) {
    nums->index[e] = ENTITY_NONE;
    if (suite->entities[e].kind == ENTITY_STATEMENT)
      nums->entities[nums->n++] = e;
  }
  qsort_r(nums->entities, nums->n, sizeof *nums->entities, in_source_order,
          (void *)suite);
  for (size_t i = 0; i < nums->n; i++)
    nums->index[nums->entities[i]] = (uint32_t)i;
}

static void numbers_release(Numbers *nums) {
  free(nums->entities);
  free(nums->index);
}

typedef uint32_t Column(const Numbers *nums, uint32_t entity);

static void put_column(const Numbers *nums, const char *key, Column *column,
                       FILE *out) {
  fprintf(out, ",\"%s\":[", key);
  for (size_t i = 0; i < nums->n; i++)
    fprintf(out, i ? ",%u" : "%u", column(nums, nums->entities[i]));
  fputc(']', out);
}

static const Entity *entity_of(const Numbers *nums, uint32_t e) {
  return &nums->h->report.suite->entities[e];
}

static uint32_t file_of(const Numbers *nums, uint32_t e) {
  return entity_of(nums, e)->source;
}
static uint32_t line_of(const Numbers *nums, uint32_t e) {
  return entity_of(nums, e)->line;
}
static uint32_t first_column_of(const Numbers *nums, uint32_t e) {
  return entity_of(nums, e)->col_lo;
}
static uint32_t last_column_of(const Numbers *nums, uint32_t e) {
  return entity_of(nums, e)->col_hi;
}

// 0: no test executes it.
static uint32_t class_of(const Numbers *nums, uint32_t e) {
  uint32_t c = nums->h->cover ? nums->h->cover->class_of[e] : ENTITY_NONE;
  return c == ENTITY_NONE ? 0 : c + 1;
}

// Functions are numbered as they come; the names follow in a list.
static void put_functions(const Numbers *nums, FILE *out) {
  const Suite *suite = nums->h->report.suite;
  uint32_t *number = mem_array(uint32_t, suite->nentities + 1), n = 0;
  ARRAY(uint32_t) functions = {0};
  fputs(",\"fn\":[", out);
  for (size_t i = 0; i < nums->n; i++) {
    uint32_t f = entity_of(nums, nums->entities[i])->function;
    if (f < suite->nentities && !number[f]) {
      number[f] = ++n;
      array_push(&functions, f);
    }
    fprintf(out, i ? ",%u" : "%u", f < suite->nentities ? number[f] : 0);
  }
  fputs("],\"functions\":[\"\"", out);
  for (size_t i = 0; i < functions.len; i++) {
    const char *name = suite->entities[functions.items[i]].name;
    fputc(',', out);
    json_string(name ? name : "", out);
  }
  fputc(']', out);
  array_release(&functions);
  free(number);
}

static void put_statements(const Numbers *nums, FILE *out) {
  put_column(nums, "file", file_of, out);
  put_column(nums, "line", line_of, out);
  put_column(nums, "lo", first_column_of, out);
  put_column(nums, "hi", last_column_of, out);
  put_column(nums, "cls", class_of, out);
  put_functions(nums, out);
}

static void put_indexes(const Numbers *nums, const EntityList *list,
                        const char *key, FILE *out) {
  bool first = true;
  fprintf(out, ",\"%s\":[", key);
  for (size_t i = 0; i < list->len && i < DIFFERENCES; i++) {
    json_separator(&first, out);
    fprintf(out, "%u", nums->index[list->items[i]]);
  }
  fprintf(out, "],\"%s_all\":%zu", key, list->len);
}

// --- session, tests, files --------------------------------------------------

static void put_session(const HtmlReport *h, FILE *out) {
  const Suite *suite = h->report.suite;
  fprintf(out, "{\"version\":1,\"session\":%lld", (long long)suite->session);
  json_text("command", suite->command, out);
  json_text("cwd", suite->cwd, out);
  fprintf(out, ",\"executed\":%zu,\"executable\":%zu", h->report.executed,
          h->report.executable);
  fprintf(out, ",\"classes\":%zu,\"piece\":%d",
          h->cover ? h->cover->nclasses + 1 : 0, PIECE);
}

static const char *text_or_empty(const char *s) { return s ? s : ""; }

static void put_tests(const Suite *suite, FILE *out) {
  fputs(",\"tests\":[", out);
  for (size_t i = 0; i < suite->nruns; i++) {
    const RunInfo *r = &suite->runs[i];
    fputs(i ? ",\n[" : "\n[", out);
    json_string(r->test, out);
    fputc(',', out);
    json_string(verdict_name(r->verdict), out);
    fputc(',', out);
    json_string(text_or_empty(r->command), out);
    fprintf(out, ",%d,", r->has_spectrum);
    json_string(text_or_empty(r->note), out);
    fputc(']', out);
  }
  fputc(']', out);
}

static const char *state_word(SourceState s) {
  return s == SOURCE_CHANGED      ? "changed"
         : s == SOURCE_UNREADABLE ? "unreadable"
                                  : "";
}

static void put_files(HtmlReport *h, FILE *out) {
  const Suite *suite = h->report.suite;
  fputs(",\"files\":[", out);
  for (uint32_t i = 0; i < suite->nsources; i++) {
    fputs(i ? ",\n[" : "\n[", out);
    json_string(suite_path(suite, i), out);
    fputc(',', out);
    json_string(state_word(sources_state(h->report.sources, i)), out);
    fputc(']', out);
  }
  fputc(']', out);
}

static void put_methods(const HtmlReport *h, FILE *out) {
  fputs(",\"methods\":[", out);
  for (size_t i = 0; i < h->nmethods; i++) {
    const MethodListing *m = &h->methods[i];
    fputs(i ? ",{\"name\":" : "{\"name\":", out);
    json_string(m->method.name, out);
    json_text("doc", m->method.doc, out);
    if (m->reason)
      json_text("reason", m->reason, out);
    fputc('}', out);
  }
  fputc(']', out);
}

// --- failures ---------------------------------------------------------------

static void put_sureness(const HtmlReport *h, size_t failure, FILE *out) {
  Sureness s;
  html_sureness(h, failure, &s);
  fprintf(out, ",\"sure\":{\"level\":%d", s.level);
  json_text("word", s.word, out);
  fputs(",\"reasons\":[", out);
  for (size_t i = 0; i < s.reasons.len; i++) {
    fputs(i ? ",[" : "[", out);
    json_string(s.reasons.items[i].level, out);
    fputc(',', out);
    json_string(s.reasons.items[i].text, out);
    fputc(']', out);
  }
  fputs("]}", out);
  notices_release(&s.reasons);
}

static void put_nearest(const Numbers *nums, size_t failure, FILE *out) {
  const NearTest *n = nums->h->nearest ? &nums->h->nearest[failure] : NULL;
  if (!n || !n->found)
    return;
  fprintf(out, ",\"nearest\":{\"failing\":%u,\"passing\":%u", n->failing,
          n->passing);
  json_double("similarity", n->similarity, out);
  put_indexes(nums, &n->only_failing, "only_failing", out);
  put_indexes(nums, &n->only_passing, "only_passing", out);
  fputc('}', out);
}

static uint32_t source_index(const Suite *suite, const char *path) {
  for (uint32_t i = 0; i < suite->nsources; i++)
    if (!strcmp(suite->sources[i].path, path))
      return i;
  return ENTITY_NONE;
}

static void put_branch(const Numbers *nums, const NoteBranch *b, FILE *out) {
  Str text = {0};
  report_branch(b, &text);
  uint32_t at = note_statement(nums->h->report.suite, b->file, b->line);
  fprintf(out, "[%ld,", at == ENTITY_NONE ? -1L : (long)nums->index[at]);
  Str place = {0};
  str_addf(&place, "%s:%u", suite_shown(nums->h->report.suite, b->file),
           b->line);
  json_string(str_text(&place), out);
  fputc(',', out);
  json_string(str_text(&text), out);
  fputc(']', out);
  str_release(&place);
  str_release(&text);
}

// What `culprit near` found.
static void put_near(const Numbers *nums, const char *signature, FILE *out) {
  const Notes *notes = nums->h->notes;
  const NearNote *n = notes ? notes_find(notes, signature) : NULL;
  if (!n)
    return;
  fputs(",\"near\":{\"command\":", out);
  json_string(n->command, out);
  fputs(",\"branches\":[", out);
  for (size_t i = 0; i < n->branches.len; i++) {
    fputs(i ? "," : "", out);
    put_branch(nums, &n->branches.items[i], out);
  }
  fputs("]}", out);
}

static void put_core(const Numbers *nums, FILE *out) {
  const CoreNote *c = nums->h->core;
  if (!c)
    return;
  fputs(",\"core\":{\"violated\":[", out);
  for (size_t i = 0; i < c->violated.len; i++) {
    fputs(i ? "," : "", out);
    json_string(c->violated.items[i], out);
  }
  fputs("],\"lines\":[", out);
  for (size_t i = 0; i < c->statements.len; i++)
    fprintf(out, i ? ",%u" : "%u", nums->index[c->statements.items[i]]);
  fputs("]}", out);
}

static void put_places(const Numbers *nums, size_t failure, FILE *out) {
  const Suite *suite = nums->h->report.suite;
  PlaceList places = {0};
  report_places(&nums->h->report, failure, &places);
  fputs(",\"places\":[", out);
  for (size_t i = 0; i < places.len; i++) {
    const PlaceAt *p = places.items[i];
    fprintf(out, i ? ",[%u,%u,%u," : "[%u,%u,%u,", nums->index[p->statement],
            suite->entities[p->statement].source, p->line);
    json_string(p->what, out);
    fputc(',', out);
    json_string(p->excerpt, out);
    fputc(']', out);
  }
  fputc(']', out);
  array_release(&places);
}

// The calls, and the loops with where they begin, in which it died or hung.
static void put_stack(const HtmlReport *h, size_t failure, FILE *out) {
  const Report *r = &h->report;
  const SourceLoops none = {0};
  const SourceLoops *loops = h->loops ? &h->loops[failure] : &none;
  EvidenceList calls = {0};
  Str text = {0};
  bool first = true;
  evidence_callers(r->suite, r->deaths, failure, &calls);
  fputs(",\"calls\":[", out);
  for (size_t i = 0; i < calls.len; i++) {
    json_separator(&first, out);
    json_string(calls.items[i].text, out);
  }
  fputs("],\"loops\":[", out);
  for (size_t i = 0; i < loops->len; i++) {
    const SourceLoop *l = &loops->items[i];
    str_clear(&text);
    loop_describe(r->suite, l, &text);
    fprintf(out, i ? ",[%u,%u," : "[%u,%u,", l->source, l->first);
    json_string(str_text(&text), out);
    fputc(']', out);
  }
  fputc(']', out);
  evidence_release(&calls);
  str_release(&text);
}

static void put_failure(const Numbers *nums, size_t i, FILE *out) {
  const HtmlReport *h = nums->h;
  const FailureGroup *g = &h->report.suite->failures[i];
  fputs(i ? ",\n{\"kind\":" : "\n{\"kind\":", out);
  json_string(g->kind, out);
  json_text("message", g->message, out);
  json_text("signature", g->signature, out);
  json_text("excerpt", g->excerpt, out);
  json_text("output", g->output, out);
  uint32_t source, line;
  if (report_blamed(h->report.suite, i, &source, &line))
    fprintf(out, ",\"blamed\":[%u,%u]", source, line);
  fputs(",\"tests\":[", out);
  for (size_t k = 0; k < g->nruns; k++)
    fprintf(out, k ? ",%u" : "%u", g->runs[k]);
  fputc(']', out);
  json_bool("page", h->pages && h->pages[i].test, out);
  put_stack(h, i, out);
  put_places(nums, i, out);
  put_sureness(h, i, out);
  put_nearest(nums, i, out);
  put_near(nums, g->signature, out);
  html_changes_data(h, i, nums->index, out);
  fputc('}', out);
}

// Of a PHP application: [place, first failure, failures, requests].
static void put_by_place(const Report *r, FILE *out) {
  fputs(",\"places\":[", out);
  for (size_t i = 0; i < r->groups->len; i++) {
    const PlaceGroup *g = &r->groups->items[i];
    fputs(i ? ",[" : "[", out);
    json_string(r->suite->failures[g->first].place, out);
    fprintf(out, ",%zu,%zu,%zu]", g->first, g->n, g->runs);
  }
  fputc(']', out);
}

static void put_head(const Numbers *nums, FILE *out) {
  HtmlReport *h = nums->h;
  HtmlJson j;
  FILE *json = html_json_begin(&j);
  put_session(h, json);
  put_methods(h, json);
  put_files(h, json);
  put_tests(h->report.suite, json);
  put_statements(nums, json);
  put_core(nums, json);
  put_by_place(&h->report, json);
  fputs(",\"failures\":[", json);
  for (size_t i = 0; i < h->report.suite->nfailures; i++)
    put_failure(nums, i, json);
  fputs("]}", json);
  html_json_end(&j, "head", out);
}

// --- rankings ---------------------------------------------------------------

// Six digits are enough for a bar and a number; ranks are not made of them.
static void put_scores(const KeptListing *l, FILE *out) {
  fputs(",\"score\":[", out);
  for (size_t i = 0; i < l->n; i++)
    fprintf(out, i ? ",%.6g" : "%.6g", l->items[i].score);
  fputc(']', out);
}

// How many suspects share each place.
static void put_groups(const KeptListing *l, FILE *out) {
  bool first = true;
  fputs(",\"ties\":[", out);
  for (size_t i = 0; i < l->n;) {
    uint32_t size = l->items[i].rank - l->items[i].rank_best + 1;
    json_separator(&first, out);
    fprintf(out, "%u", size);
    i += size;
  }
  fputc(']', out);
}

static void put_counts(const KeptListing *l, FILE *out) {
  fputs(",\"ef\":[", out);
  for (size_t i = 0; i < l->n; i++)
    fprintf(out, i ? ",%u" : "%u", l->items[i].ef);
  fputs("],\"ep\":[", out);
  for (size_t i = 0; i < l->n; i++)
    fprintf(out, i ? ",%u" : "%u", l->items[i].ep);
  fputc(']', out);
}

static void put_why(const KeptListing *l, FILE *out) {
  fputs(",\"why\":[", out);
  for (size_t i = 0; i < l->nevidence; i++) {
    fputs(i ? ",\n[" : "\n[", out);
    json_evidence(l->evidence[i].items, l->evidence[i].len, out);
    fputc(']', out);
  }
  fputs("],\"notes\":[", out);
  json_evidence(l->notes.items, l->notes.len, out);
  fputc(']', out);
}

static void put_tuples(const Numbers *nums, const Tuples *tuples, FILE *out) {
  const Suite *suite = nums->h->report.suite;
  fputs(",\"tuples\":[", out);
  for (size_t i = 0; i < tuples->len; i++) {
    const Tuple *t = &tuples->items[i];
    Str text = {0};
    evidence_tuple(suite, t->entity, &text);
    fprintf(out, i ? ",\n[%u,%u,%u," : "\n[%u,%u,%u,",
            nums->index[t->statement], t->ef, t->ep);
    json_string(str_text(&text), out);
    fprintf(out, ",%u,%u]", t->of.failing, t->of.passing);
    str_release(&text);
  }
  fputc(']', out);
}

static void put_listing(const Numbers *nums, size_t f, size_t m, FILE *out) {
  const HtmlReport *h = nums->h;
  const KeptListing *l = &h->methods[m].listings[f];
  char id[64];
  snprintf(id, sizeof id, "rank-%zu-%zu", f, m);
  HtmlJson j;
  FILE *json = html_json_begin(&j);
  fprintf(json, "{\"total\":%zu,\"failing\":%u,\"passing\":%u", l->total,
          l->failing, l->passing);
  json_bool("stand_in", l->stand_in, json);
  fputs(",\"of\":[", json);
  for (size_t i = 0; i < l->n; i++)
    fprintf(json, i ? ",%u" : "%u", nums->index[l->items[i].entity]);
  fputc(']', json);
  put_scores(l, json);
  put_groups(l, json);
  put_counts(l, json);
  put_why(l, json);
  if (!m && h->tuples)
    put_tuples(nums, &h->tuples[f], json);
  fputc('}', json);
  html_json_end(&j, id, out);
}

static void put_rankings(const Numbers *nums, FILE *out) {
  const HtmlReport *h = nums->h;
  for (size_t f = 0; f < h->report.suite->nfailures; f++)
    for (size_t m = 0; m < h->nmethods; m++)
      if (h->methods[m].listings)
        put_listing(nums, f, m, out);
}

// --- tests of statements ----------------------------------------------------

static void put_base64(const Str *s, FILE *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "abcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *p = (const unsigned char *)s->data;
  for (size_t i = 0; i < s->len; i += 3) {
    size_t left = s->len - i;
    uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? p[i + 1] : 0u) << 8 |
                 (left > 2 ? p[i + 2] : 0u);
    fputc(digits[v >> 18], out);
    fputc(digits[v >> 12 & 63], out);
    fputc(left > 1 ? digits[v >> 6 & 63] : '=', out);
    fputc(left > 2 ? digits[v & 63] : '=', out);
  }
}

// Classes from `first` on, as many as an element holds. Class 0 is that of
// statements that no test executes.
static void put_classes(const Cover *c, size_t first, size_t *bytes,
                        FILE *json) {
  fputc('[', json);
  for (size_t i = first; i < first + PIECE && i <= c->nclasses; i++) {
    const Str *tests = i ? &c->tests[i - 1] : &(Str){0};
    *bytes += tests->len;
    fputs(i > first ? ",\n" : "", json);
    if (*bytes > COVER_BYTES) {
      fputs("null", json);
      continue;
    }
    fputc('"', json);
    put_base64(tests, json);
    fputc('"', json);
  }
  fputc(']', json);
}

static void put_cover(const Numbers *nums, FILE *out) {
  const Cover *c = nums->h->cover;
  size_t bytes = 0;
  for (size_t first = 0; c && first <= c->nclasses; first += PIECE) {
    char id[32];
    snprintf(id, sizeof id, "cover-%zu", first / PIECE);
    HtmlJson j;
    put_classes(c, first, &bytes, html_json_begin(&j));
    html_json_end(&j, id, out);
  }
}

// --- texts ------------------------------------------------------------------

static void put_text(const char *text, size_t n, FILE *json) {
  char *copy = mem_alloc(n + 1);
  for (size_t i = 0; i < n; i++) // the writer of strings stops at a NUL
    copy[i] = text[i] ? text[i] : 1;
  json_string(copy, json);
  free(copy);
}

static void put_source(HtmlReport *h, uint32_t source, FILE *out) {
  char id[32];
  snprintf(id, sizeof id, "src-%u", source);
  const char *text;
  size_t n;
  HtmlJson j;
  FILE *json = html_json_begin(&j);
  fputc('[', json);
  for (uint32_t i = 1; sources_line(h->report.sources, source, i, &text, &n);
       i++) {
    fputs(i > 1 ? ",\n" : "", json);
    put_text(text, n, json);
  }
  fputc(']', json);
  html_json_end(&j, id, out);
}

// Files with statements only: others are never opened.
static void put_sources(const Numbers *nums, FILE *out) {
  uint32_t last = ENTITY_NONE;
  for (size_t i = 0; i < nums->n; i++) {
    uint32_t source = file_of(nums, nums->entities[i]);
    if (source != last)
      put_source(nums->h, source, out);
    last = source;
  }
}

// --- pages ------------------------------------------------------------------

// Where the places that the failure names are in the page: [offset, index of
// the place].
typedef struct {
  size_t offset, place;
} PageMark;

static int by_offset(const void *a, const void *b) {
  const PageMark *x = a, *y = b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

typedef ARRAY(PageMark) PageMarks;

static void find_marks(const HtmlReport *h, size_t failure, PageMarks *out) {
  const Suite *suite = h->report.suite;
  PlaceList places = {0};
  report_places(&h->report, failure, &places);
  for (size_t i = 0; i < places.len; i++) {
    const PlaceAt *p = places.items[i];
    uint32_t source = suite->entities[p->statement].source;
    // A page knows the lines of statements.
    const char *path = suite->sources[source].path;
    size_t at = kept_page_find(&h->pages[failure], path,
                               suite->entities[p->statement].line, p->excerpt);
    if (at == SIZE_MAX)
      at = kept_page_find(&h->pages[failure], path, p->line, p->excerpt);
    if (at != SIZE_MAX)
      array_push(out, (PageMark){at, i});
  }
  if (out->len)
    qsort(out->items, out->len, sizeof *out->items, by_offset);
  array_release(&places);
}

// The page as [text, file, line, place] in order; a piece with a mark begins at
// it. File -1: no known line; place -1: no mark.
static void put_piece(const Suite *suite, const KeptPage *page, size_t from,
                      size_t to, const KeptPiece *by, long place, bool *first,
                      FILE *json) {
  if (from >= to)
    return;
  uint32_t file = by ? source_index(suite, by->file) : ENTITY_NONE;
  fputs(*first ? "[" : ",\n[", json);
  *first = false;
  put_text(page->body.data + from, to - from, json);
  fprintf(json, ",%ld,%u,%ld]", file == ENTITY_NONE ? -1L : (long)file,
          by ? by->line : 0, place);
}

// One written piece, cut where marks begin.
static void put_cut(const HtmlReport *h, const KeptPage *page, size_t from,
                    size_t to, const KeptPiece *by, const PageMarks *marks,
                    bool *first, FILE *json) {
  long place = -1;
  for (size_t i = 0; i < marks->len; i++) {
    size_t at = marks->items[i].offset;
    if (at < from || at >= to)
      continue;
    put_piece(h->report.suite, page, from, at, by, place, first, json);
    place = (long)marks->items[i].place;
    from = at;
  }
  put_piece(h->report.suite, page, from, to, by, place, first, json);
}

static void put_page(const HtmlReport *h, size_t failure, FILE *out) {
  const KeptPage *page = &h->pages[failure];
  char id[32];
  snprintf(id, sizeof id, "page-%zu", failure);
  PageMarks marks = {0};
  find_marks(h, failure, &marks);
  HtmlJson j;
  FILE *json = html_json_begin(&j);
  fputs("{\"test\":", json);
  json_string(page->test, json);
  fputs(",\"pieces\":[", json);
  bool first = true;
  size_t at = 0;
  for (size_t i = 0; i < page->pieces.len; i++) {
    const KeptPiece *k = &page->pieces.items[i];
    put_cut(h, page, at, k->offset, NULL, &marks, &first, json);
    put_cut(h, page, k->offset, k->offset + k->length, k, &marks, &first, json);
    at = k->offset + k->length;
  }
  put_cut(h, page, at, page->body.len, NULL, &marks, &first, json);
  fputs("]}", json);
  html_json_end(&j, id, out);
  array_release(&marks);
}

void html_data(HtmlReport *h, FILE *out) {
  Numbers nums;
  numbers_init(&nums, h);
  put_head(&nums, out);
  put_rankings(&nums, out);
  put_cover(&nums, out);
  put_sources(&nums, out);
  for (size_t i = 0; h->pages && i < h->report.suite->nfailures; i++)
    if (h->pages[i].test)
      put_page(h, i, out);
  numbers_release(&nums);
}
