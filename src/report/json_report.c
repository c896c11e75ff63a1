// The JSON of `rank --json`, a documented contract that only grows by added
// fields (DESIGN.md, culprit(1)). Written as it comes, one suspect per line: a
// hundred thousand suspects never stand in memory as a tree.
#include <stdlib.h>
#include <string.h>

#include "locate/localizer.h"
#include "report/json_out.h"
#include "report/report.h"
#include "report/tried.h"
#include "util/fs.h"
#include "util/mem.h"

// An application of 15,000 statements with hundreds of failures, each with a
// thousand requests: what all failures list together, unless --top asks for
// more. One per cent of what was executed is listed of each in any case.
enum { LISTED_MOST = 20000, LISTED_LEAST = 100 };

static size_t list_limit(const Report *r) {
  size_t n = r->suite->nfailures, share = r->executed / 100 + 1;
  if (!is_web_session(r->suite) || !n || r->top == SIZE_MAX)
    return SIZE_MAX;
  size_t most = LISTED_MOST / n > LISTED_LEAST ? LISTED_MOST / n : LISTED_LEAST;
  return most > share ? most : share;
}

static size_t count_shown(const Report *r, const Ranking *ranking) {
  size_t n = report_shown(r, &report_json, ranking), most = list_limit(r);
  return !r->top && n > most ? most : n;
}

// --- head -------------------------------------------------------------------

static void put_entities(const Report *r, FILE *out) {
  bool first = true;
  fputs(",\"entities\":[", out);
  for (int k = 0; k < ENTITY_KINDS; k++) {
    if (!(r->entities & 1u << k))
      continue;
    json_separator(&first, out);
    json_string(entity_kind_name((EntityKind)k), out);
  }
  fputc(']', out);
}

static bool is_flaky(const RunInfo *r) { return r->verdict == VERDICT_FLAKY; }
static bool is_imprecise(const RunInfo *r) { return r->imprecise; }
static bool is_blind(const RunInfo *r) { return !r->has_spectrum; }

// The names of the tests whose runs are like that.
static void put_runs(const Report *r, const char *key,
                     bool (*takes)(const RunInfo *), FILE *out) {
  bool first = true;
  fprintf(out, ",\"%s\":[", key);
  for (size_t i = 0; i < r->suite->nruns; i++) {
    if (!takes(&r->suite->runs[i]))
      continue;
    json_separator(&first, out);
    json_string(r->suite->runs[i].test, out);
  }
  fputc(']', out);
}

void report_json_notes(const Suite *suite, FILE *out) {
  bool first = true;
  fputs(",\"run_notes\":[", out);
  for (size_t i = 0; i < suite->nruns; i++) {
    const RunInfo *run = &suite->runs[i];
    if (!run->note || !*run->note)
      continue;
    json_separator(&first, out);
    fputs("{\"test\":", out);
    json_string(run->test, out);
    json_text("note", run->note, out);
    fputc('}', out);
  }
  fputc(']', out);
}

// What the closer look saw, of all runs that can be compared.
static void put_close(const Report *r, FILE *out) {
  const Suite *s = r->suite;
  size_t seen[VERDICTS] = {0}, all[VERDICTS] = {0};
  const char *ended = s->close ? s->close : "";
  if (!*ended && !r->more_close)
    return;
  for (size_t i = 0; i < s->nruns; i++) {
    all[s->runs[i].verdict] += s->runs[i].has_spectrum;
    seen[s->runs[i].verdict] +=
        s->runs[i].close == CLOSE_NEAR || s->runs[i].close == CLOSE_RANDOM;
  }
  fputs(",\"close\":{\"ended\":", out);
  json_string(ended, out);
  fprintf(out,
          ",\"failing\":%zu,\"passing\":%zu,\"of_failing\":%zu,"
          "\"of_passing\":%zu%s}",
          seen[VERDICT_FAIL], seen[VERDICT_PASS], all[VERDICT_FAIL],
          all[VERDICT_PASS], r->more_close ? r->more_close : "");
}

// --- suspects ---------------------------------------------------------------

static void put_evidence(const Report *r, const Ranking *ranking,
                         const Suspect *s, FILE *out) {
  EvidenceList list = {0};
  evidence_gather(r->suite, r->deaths, ranking, s, &list);
  fputs(",\"evidence\":[", out);
  json_evidence(list.items, list.len, out);
  fputc(']', out);
  evidence_release(&list);
}

