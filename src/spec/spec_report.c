// Reports of `culprit spec`: see spec_report.h.
#include "spec/spec_report.h"

#include <stdlib.h>
#include <string.h>

#include "report/json_out.h"
#include "report/source.h"
#include "util/escape.h"
#include "util/fs.h"

enum { LINE_SHOWN = 60 };

static const Inquiry *inquiry_of(const SpecReport *r) {
  return r->rounds->candidates->inquiry;
}

static const ContractTable *table_of(const Inquiry *q) {
  return &q->violation->table;
}

// --- text -------------------------------------------------------------------

void spec_print_broken(const Violation *v, const char *root, FILE *out) {
  const ContractTable *t = &v->table;
  char *names = violation_names(v);
  fputs(t->function, out);
  if (v->call)
    fprintf(out, ", call %llu,", (unsigned long long)v->call);
  else if (v->within) // an assertion
    fprintf(out, ", in call %llu of %s,", (unsigned long long)v->within_call,
            v->within);
  fprintf(out, " breaks %s\n", names);
  for (size_t i = 0; i < v->nbroken; i++) {
    const ContractClause *c = &t->clauses[v->broken[i]];
    fprintf(out, "  %s %s: %s  (%s:%u)\n", clause_kind_name(c->kind), c->name,
            c->text, path_below(c->file, root), c->line);
  }
  free(names);
}

static void print_statements(const Inquiry *q, const StatementList *l,
                             const char *root, FILE *out) {
  const char *file = NULL;
  for (size_t i = 0; i < l->len; i++) {
    const Statement *s = &q->encoder.statements.items[l->items[i]];
    if (file && !strcmp(file, s->file))
      fprintf(out, ", %u", s->line);
    else
      fprintf(out, " %s:%u", path_below(s->file, root), s->line);
    file = s->file;
  }
}

static void print_core(const Inquiry *q, const ClauseCore *c, const char *root,
                       FILE *out) {
  const char *name = table_of(q)->clauses[c->clause].name;
  if (c->core.satisfiable) {
    fprintf(out,
            "%s can hold with all statements as they are: something that the "
            "call uses is not modelled\n",
            name);
    return;
  }
  fprintf(out, "%s cannot hold together with%s", name,
          c->core.statements.len ? "" : " any change of one statement:");
  print_statements(q, &c->core.statements, root, out);
  fprintf(out, "  (%s%s)\n", c->core.minimal ? "minimal" : "not minimal",
          c->core.checked ? ", both solvers agree"
                          : ", not confirmed by the second solver");
  if (c->core.omission) {
    fputs("  none of them sets what it reads: a statement may be missing; "
          "look at",
          out);
    print_statements(q, &c->core.guards, root, out);
    fputc('\n', out);
  }
}

static void print_corrections(const Inquiry *q, const char *root, FILE *out) {
  const Corrections *c = &q->corrections;
  if (!c->statements.len)
    return;
  fputs(q->found == FOUND_ASSERTION ? "it could be kept by changing one of"
        : c->elsewhere
            ? "the whole contract could be kept by writing elsewhere "
              "in one of"
        : c->whole ? "the whole contract could be kept by changing one of"
                   : "one of the promises could be kept by changing one of",
        out);
  print_statements(q, &c->statements, root, out);
  fputs(c->open.len ? "  (there may be more: time ran out)\n" : "\n", out);
}

void spec_print_cores(const Inquiry *q, const char *root, FILE *out) {
  for (size_t i = 0; i < q->cores.len; i++)
    print_core(q, &q->cores.items[i], root, out);
  print_corrections(q, root, out);
  if (q->limits.len)
    fprintf(out, "bounds: %s\n", str_text(&q->limits));
}

static void print_names(const ContractTables *t, const Bitset *broken,
                        FILE *out) {
  bool first = true;
  for (uint32_t i = 0; bitset_next(broken, &i); i++) {
    fprintf(out, "%s%s", first ? "breaks " : ", ",
            contracts_clause(t, i)->name);
    first = false;
  }
  if (first)
    fputs("passes", out);
}

