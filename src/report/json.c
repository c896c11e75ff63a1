// The JSON of `rank --json`, a documented contract that only grows by added
// fields (DESIGN.md, culprit(1)). Written as it comes, one suspect per line: a
// hundred thousand suspects never stand in memory as a tree. Text that is not
// UTF-8 gets U+FFFD in place of what is wrong.
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/report.h"

// How many of the n bytes at `s` need no escape.
static size_t plain_length(const char *s, size_t n) {
  size_t i = 0;
  while (i < n && s[i] != '"' && s[i] != '\\' && (unsigned char)s[i] >= 0x20 &&
         s[i] != 0x7f) {
    size_t len = utf8_length(s + i, n - i);
    if (!len)
      break;
    i += len;
  }
  return i;
}

static void put_string(const char *s, FILE *out) {
  const char *end = s + strlen(s);
  fputc('"', out);
  while (s < end) {
    size_t plain = plain_length(s, (size_t)(end - s));
    fwrite(s, 1, plain, out);
    s += plain;
    if (s == end)
      break;
    unsigned char c = (unsigned char)*s++;
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c < 0x80)
      fprintf(out, "\\u%04x", c);
    else
      fputs("\\ufffd", out);
  }
  fputc('"', out);
}

// The shortest form that reads back as the same number.
static void put_number(double x, FILE *out) {
  char text[32];
  int digits = 14;
  do
    snprintf(text, sizeof text, "%.*g", ++digits, x);
  while (digits < 17 && strtod(text, NULL) != x);
  fputs(text, out);
}

// A member of an object, other than the first.
static void put_text(const char *key, const char *value, FILE *out) {
  fprintf(out, ",\"%s\":", key);
  put_string(value, out);
}

static void put_double(const char *key, double value, FILE *out) {
  fprintf(out, ",\"%s\":", key);
  put_number(value, out);
}

static void put_bool(const char *key, bool value, FILE *out) {
  fprintf(out, ",\"%s\":%s", key, value ? "true" : "false");
}

static void put_separator(bool *first, FILE *out) {
  if (!*first)
    fputc(',', out);
  *first = false;
}

// --- head -------------------------------------------------------------------

static void put_entities(const Report *r, FILE *out) {
  bool first = true;
  fputs(",\"entities\":[", out);
  for (int k = 0; k < ENTITY_KINDS; k++) {
    if (!(r->entities & 1u << k))
      continue;
    put_separator(&first, out);
    put_string(entity_kind_name((EntityKind)k), out);
  }
  fputc(']', out);
}

static void put_flaky(const Report *r, FILE *out) {
  bool first = true;
  fputs(",\"flaky\":[", out);
  for (size_t i = 0; i < r->suite->nruns; i++) {
    if (r->suite->runs[i].verdict != VERDICT_FLAKY)
      continue;
    put_separator(&first, out);
    put_string(r->suite->runs[i].test, out);
  }
  fputc(']', out);
}

static void begin(Report *r, FILE *out) {
  fputs("{\"version\":1", out);
  put_text("method", r->method, out);
  fprintf(out, ",\"session\":%lld", (long long)r->suite->session);
  put_text("by", entity_kind_name(r->by), out);
  put_entities(r, out);
  fprintf(out, ",\"executed\":%zu,\"all\":%zu", r->executed, r->executable);
  fprintf(out, ",\"tests\":%zu", r->suite->nruns);
  put_flaky(r, out);
  fputs(",\"failures\":[", out);
}

// --- suspects ---------------------------------------------------------------

