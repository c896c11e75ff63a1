// The account of one line for programs. One object; fields may be added:
//
//   {"version":1,"session":1,"file":"a.c","line":12,"statement":12,
//    "function":"f","method":"cascade","failures":[{"failure":1,
//      "signature":"...","kind":"exit","failing":2,"passing":82,
//      "rank":3,"rank_best":1,"score":1.9,"hint":1.9,"own":1.2,
//      "confidence":1,"died":false,"costs":{"failing":0,...},"executed":412,
//      "ties":[{"file":"a.c","line":14}],
//      "facts":[{"kind":"coverage","text":"every failing run ..."}],
//      "twins":[{"file":"a.c","line":15}],
//      "tuples":[{"kind":"condition","text":"when ...","ef":2,"ep":3,
//                 "failing":2,"passing":82,"tells":0.96}],
//      "uses":[{"kind":"pair","text":"uses the value ...","ef":2,...}],
//      "failing_tests":["3"],"passing_tests":["1","2"],
//      "deaths":[{"kind":"death","text":"1 run died here: SIGSEGV"}],
//      "near":{"command":"./f 1","here":{"instance":1,"taken":"false",
//              "needed":"true","decisive":true,"matters":"put in ..."},
//              "parts":[{"file":"a.c","line":12}]},
//      "core":{"clauses":["size_ok"],"alone":true},
//      "try":{"tried":31,"runs":4312,"cut":false,"changes":[as in rank --json]},
//      "methods":[{"method":"ochiai","rank":3,"rank_best":1,"score":0.7},
//                 {"method":"sober","reason":"sober needs counts, ..."}]}]}
//
// "facts" are sentences, of the kinds named in why.h; "twins" are the lines
// that exactly the same runs execute. "methods" are all that fit the session,
// with or without --all. "near" is there if culprit near has found a passing
// run, "here" if it parts on this line. "core" is there if culprit spec has
// explained the failure: "clauses" cannot hold together with this line. "try" is
// there if culprit try made experiments for the failure. A rank is null where
// the line is not in the ranking.
#include "report/json_out.h"
#include "report/tried.h"
#include "report/why.h"
#include "util/fs.h"

static void put_ranks(bool ranked, uint32_t rank, uint32_t best, FILE *out) {
  if (ranked)
    fprintf(out, ",\"rank\":%u,\"rank_best\":%u", rank, best);
  else
    fputs(",\"rank\":null,\"rank_best\":null", out);
}

static void put_costs(const Costs *c, FILE *out) {
  fprintf(out, ",\"costs\":{\"failing\":%.9g", c->failing);
  json_double("passing", c->passing, out);
  json_double("others", c->others, out);
  json_double("kind", c->kind, out);
  json_double("slice", c->slice, out);
  json_double("death", c->death, out);
  json_double("steps", c->steps, out);
  fputc('}', out);
}

static void put_default(const Account *a, FILE *out) {
  const Suspect *s = a->suspect;
  put_ranks(s, s ? s->rank : 0, s ? s->rank_best : 0, out);
  if (s) {
    json_double("score", s->score, out);
    json_double("hint", s->hint, out);
    json_double("own", s->own, out);
    json_double("confidence", s->confidence, out);
    json_bool("died", s->prior == 1, out);
    if (s->weighed)
      put_costs(&s->costs, out);
  }
  fprintf(out, ",\"executed\":%zu", a->executed);
}

static void put_ties(const Suite *suite, const Account *a, FILE *out) {
  bool first = true;
  fputs(",\"ties\":[", out);
  for (size_t i = 0; a->suspect && i < a->ranking.suspects.len; i++) {
    const Suspect *s = &a->ranking.suspects.items[i];
    if (s == a->suspect || s->rank != a->suspect->rank)
      continue;
    const Entity *e = &suite->entities[s->entity];
    json_separator(&first, out);
    fputs("{\"file\":", out);
    json_string(suite_path(suite, e->source), out);
    fprintf(out, ",\"line\":%u}", e->line);
  }
  fputc(']', out);
}