void spec_print_round(const SpecReport *r, size_t number, FILE *out) {
  const StateCandidate *c = rounds_last(r->rounds);
  const Score *s = &r->rounds->score;
  if (!c)
    return;
  fprintf(out, "round %zu: ", number);
  if (c->state.turned)
    fprintf(out, "line %u the other way, ", c->state.turned);
  print_names(&inquiry_of(r)->subject->contracts, &c->broken, out);
  if (array_last(&r->rounds->taken).relation == TEST_APART)
    fputs(" (another failure: set aside)", out);
  if (s->items.len) {
    const ScoredLine *best = &s->items.items[0];
    const SourceLine *l = &inquiry_of(r)->subject->lines.items[best->line];
    fprintf(out, "; first now: %s:%u (%.2f)", path_below(l->file, r->root),
            l->line, best->susp);
  }
  fputc('\n', out);
}

static size_t shown(const SpecReport *r) {
  size_t n = r->rounds->score.items.len;
  return r->top && r->top < n ? r->top : n;
}

// "[core, alone]": what speaks against the line besides the tests.
static void print_marks(const ScoredLine *x, FILE *out) {
  if (x->suspect || x->corrected)
    fprintf(out, " [%s%s%s]", x->suspect ? "core" : "",
            x->suspect && x->corrected ? ", " : "",
            x->corrected ? "alone" : "");
}

static void print_line(const SpecReport *r, const ScoredLine *x, FILE *out) {
  const SourceLine *l = &inquiry_of(r)->subject->lines.items[x->line];
  Str text = {0}, safe = {0};
  source_read_line(l->file, l->line, &text);
  if (text.len > LINE_SHOWN)
    text.data[text.len = LINE_SHOWN] = 0;
  escape_add(&safe, str_text(&text));
  fprintf(out, "  %4u%s  %.2f  %.2f  %7u %7u  %s:%u", x->rank,
          x->rank_best < x->rank ? "=" : " ", x->susp, x->confidence, x->ef,
          x->ep, path_below(l->file, r->root), l->line);
  print_marks(x, out);
  fprintf(out, "  %s\n", str_text(&safe));
  str_release(&safe);
  str_release(&text);
}

void spec_print_lines(const SpecReport *r, FILE *out) {
  fprintf(out, "\n  rank   susp  conf  failing passing  line\n");
  for (size_t i = 0; i < shown(r); i++)
    print_line(r, &r->rounds->score.items.items[i], out);
}

void spec_print_method(const SpecReport *r, FILE *out) {
  const Score *s = &r->rounds->score;
  fprintf(out, "  %-13s  %5zu  ", r->method, r->rounds->taken.len);
  for (size_t i = 0; i < s->items.len && s->items.items[i].rank_best == 1;
       i++) {
    const SourceLine *l =
        &inquiry_of(r)->subject->lines.items[s->items.items[i].line];
    if (i)
      fprintf(out, ", %u", l->line);
    else
      fprintf(out, "%s:%u", path_below(l->file, r->root), l->line);
  }
  fputc('\n', out);
}

static void print_count(size_t n, const char *one, const char *many,
                        FILE *out) {
  if (n)
    fprintf(out, "; %zu %s", n, n == 1 ? one : many);
}

void spec_print_ranking(const SpecReport *r, FILE *out) {
  const Rounds *rounds = r->rounds;
  const Score *s = &rounds->score;
  spec_print_lines(r, out);
  fputs("\n[core]: the broken promise cannot hold together with the line; "
        "[alone]: changing\nonly this line could keep the whole contract\n",
        out);
  fprintf(out, "%u failing and %u passing call%s, the given one among them",
          s->failing, s->passing, plural(s->passing));
  print_count(rounds->candidates->made, "state was made", "states were made",
              out);
  print_count(rounds->candidates->rejected, "of them was not a valid call",
              "of them were not valid calls", out);
  print_count(rounds->apart, "failed in another way and was set aside",
              "failed in another way and were set aside", out);
  if (rounds->switched)
    fputs("; most tests changed nothing, so the last ones were chosen by "
          "their coverage of the suspects",
          out);
  fputc('\n', out);
  if (r->session)
    fprintf(out, "kept as session %lld: culprit %s\n", (long long)r->session,
            s->passing ? "rank, why and report show it"
                       : "report --html shows the core");
}

