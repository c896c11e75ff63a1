// An evaluation as CSV: see export.h. Names of methods and versions hold no
// character that would need quotes, messages do.
#include "eval/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/published.h"

static void put_field(const char *text, FILE *out) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

static int finish(FILE *out, const char *path, Err *err) {
  bool bad = ferror(out);
  if (fclose(out) || bad)
    return err_set(err, "%s: %s", path, strerror(errno));
  return 0;
}

// --- faults ----------------------------------------------------------------

static const char *state_name(VersionState s) {
  static const char *const names[] = {"kept", "no failing test",
                                      "no passing test", "too many failing",
                                      "problem"};
  return names[s];
}

static void put_dropped(unsigned dropped, FILE *out) {
  Str names = {0};
  kinds_add(dropped, "+", "", &names);
  fputs(str_text(&names), out);
  str_release(&names);
}

static void put_faulty(const Version *v, FILE *out) {
  size_t size = 1;
  for (size_t i = 0; i < v->nfaulty; i++)
    size += strlen(v->faulty[i]) + 1;
  char *text = mem_alloc(size);
  for (size_t i = 0; i < v->nfaulty; i++) {
    if (i)
      strcat(text, " ");
    strcat(text, v->faulty[i]);
  }
  put_field(text, out);
  free(text);
}

static void put_score(const FaultScore *s, FILE *out) {
  fprintf(out, "%u,%.6g,%u,%u,%zu,%zu", s->rank, s->rank_average, s->rank_best,
          s->ties, s->listed, s->ranked);
  for (int base = 0; base < BASES; base++)
    for (int ties = 0; ties < TIES; ties++)
      fprintf(out, ",%.6f", examined(s, (Base)base, (Ties)ties));
  for (int k = 0; k < FAULT_TOPS; k++)
    fprintf(out, ",%.6f", s->top[k]);
  fprintf(out, ",%d,%d", s->well_first, s->well_all);
}

static void put_version(const Evaluation *e, size_t i, FILE *out) {
  const Version *v = &e->manifest->versions.items[i];
  const VersionOutcome *o = &e->outcomes[i];
  fprintf(out, "%s,%s,%s,", v->subject, v->name, state_name(e->states[i]));
  put_faulty(v, out);
  fprintf(out, ",%zu,%zu,%zu,%zu,%zu,%zu,%zu,%zu", o->tests, o->failing,
          o->passing, o->flaky, o->failures, o->group, o->executed,
          o->executable);
}

static void put_rows(const Evaluation *e, size_t version, FILE *out) {
  const EvaluatedMethod *methods = e->methods->items.items;
  for (size_t m = 0; m < e->methods->items.len; m++) {
    const FaultScore *s = evaluation_score(e, version, m);
    put_version(e, version, out);
    fprintf(out, ",%s,", methods[m].name);
    put_dropped(methods[m].dropped, out);
    fputc(',', out);
    if (s)
      put_score(s, out);
    else
      fputs(",,,,,,,,,,,,,,,,,", out);
    fputc('\n', out);
  }
}

int export_faults(const Evaluation *e, const char *path, Err *err) {
  FILE *out = fopen(path, "w");
  if (!out)
    return err_set(err, "%s: %s", path, strerror(errno));
  fputs("subject,version,state,faulty,tests,failing,passing,flaky,failures,"
        "group,executed,all,method,dropped,rank,rank_average,rank_best,ties,"
        "faulty_statements,ranked,executed_worst,executed_average,"
        "executed_best,all_worst,all_average,all_best,top1,top3,top5,top10,"
        "well_first,well_all\n",
        out);
  for (size_t i = 0; i < e->nversions; i++)
    put_rows(e, i, out);
  return finish(out, path, err);
}

// --- pairs -----------------------------------------------------------------

static void put_pair(const Evaluation *e, size_t a, size_t b, Base base,
                     FILE *out) {
  const EvaluatedMethod *methods = e->methods->items.items;
  double *x = evaluation_examined(e, a, base, TIES_WORST);
  double *y = evaluation_examined(e, b, base, TIES_WORST);
  for (int i = 0; i < MARGINS; i++) {
    PairedDifference d = compare(x, y, e->nkept, margins[i]);
    fprintf(out, "%s,%s,%s,%g,%zu,%zu,%zu\n", methods[a].name, methods[b].name,
            base == OVER_ALL ? "all" : "executed", margins[i], d.less, d.same,
            d.more);
  }
  free(y);
  free(x);
}

int export_pairs(const Evaluation *e, const char *path, Err *err) {
  FILE *out = fopen(path, "w");
  if (!out)
    return err_set(err, "%s: %s", path, strerror(errno));
  fputs("method,against,statements,margin,less,same,more\n", out);
  for (size_t a = 0; a < e->methods->items.len; a++)
    for (size_t b = 0; b < e->methods->items.len; b++)
      if (a != b && evaluation_shows(e, a) && evaluation_shows(e, b)) {
        put_pair(e, a, b, OVER_EXECUTED, out);
        put_pair(e, a, b, OVER_ALL, out);
      }
  return finish(out, path, err);
}