static void put_facts(const Why *w, const Account *a, FILE *out) {
  EvidenceList list = {0};
  why_facts(w, a, &list);
  fputs(",\"facts\":[", out);
  json_evidence(list.items, list.len, out);
  fputs("],\"twins\":[", out);
  for (size_t i = 0; i < w->ntwins; i++) {
    const Entity *e = &w->report.suite->entities[w->twins[i]];
    fputs(i ? ",{\"file\":" : "{\"file\":", out);
    json_string(suite_path(w->report.suite, e->source), out);
    fprintf(out, ",\"line\":%u}", e->line);
  }
  fputc(']', out);
  evidence_release(&list);
}

static void put_tuple(const Suite *suite, const Ranking *r, const TupleScore *t,
                      const Str *text, FILE *out) {
  EntityKind kind = suite->entities[t->entity].kind;
  fputs("{\"kind\":", out);
  json_string(entity_kind_name(kind), out);
  json_text("text", str_text(text), out);
  RunCounts of = ranking_runs(r, kind);
  fprintf(out, ",\"ef\":%u,\"ep\":%u,\"failing\":%u,\"passing\":%u", t->ef,
          t->ep, of.failing, of.passing);
  json_double("tells", t->tells, out);
  fputc('}', out);
}

static void put_tuples(const Suite *suite, const Account *a, FILE *out) {
  fputs(",\"tuples\":[", out);
  for (size_t i = 0; i < a->tuples.len; i++) {
    const TupleScore *t = &a->tuples.items[i];
    Str text = {0};
    evidence_tuple(suite, t->entity, &text);
    fputs(i ? "," : "", out);
    put_tuple(suite, &a->ranking, t, &text, out);
    str_release(&text);
  }
  fputs("],\"uses\":[", out);
  for (size_t i = 0; i < a->uses.len; i++) {
    const TupleScore *t = &a->uses.items[i];
    Str text = {0};
    evidence_use(suite, &a->ranking, t->entity, t->ef, t->ep, &text);
    fputs(i ? "," : "", out);
    put_tuple(suite, &a->ranking, t, &text, out);
    str_release(&text);
  }
  fputc(']', out);
}

static void put_tests(const Why *w, const FailureGroup *g, FILE *out) {
  const Suite *suite = w->report.suite;
  bool first = true;
  fputs(",\"failing_tests\":[", out);
  for (size_t i = 0; i < g->nruns; i++) {
    if (!w->covers[g->runs[i]])
      continue;
    json_separator(&first, out);
    json_string(suite->runs[g->runs[i]].test, out);
  }
  first = true;
  fputs("],\"passing_tests\":[", out);
  for (size_t i = 0; i < suite->nruns; i++) {
    if (suite->runs[i].verdict != VERDICT_PASS || !w->covers[i])
      continue;
    json_separator(&first, out);
    json_string(suite->runs[i].test, out);
  }
  fputc(']', out);
}

static void put_near(const Why *w, const Account *a, FILE *out) {
  const NearNote *note = w->notes[a->failure];
  bool first = true;
  if (!note)
    return;
  const NoteBranch *b = why_branch(w, note);
  fputs(",\"near\":{\"command\":", out);
  json_string(note->command, out);
  if (b) {
    fprintf(out, ",\"here\":{\"instance\":%u", b->instance);
    if (*b->written)
      json_text("written", b->written, out);
    json_text("taken", b->taken, out);
    json_text("needed", b->needed, out);
    json_bool("decisive", b->decisive, out);
    if (*b->matters)
      json_text("matters", b->matters, out);
    fputc('}', out);
  }
  fputs(",\"parts\":[", out);
  for (size_t i = 0; i < note->branches.len; i++) {
    json_separator(&first, out);
    fputs("{\"file\":", out);
    json_string(suite_shown(w->report.suite, note->branches.items[i].file),
                out);
    fprintf(out, ",\"line\":%u}", note->branches.items[i].line);
  }
  fputs("]}", out);
}