static void put_evidence(const Report *r, const Ranking *ranking,
                         const Suspect *s, FILE *out) {
  EvidenceList list = {0};
  evidence_gather(r->suite, r->deaths, ranking, s, &list);
  fputs(",\"evidence\":[", out);
  for (size_t i = 0; i < list.len; i++) {
    fputs(i ? ",{\"kind\":" : "{\"kind\":", out);
    put_string(list.items[i].kind, out);
    put_text("text", list.items[i].text, out);
    fputc('}', out);
  }
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
  const Entity *e = &r->suite->entities[s->entity];
  fprintf(out, "{\"rank\":%u,\"rank_best\":%u", s->rank, s->rank_best);
  put_double("score", s->score, out);
  put_double("confidence", s->confidence, out);
  put_text("file", suite_path(r->suite, e->source), out);
  fprintf(out, ",\"line\":%u,\"col\":%u", e->line, e->col_lo);
  put_text("function", report_function(r->suite, e), out);
  if (e->kind == ENTITY_BLOCK || e->kind == ENTITY_EDGE)
    fprintf(out, ",\"index\":%u", e->index);
  if (e->kind == ENTITY_EDGE) {
    put_block(r->suite, "from_line", e->from, out);
    put_block(r->suite, "to_line", e->to, out);
  }
  fprintf(out, ",\"ef\":%u,\"ep\":%u", s->ef, s->ep);
  put_evidence(r, ranking, s, out);
  fputc('}', out);
}

// --- the known fault --------------------------------------------------------

static void put_place(const Report *r, const Ranking *ranking,
                      const FaultPlace *p, FILE *out) {
  const Suspect *s = fault_suspect(p, ranking);
  fputs("{\"file\":", out);
  put_string(suite_path(r->suite, p->source), out);
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
  put_double("rank_average", f->rank_average, out);
}

static void put_fault(const Report *r, const Ranking *ranking, FILE *out) {
  FaultScore f;
  fault_score(r->fault, ranking, r->executed, r->executable, &f);
  fputs(",\"fault\":{", out);
  put_ranks(&f, out);
  fprintf(out, ",\"ties\":%u", f.ties);
  put_double("examined_executed", f.examined_executed, out);
  put_double("examined_all", f.examined_executable, out);
  put_bool("well_localized_first", f.well_first, out);
  put_bool("well_localized_all", f.well_all, out);
  for (int i = 0; i < FAULT_TOPS; i++) {
    char key[16];
    snprintf(key, sizeof key, "top%u", fault_tops[i]);
    put_double(key, f.top[i], out);
  }
  fputs(",\"lines\":[", out);
  for (size_t i = 0; i < r->fault->places.len; i++) {
    if (i)
      fputc(',', out);
    put_place(r, ranking, &r->fault->places.items[i], out);
  }
  fputs("]}", out);
}

// --- failures ---------------------------------------------------------------

static void put_tests(const Report *r, const FailureGroup *group, FILE *out) {
  fputs(",\"tests\":[", out);
  for (size_t i = 0; i < group->nruns; i++) {
    if (i)
      fputc(',', out);
    put_string(r->suite->runs[group->runs[i]].test, out);
  }
  fputc(']', out);
}

static void failure(Report *r, const Ranking *ranking, FILE *out) {
  const FailureGroup *group = &r->suite->failures[ranking->failure];
  size_t shown = report_shown(r, &report_json, ranking);
  fputs(ranking->failure ? ",\n{\"signature\":" : "\n{\"signature\":", out);
  put_string(group->signature, out);
  put_text("kind", group->kind, out);
  put_text("message", group->message, out);
  put_text("place", group->place, out);
  fprintf(out, ",\"failing\":%u,\"passing\":%u", ranking->failing,
          ranking->passing);
  put_bool("stand_in", ranking->stand_in, out);
  put_tests(r, group, out);
  if (r->fault)
    put_fault(r, ranking, out);
  fputs(",\"ranking\":[", out);
  for (size_t i = 0; i < shown; i++) {
    const Suspect *s = &ranking->suspects.items[i];
    sources_check(r->sources, r->suite->entities[s->entity].source);
    fputs(i ? ",\n" : "\n", out);
    put_suspect(r, ranking, s, out);
  }
  fputs("]}", out);
}

static void end(Report *r, FILE *out) {
  (void)r;
  fputs("]}\n", out);
}

const ReportFormat report_json = {"json", SIZE_MAX, begin, failure, end};