static void put_block(const Suite *suite, const char *key, uint32_t block,
                      FILE *out) {
  if (block < suite->nentities)
    fprintf(out, ",\"%s\":%u", key, suite->entities[block].line);
  else
    fprintf(out, ",\"%s\":null", key);
}

static void put_suspect(const Report *r, const Ranking *ranking,
                        const Suspect *s, FILE *out) {
  const Entity shown = report_entity(r, s), *e = &shown;
  fprintf(out, "{\"rank\":%u,\"rank_best\":%u", s->rank, s->rank_best);
  json_double("score", s->score, out);
  json_double("confidence", s->confidence, out);
  json_text("file", suite_path(r->suite, e->source), out);
  fprintf(out, ",\"line\":%u,\"col\":%u", e->line, e->col_lo);
  if (e->line != r->suite->entities[s->entity].line)
    fprintf(out, ",\"statement_line\":%u", r->suite->entities[s->entity].line);
  if (suite_compiled(r->suite, e))
    json_text("compiled", suite_compiled(r->suite, e), out);
  json_text("function", report_function(r->suite, e), out);
  if (e->kind == ENTITY_BLOCK || e->kind == ENTITY_EDGE)
    fprintf(out, ",\"index\":%u", e->index);
  if (e->kind == ENTITY_EDGE) {
    put_block(r->suite, "from_line", e->from, out);
    put_block(r->suite, "to_line", e->to, out);
  }
  fprintf(out, ",\"ef\":%u,\"ep\":%u", s->ef, s->ep);
  if (ranking->checked && s->steps != STEPS_NONE)
    fprintf(out, ",\"steps\":%u", s->steps);
  put_evidence(r, ranking, s, out);
  tried_json(r, ranking->failure, s->entity, out);
  fputc('}', out);
}

// --- the known fault --------------------------------------------------------

static void put_place(const Report *r, const Ranking *ranking,
                      const FaultPlace *p, FILE *out) {
  const Suspect *s = fault_suspect(p, ranking);
  fputs("{\"file\":", out);
  json_string(suite_path(r->suite, p->source), out);
  fprintf(out, ",\"line\":%u,\"statement\":%u", p->line,
          r->suite->entities[p->statement].line);
  if (s)
    fprintf(out, ",\"rank\":%u,\"rank_best\":%u}", s->rank, s->rank_best);
  else
    fputs(",\"rank\":null,\"rank_best\":null}", out);
}

static void put_ranks(const FaultScore *f, FILE *out) {
  if (!f->ranked) {
    fputs("\"rank\":null,\"rank_best\":null,\"rank_average\":null", out);
    return;
  }
  fprintf(out, "\"rank\":%u,\"rank_best\":%u", f->rank, f->rank_best);
  json_double("rank_average", f->rank_average, out);
}

static void put_fault(const Report *r, const Ranking *ranking, FILE *out) {
  FaultScore f;
  fault_score(r->fault, ranking, r->executed, r->executable, &f);
  fputs(",\"fault\":{", out);
  put_ranks(&f, out);
  fprintf(out, ",\"ties\":%u", f.ties);
  json_double("examined_executed", f.examined_executed, out);
  json_double("examined_all", f.examined_executable, out);
  json_bool("well_localized_first", f.well_first, out);
  json_bool("well_localized_all", f.well_all, out);
  for (int i = 0; i < FAULT_TOPS; i++) {
    char key[16];
    snprintf(key, sizeof key, "top%u", fault_tops[i]);
    json_double(key, f.top[i], out);
  }
  fputs(",\"lines\":[", out);
  for (size_t i = 0; i < r->fault->places.len; i++) {
    if (i)
      fputc(',', out);
    put_place(r, ranking, &r->fault->places.items[i], out);
  }
  fputs("]}", out);
}

static void put_ranking(const Report *r, const Ranking *ranking, size_t shown,
                        FILE *out) {
  fputs(",\"ranking\":[", out);
  for (size_t i = 0; i < shown; i++) {
    const Suspect *s = &ranking->suspects.items[i];
    sources_check(r->sources, r->suite->entities[s->entity].source);
    fputs(i ? ",\n" : "\n", out);
    put_suspect(r, ranking, s, out);
  }
  fputc(']', out);
}