static void put_core(const Why *w, const Account *a, FILE *out) {
  const SpecNote *note = why_core(w, a);
  const char *clause;
  bool first = true;
  if (!note)
    return;
  fputs(",\"core\":{\"clauses\":[", out);
  for (size_t k = 0; (clause = why_clause(w, note, k)); k++) {
    json_separator(&first, out);
    json_string(clause, out);
  }
  fputc(']', out);
  json_bool("alone", why_alone(w, note), out);
  fputc('}', out);
}

static void put_tried(const Why *w, const Account *a, FILE *out) {
  const TryNote *n = report_tried(&w->report, a->failure);
  ChangeList changes = {0};
  if (!n)
    return;
  tried_list(n, w->statement, &changes);
  fprintf(out, ",\"try\":{\"tried\":%u,", tried_at(n, w->statement));
  tried_json_runs(n, out);
  fputs(",\"changes\":[", out);
  tried_json_items(&changes, out);
  fputc(']', out);
  question_json(&w->report, n, out);
  fputc('}', out);
  array_release(&changes);
}

static void put_methods(const Account *a, FILE *out) {
  fputs(",\"methods\":[", out);
  for (size_t i = 0; i < a->methods.len; i++) {
    const MethodScore *m = &a->methods.items[i];
    fputs(i ? ",\n{\"method\":" : "\n{\"method\":", out);
    json_string(m->method.name, out);
    if (m->reason) {
      json_text("reason", m->reason, out);
    } else {
      put_ranks(m->ranked, m->rank, m->rank_best, out);
      if (m->ranked)
        json_double("score", m->score, out);
    }
    fputc('}', out);
  }
  fputc(']', out);
}

static void put_failure(const Why *w, const Account *a, FILE *out) {
  const Suite *suite = w->report.suite;
  const FailureGroup *g = &suite->failures[a->failure];
  EvidenceList deaths = {0};
  fprintf(out, "\n{\"failure\":%zu", a->failure + 1);
  json_text("signature", g->signature, out);
  json_text("kind", g->kind, out);
  json_text("message", g->message, out);
  fprintf(out, ",\"failing\":%u,\"passing\":%u", a->ranking.failing,
          a->ranking.passing);
  json_bool("stand_in", a->ranking.stand_in, out);
  json_close(&a->ranking, out);
  put_default(a, out);
  put_ties(suite, a, out);
  put_facts(w, a, out);
  put_tuples(suite, a, out);
  put_tests(w, g, out);
  evidence_deaths(suite, w->report.deaths, a->failure,
                  &suite->entities[w->statement], &deaths);
  fputs(",\"deaths\":[", out);
  json_evidence(deaths.items, deaths.len, out);
  fputc(']', out);
  evidence_release(&deaths);
  put_near(w, a, out);
  put_core(w, a, out);
  put_tried(w, a, out);
  put_methods(a, out);
  fputc('}', out);
}

void why_json(Why *w, FILE *out) {
  const Suite *suite = w->report.suite;
  const Entity *e = &suite->entities[w->statement];
  bool first = true;
  fprintf(out, "{\"version\":1,\"session\":%lld", (long long)suite->session);
  json_text("file", suite_path(suite, w->source), out);
  fprintf(out, ",\"line\":%u,\"statement\":%u", w->line, e->line);
  json_text("function", report_function(suite, e), out);
  json_text("method", method_standard(suite), out);
  fputs(",\"failures\":[", out);
  for (size_t i = 0; i < suite->nfailures; i++) {
    if (w->only && w->only != i + 1)
      continue;
    json_separator(&first, out);
    put_failure(w, &w->accounts[i], out);
  }
  fputs("]}\n", out);
}
