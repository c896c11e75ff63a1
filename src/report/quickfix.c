// "file:line:column: message", one line per suspect, best first: what editors
// read (vim -q, :cfile; emacs compilation-mode).
#include <stdlib.h>

#include "report/report.h"
#include "util/escape.h"

static void add_message(const Report *r, const Ranking *ranking,
                        const Suspect *s, const Entity *e, Str *line) {
  EvidenceList evidence = {0};
  evidence_gather(r->suite, r->deaths, ranking, s, &evidence);
  if (r->suite->nfailures > 1)
    str_addf(line, "failure %zu, ", ranking->failure + 1);
  str_add(line, "rank ");
  report_rank(s, line);
  str_add(line, ", score ");
  report_score(s->score, line);
  str_add(line, ", ");
  report_describe(r->suite, e, line);
  for (size_t i = 0; i < evidence.len; i++) {
    str_add(line, i ? "; " : ": ");
    escape_add(line, evidence.items[i].text);
  }
  evidence_release(&evidence);
}

static void failure(Report *r, const Ranking *ranking, FILE *out) {
  size_t shown = report_shown(r, &report_quickfix, ranking);
  Str line = {0};
  for (size_t i = 0; i < shown; i++) {
    const Suspect *s = &ranking->suspects.items[i];
    const Entity at = report_entity(r, s), *e = &at;
    sources_check(r->sources, e->source);
    str_clear(&line);
    escape_add(&line, suite_file(r->suite, e->source));
    str_addf(&line, ":%u:%u: ", e->line, e->col_lo ? e->col_lo : 1);
    add_message(r, ranking, s, e, &line);
    fprintf(out, "%s\n", str_text(&line));
  }
  str_release(&line);
}

const ReportFormat report_quickfix = {"quickfix", SIZE_MAX, NULL, failure,
                                      NULL};