// --- JSON -------------------------------------------------------------------

static void put_place(const char *file, uint32_t line, const char *root,
                      FILE *out) {
  fputs("{\"file\":", out);
  json_string(path_below(file, root), out);
  fprintf(out, ",\"line\":%u}", line);
}

static void put_statements(const Inquiry *q, const StatementList *l,
                           const char *root, FILE *out) {
  fputc('[', out);
  for (size_t i = 0; i < l->len; i++) {
    const Statement *s = &q->encoder.statements.items[l->items[i]];
    if (i)
      fputc(',', out);
    put_place(s->file, s->line, root, out);
  }
  fputc(']', out);
}

static void put_violated(const Inquiry *q, FILE *out) {
  fputs(",\"violated\":[", out);
  for (size_t i = 0; i < q->violation->nbroken; i++) {
    if (i)
      fputc(',', out);
    json_string(table_of(q)->clauses[q->violation->broken[i]].name, out);
  }
  fputc(']', out);
}

// The union of all cores, by line.
static void put_union(const Inquiry *q, const char *root, FILE *out) {
  bool first = true;
  fputs(",\"core\":[", out);
  for (uint32_t i = 0; bitset_next(&q->suspects, &i); i++) {
    json_separator(&first, out);
    put_place(q->subject->lines.items[i].file, q->subject->lines.items[i].line,
              root, out);
  }
  fputc(']', out);
}

static void put_cores(const Inquiry *q, const char *root, FILE *out) {
  fputs(",\"cores\":[", out);
  for (size_t i = 0; i < q->cores.len; i++) {
    const ClauseCore *c = &q->cores.items[i];
    fputs(i ? ",\n{\"clause\":" : "\n{\"clause\":", out);
    json_string(table_of(q)->clauses[c->clause].name, out);
    json_bool("minimal", c->core.minimal, out);
    json_bool("checked", c->core.checked, out);
    json_bool("omission", c->core.omission, out);
    json_double("seconds", c->core.seconds, out);
    fputs(",\"lines\":", out);
    put_statements(q, &c->core.statements, root, out);
    fputs(",\"guards\":", out);
    put_statements(q, &c->core.guards, root, out);
    fputc('}', out);
  }
  fputc(']', out);
}

static void put_evidence(const Inquiry *q, const ScoredLine *x, FILE *out) {
  bool first = true;
  const SourceLine *l = &q->subject->lines.items[x->line];
  fputs(",\"evidence\":[", out);
  for (size_t i = 0; i < q->cores.len; i++) {
    const ClauseCore *c = &q->cores.items[i];
    for (size_t k = 0; k < c->core.statements.len; k++) {
      const Statement *s =
          &q->encoder.statements.items[c->core.statements.items[k]];
      if (s->line != l->line || strcmp(s->file, l->file))
        continue;
      char *text = mem_printf("%s cannot hold together with this line",
                              table_of(q)->clauses[c->clause].name);
      json_separator(&first, out);
      fputs("{\"kind\":\"core\"", out);
      json_text("text", text, out);
      fputc('}', out);
      free(text);
    }
  }
  fputc(']', out);
}

static void put_suspect(const SpecReport *r, const ScoredLine *x, FILE *out) {
  const Inquiry *q = inquiry_of(r);
  const SourceLine *l = &q->subject->lines.items[x->line];
  fprintf(out, "{\"rank\":%u,\"rank_best\":%u", x->rank, x->rank_best);
  json_double("score", x->susp, out);
  json_double("confidence", x->confidence, out);
  json_text("file", path_below(l->file, r->root), out);
  fprintf(out, ",\"line\":%u", l->line);
  json_text("function", l->function, out);
  fprintf(out, ",\"ef\":%u,\"ep\":%u", x->ef, x->ep);
  json_bool("core", x->suspect, out);
  json_bool("corrects", x->corrected, out);
  put_evidence(q, x, out);
  fputc('}', out);
}