// Of all failures, where one line explains them.
static void put_together(const Report *r, FILE *out) {
  if (!r->together)
    return;
  fprintf(out, ",\"together\":{\"failing\":%u,\"passing\":%u",
          r->together->failing, r->together->passing);
  put_ranking(r, r->together, report_shown(r, &report_json, r->together), out);
  fputc('}', out);
}

// Of a PHP application: the failures by place, as indexes of "failures".
static void put_groups(const Report *r, FILE *out) {
  if (!r->groups || !r->groups->len)
    return;
  fputs(",\"places\":[", out);
  for (size_t i = 0; i < r->groups->len; i++) {
    const PlaceGroup *g = &r->groups->items[i];
    fputs(i ? ",{\"place\":" : "{\"place\":", out);
    json_string(r->suite->failures[g->first].place, out);
    fprintf(out, ",\"requests\":%zu,\"failures\":[", g->runs);
    for (size_t k = 0; k < g->n; k++)
      fprintf(out, k ? ",%zu" : "%zu", g->first + k);
    fputs("]}", out);
  }
  fputc(']', out);
}

static void begin(Report *r, FILE *out) {
  fputs("{\"version\":1", out);
  json_text("method", r->method, out);
  fprintf(out, ",\"session\":%lld", (long long)r->suite->session);
  json_text("by", entity_kind_name(r->by), out);
  put_entities(r, out);
  fprintf(out, ",\"executed\":%zu,\"all\":%zu", r->executed, r->executable);
  fprintf(out, ",\"tests\":%zu", r->suite->nruns);
  put_runs(r, "flaky", is_flaky, out);
  put_runs(r, "imprecise", is_imprecise, out);
  put_runs(r, "without_spectrum", is_blind, out);
  report_json_notes(r->suite, out);
  if (r->known)
    fprintf(out, ",\"known\":%zu", r->known);
  put_close(r, out);
  fputs(r->more ? r->more : "", out);
  put_together(r, out);
  put_groups(r, out);
  fputs(",\"failures\":[", out);
}

// --- failures ---------------------------------------------------------------

static void put_tests(const Report *r, const FailureGroup *group, FILE *out) {
  size_t most = list_limit(r);
  fputs(",\"tests\":[", out);
  for (size_t i = 0; i < group->nruns && i < most; i++) {
    if (i)
      fputc(',', out);
    json_string(r->suite->runs[group->runs[i]].test, out);
  }
  fputc(']', out);
}

// Of a PHP application: the requests, and where the first one went.
static void put_requests(const Report *r, const FailureGroup *group,
                         FILE *out) {
  const RunInfo *runs = r->suite->runs;
  const char *path =
      group->nruns ? report_request(runs[group->runs[0]].command) : NULL;
  if (!path)
    return;
  char *url = mem_printf("%.*s", (int)strcspn(path, " "), path);
  json_text("url", url, out);
  free(url);
  size_t most = list_limit(r);
  fprintf(out, ",\"requests_all\":%zu,\"requests\":[", group->nruns);
  for (size_t i = 0; i < group->nruns && i < most; i++) {
    if (i)
      fputc(',', out);
    json_string(runs[group->runs[i]].command, out);
  }
  fputc(']', out);
}

// A place that runs of a failure show, and how many do.
typedef struct {
  const PlaceAt *first;
  size_t runs;
} ShownPlace;
typedef ARRAY(ShownPlace) ShownPlaces;

static bool same_place(const PlaceAt *a, const PlaceAt *b) {
  return a->statement == b->statement && a->line == b->line &&
         a->role == b->role && !strcmp(a->what, b->what);
}

static void count_place(ShownPlaces *list, const PlaceAt *p) {
  for (size_t i = 0; i < list->len; i++)
    if (same_place(list->items[i].first, p)) {
      list->items[i].runs++;
      return;
    }
  array_push(list, (ShownPlace){p, 1});
}

static void put_shown_place(const Report *r, const ShownPlace *s, FILE *out) {
  const PlaceAt *p = s->first;
  const Entity *e = &r->suite->entities[p->statement];
  fputs("{\"test\":", out);
  json_string(r->suite->runs[p->run].test, out);
  fprintf(out, ",\"runs\":%zu", s->runs);
  json_text("file", suite_path(r->suite, e->source), out);
  fprintf(out, ",\"line\":%u", p->line);
  json_text("role", place_role_name(p->role), out);
  json_text("what", p->what, out);
  json_text(p->role <= PLACE_BETWEEN ? "output" : "query", p->excerpt, out);
  fputc('}', out);
}

