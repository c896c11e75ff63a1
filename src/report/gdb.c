// Breakpoints at the suspects, for gdb -x FILE:
//
//   # rank 1, score 1.000, in half: 1 of 1 failing, 0 of 3 passing runs
//   break even.c:3
#include "report/report.h"
#include "util/escape.h"

void report_gdb_begin(const Report *r, FILE *out) {
  fprintf(out,
          "# Breakpoints at the suspects of session %lld. Use them with\n"
          "#   gdb -x FILE --args PROGRAM ARGUMENTS\n"
          "set breakpoint pending on\n",
          (long long)r->suite->session);
}

void report_gdb(const Report *r, const Ranking *ranking, FILE *out) {
  size_t shown = report_shown(r, &report_text, ranking);
  Str line = {0};
  for (size_t i = 0; i < shown; i++) {
    const Suspect *s = &ranking->suspects.items[i];
    const Entity *e = &r->suite->entities[s->entity];
    str_clear(&line);
    str_add(&line, "# ");
    if (r->suite->nfailures > 1)
      str_addf(&line, "failure %zu, ", ranking->failure + 1);
    str_add(&line, "rank ");
    report_rank(s, &line);
    str_add(&line, ", score ");
    report_score(s->score, &line);
    str_add(&line, ", ");
    report_describe(r->suite, e, &line);
    str_add(&line, ": ");
    evidence_runs(ranking, s->ef, s->ep, &line);
    str_add(&line, "\nbreak ");
    escape_add(&line, suite_file(r->suite, e->source));
    fprintf(out, "%s:%u\n", str_text(&line), e->line);
  }
  str_release(&line);
}
