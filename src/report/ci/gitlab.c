// GitLab's code quality report: a JSON list, a suspect each, which GitLab shows
// beside the lines of a merge request. The first place is "critical", the first
// ten "major", the others "minor".
//
// Fingerprints are made of the failure, the file, the function and the line's
// place in it, as GitLab compares them between branches.
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "report/json_out.h"
#include "report/report.h"
#include "util/str.h"

enum { SHOWN = 25, MAJOR = 10 };

static void begin(Report *r, FILE *out) {
  (void)r;
  fputc('[', out);
}

static const char *severity(const Suspect *s) {
  return s->rank_best == 1       ? "critical"
         : s->rank_best <= MAJOR ? "major"
                                 : "minor";
}

static void put_fingerprint(Report *r, const FailureGroup *g, const Entity *e,
                            FILE *out) {
  const char *text;
  size_t n;
  const char *const parts[] = {g->signature, report_path(r, e->source),
                               report_function(r->suite, e)};
  XXH64_hash_t hash = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    hash = XXH3_64bits_withSeed(parts[i], strlen(parts[i]), hash);
  if (sources_line(r->sources, e->source, e->line, &text, &n))
    hash = XXH3_64bits_withSeed(text, n, hash);
  hash = XXH3_64bits_withSeed(&e->col_lo, sizeof e->col_lo, hash);
  fprintf(out, ",\"fingerprint\":\"%016llx\"", (unsigned long long)hash);
}

static void describe(const Report *r, const Ranking *ranking, const Suspect *s,
                     Str *out) {
  EvidenceList list = {0};
  str_add(out, "Suspect ");
  report_rank(s, out);
  str_addf(out, " of %zu for the failure \"%s\": ", ranking->suspects.len,
           r->suite->failures[ranking->failure].message);
  evidence_gather(r->suite, r->deaths, ranking, s, &list);
  for (size_t i = 0; i < list.len; i++)
    str_addf(out, "%s%s", i ? "; " : "", list.items[i].text);
  evidence_release(&list);
}

static void put_suspect(Report *r, const Ranking *ranking, const Suspect *s,
                        FILE *out) {
  const Entity shown = report_entity(r, s), *e = &shown;
  const FailureGroup *g = &r->suite->failures[ranking->failure];
  Str text = {0};
  describe(r, ranking, s, &text);
  fputs(r->printed++ ? ",\n{\"description\":" : "\n{\"description\":", out);
  json_string(str_text(&text), out);
  json_text("check_name", "culprit", out);
  put_fingerprint(r, g, e, out);
  json_text("severity", severity(s), out);
  fputs(",\"location\":{\"path\":", out);
  json_string(report_path(r, e->source), out);
  fprintf(out, ",\"lines\":{\"begin\":%u}}}", e->line ? e->line : 1);
  str_release(&text);
}

static void failure(Report *r, const Ranking *ranking, FILE *out) {
  size_t shown = report_shown(r, &report_gitlab, ranking);
  for (size_t i = 0; i < shown; i++)
    put_suspect(r, ranking, &ranking->suspects.items[i], out);
}

static void end(Report *r, FILE *out) {
  (void)r;
  fputs("]\n", out);
}

const ReportFormat report_gitlab = {"gitlab", SHOWN, begin, failure, end};