static void put_failure(const SpecReport *r, FILE *out) {
  const Inquiry *q = inquiry_of(r);
  const Score *s = &r->rounds->score;
  const ContractClause *c = &table_of(q)->clauses[q->violation->broken[0]];
  char *names = violation_names(q->violation);
  char *signature = mem_printf("%s: %s", table_of(q)->function, names);
  char *place = mem_printf("%s:%u", path_below(c->file, r->root), c->line);
  fputs("{\"signature\":", out);
  json_string(signature, out);
  json_text("kind", "contract", out);
  json_text("message", c->text, out);
  json_text("place", place, out);
  fprintf(out, ",\"failing\":%u,\"passing\":%u,\"ranking\":[", s->failing,
          s->passing);
  for (size_t i = 0; i < shown(r); i++) {
    fputs(i ? ",\n" : "\n", out);
    put_suspect(r, &s->items.items[i], out);
  }
  fputs("]}", out);
  free(names);
  free(signature);
  free(place);
}

static const char *relation_name(TestRelation r) {
  static const char *const names[] = {[TEST_PASSES] = "passes",
                                      [TEST_SAME] = "same",
                                      [TEST_PARTLY] = "partly",
                                      [TEST_APART] = "apart"};
  return names[r];
}

// Places of lines after a round: [file, line, rank].
static void put_ranks(const SpecReport *r, const Round *round, FILE *out) {
  const SpecSubject *s = inquiry_of(r)->subject;
  fputs(",\"ranks\":[", out);
  for (size_t i = 0; i < round->rating.len; i++) {
    const ScoredLine *x = &round->rating.items[i];
    fputs(i ? ",[" : "[", out);
    json_string(path_below(s->lines.items[x->line].file, r->root), out);
    fprintf(out, ",%u,%u]", s->lines.items[x->line].line, x->rank);
  }
  fputc(']', out);
}

static void put_rounds(const SpecReport *r, FILE *out) {
  const Rounds *rounds = r->rounds;
  fputs(",\"rounds\":[", out);
  for (size_t i = 0; i < rounds->taken.len; i++) {
    const Round *round = &rounds->taken.items[i];
    const StateCandidate *c =
        &rounds->candidates->items.items[round->candidate];
    fputs(i ? ",\n{" : "\n{", out);
    fprintf(out, "\"turned\":%u", c->state.turned);
    json_text("verdict", relation_name(round->relation), out);
    json_bool("switched", round->switched, out);
    put_ranks(r, round, out);
    fputc('}', out);
  }
  fputc(']', out);
}

void spec_print_json(const SpecReport *r, FILE *out) {
  const Rounds *rounds = r->rounds;
  const Inquiry *q = inquiry_of(r);
  fputs("{\"version\":1", out);
  json_text("method", r->method, out);
  json_text("function", q->contract->function, out);
  fprintf(out, ",\"call\":%llu", (unsigned long long)q->call);
  fprintf(out, ",\"executed\":%zu", rounds->score.items.len);
  if (r->session)
    fprintf(out, ",\"session\":%lld", (long long)r->session);
  put_violated(q, out);
  put_union(q, r->root, out);
  put_cores(q, r->root, out);
  fputs(",\"corrections\":", out);
  put_statements(q, &q->corrections.statements, r->root, out);
  json_text("bounds", str_text(&q->limits), out);
  json_double("core_seconds", q->seconds, out);
  json_double("test_seconds", rounds->seconds, out);
  fprintf(out, ",\"tests\":%zu,\"made\":%zu,\"rejected\":%zu,\"apart\":%zu",
          rounds->taken.len, rounds->candidates->made,
          rounds->candidates->rejected, rounds->apart);
  put_rounds(r, out);
  fputs(",\"failures\":[\n", out);
  put_failure(r, out);
  fputs("]}\n", out);
}