// Where the failure shows in the output, each place once, as the first run has
// it.
static void put_places(const Report *r, const Ranking *ranking, FILE *out) {
  ShownPlaces list = {0};
  for (size_t i = 0; r->places && i < r->places->items.len; i++)
    if (place_shows(r->suite, &r->places->items.items[i], ranking->failure))
      count_place(&list, &r->places->items.items[i]);
  for (size_t i = 0; i < list.len; i++) {
    fputs(i ? "," : ",\"places\":[", out);
    put_shown_place(r, &list.items[i], out);
  }
  fputs(list.len ? "]" : "", out);
  array_release(&list);
}

// The calls that led to the death, innermost first.
static void put_callers(const Report *r, size_t failure, FILE *out) {
  const char *rest = deaths_callers(r->deaths, r->suite, failure);
  bool first = true;
  DeathCaller c;
  while (death_caller(&rest, &c)) {
    char *file = mem_printf("%.*s", (int)c.file_size, c.file);
    char *function = mem_printf("%.*s", (int)c.function_size, c.function);
    fputs(first ? ",\"callers\":[{\"file\":" : ",{\"file\":", out);
    first = false;
    json_string(suite_shown(r->suite, file), out);
    fprintf(out, ",\"line\":%u", c.line);
    json_text("function", function, out);
    fputc('}', out);
    free(file);
    free(function);
  }
  fputs(first ? "" : "]", out);
}

// The loops that a run which hangs never left.
static void put_loops(const Report *r, FILE *out) {
  bool first = true;
  if (!r->loops || !r->loops->len)
    return;
  fputs(",\"loops\":[", out);
  for (size_t i = 0; i < r->loops->len; i++) {
    const SourceLoop *l = &r->loops->items[i];
    json_separator(&first, out);
    fputs("{\"file\":", out);
    json_string(suite_path(r->suite, l->source), out);
    fprintf(out, ",\"first\":%u,\"last\":%u", l->first, l->last);
    if (l->turns)
      fprintf(out, ",\"turns\":%llu", (unsigned long long)l->turns);
    if (l->turns && l->watched)
      fprintf(out, ",\"seconds\":%g", TURNS_SECONDS);
    fputc('}', out);
  }
  fputc(']', out);
}

static void put_question(const Report *r, size_t failure, FILE *out) {
  const TryNote *n = report_tried(r, failure);
  if (n)
    question_json(r, n, out);
}

// Only a ranking by experiments says how they went.
static void put_tried(const Report *r, size_t failure, FILE *out) {
  const TryNote *n =
      !strcmp(r->method, METHOD_TRY) ? report_tried(r, failure) : NULL;
  if (!n)
    return;
  fputs(",\"try\":{", out);
  tried_json_runs(n, out);
  fputc('}', out);
}

static void failure(Report *r, const Ranking *ranking, FILE *out) {
  const FailureGroup *group = &r->suite->failures[ranking->failure];
  size_t shown = count_shown(r, ranking);
  fputs(ranking->failure ? ",\n{\"signature\":" : "\n{\"signature\":", out);
  json_string(group->signature, out);
  json_text("kind", group->kind, out);
  json_text("message", group->message, out);
  json_text("place", group->place, out);
  json_text("output", group->output ? group->output : "", out);
  put_callers(r, ranking->failure, out);
  put_loops(r, out);
  fprintf(out, ",\"failing\":%u,\"passing\":%u", ranking->failing,
          ranking->passing);
  json_bool("stand_in", ranking->stand_in, out);
  json_close(ranking, out);
  if (ranking->notes.len) {
    fputs(",\"notes\":[", out);
    json_evidence(ranking->notes.items, ranking->notes.len, out);
    fputc(']', out);
  }
  put_question(r, ranking->failure, out);
  put_tried(r, ranking->failure, out);
  put_tests(r, group, out);
  put_requests(r, group, out);
  put_places(r, ranking, out);
  if (r->fault)
    put_fault(r, ranking, out);
  fprintf(out, ",\"ranked\":%zu", ranking->suspects.len);
  put_ranking(r, ranking, shown, out);
  fputc('}', out);
  fflush(out); // who reads along need not wait for the next ranking
}

static void end(Report *r, FILE *out) {
  (void)r;
  fputs("]}\n", out);
}

const ReportFormat report_json = {"json", SIZE_MAX, begin, failure, end};
