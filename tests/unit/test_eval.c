// The evaluation: manifests, metrics, tables and the graph score.
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "eval/curve.h"
#include "eval/dependence_graph.h"
#include "eval/evaluation.h"
#include "eval/export.h"
#include "eval/manifest.h"
#include "eval/method.h"
#include "eval/metrics.h"
#include "eval/outcome.h"
#include "eval/pdg_score.h"
#include "eval/published.h"
#include "eval/tables.h"
#include "util/fs.h"
#include "util/mem.h"
#include "util/str.h"

// --- manifest --------------------------------------------------------------

#define HEADER "name\tbuild\tprogram\ttests\toracle\tfaulty\n"

static int parse(Manifest *m, const char *text, Err *err) {
  return manifest_parse(m, "/m/list.tsv", text, "/state", err);
}

TEST(a_manifest_of_golden_and_vn_directories_is_read) {
  Manifest m;
  Err err = {0};
  assert_int_equal(
      parse(&m,
            "# comment\n\n" HEADER
            "tcas/v1\tmake -C v1\tv1/tcas\tuniverse\treference:golden/tcas\t"
            "v1/tcas.c:75\n"
            "tcas/v2\t\tv2/tcas\tuniverse\texit\tv2/tcas.c:63,66 v2/a.h:3\n",
            &err),
      0);
  assert_int_equal(m.versions.len, 2);
  Version *v = &m.versions.items[0];
  assert_string_equal(v->name, "tcas/v1");
  assert_string_equal(v->subject, "tcas");
  assert_string_equal(v->build, "make -C v1");
  assert_string_equal(v->program, "/m/v1/tcas");
  assert_string_equal(v->tests, "/m/universe");
  assert_string_equal(v->oracle, "--reference");
  assert_string_equal(v->oracle_value, "/m/golden/tcas");
  assert_string_equal(v->cwd, "/m");
  assert_null(v->timeout);
  v = &m.versions.items[1];
  assert_null(v->oracle);
  assert_int_equal(v->nfaulty, 2);
  assert_string_equal(v->faulty[1], "v2/a.h:3");
  manifest_release(&m);
}

TEST(columns_may_come_in_any_order_and_dir_is_the_versions_own) {
  Manifest m;
  Err err = {0};
  assert_int_equal(
      parse(&m,
            "note\tcwd\ttimeout\tfaulty\toracle\ttests\tprogram\tbuild\tname\n"
            "x\tin\t2.5\ta.c:1\tcommand:diff {dir}/x\tt\t{dir}/p\tb {dir}\tp\n",
            &err),
      0);
  Version *v = &m.versions.items[0];
  assert_string_equal(v->subject, "p");
  assert_string_equal(v->program, "/state/p/build/p");
  assert_string_equal(v->build, "b /state/p/build");
  assert_string_equal(v->oracle, "--oracle");
  assert_string_equal(v->oracle_value, "diff /state/p/build/x");
  assert_string_equal(v->cwd, "/m/in");
  assert_string_equal(v->timeout, "2.5");
  manifest_release(&m);
}

static void refuses(const char *text, const char *message) {
  Manifest m;
  Err err = {0};
  assert_int_equal(parse(&m, text, &err), -1);
  if (!strstr(err.text, message))
    fail_msg("'%s' does not say '%s'", err.text, message);
}

TEST(a_manifest_that_is_wrong_is_refused_with_its_line) {
  refuses("", "no versions");
  refuses("name\tbuild\n", ":1: no column 'program'");
  refuses("name\tname\n", "twice");
  refuses(HEADER "a\t\tp\tt\texit\n", ":2: no faulty");
  refuses(HEADER "a\t\tp\tt\texit\tx.c:1\ty\n", "more fields");
  refuses(HEADER "../a\t\tp\tt\texit\tx.c:1\n", "name '../a'");
  refuses(HEADER "a\t\tp\tt\texit\tx.c:1\na\t\tp\tt\texit\tx.c:1\n",
          ":3: name 'a' for the second time");
  refuses(HEADER "a\t\tp\tt\toracle\tx.c:1\n", "oracle 'oracle'");
  refuses(HEADER "a\t\tp\tt\treference:\tx.c:1\n", "oracle 'reference:'");
  refuses(HEADER "a\t\tp\tt\texit\tx.c\n", "faulty 'x.c'");
  refuses(HEADER "a\t\tp\tt\texit\t \n", "no faulty line");
}

// --- methods ---------------------------------------------------------------

TEST(methods_are_names_with_kinds) {
  MethodList l;
  Err err = {0};
  assert_int_equal(
      methods_parse(&l, "ochiai,op2:statement+condition", NULL, &err), 0);
  assert_int_equal(l.items.len, 2);
  assert_int_equal(l.items.items[0].entities, 0);
  assert_int_equal(l.items.items[1].entities,
                   1u << ENTITY_STATEMENT | 1u << ENTITY_CONDITION);
  methods_ablate(&l);
  assert_int_equal(l.items.len, 5); // only the first chooses by itself
  assert_int_equal(l.items.items[4].entities, 1u << ENTITY_STATEMENT);
  assert_int_equal(l.items.items[4].of, 0);
  methods_release(&l);
  // The default method has what a closer look saw, and is measured without.
  assert_int_equal(methods_parse(&l, METHOD_DEFAULT, NULL, &err), 0);
  methods_ablate(&l);
  const EvaluatedMethod *last = &l.items.items[l.items.len - 1];
  assert_int_equal(last->dropped, CLOSE_KINDS);
  assert_int_equal(last->entities, 1u << ENTITY_STATEMENT |
                                       1u << ENTITY_CONDITION |
                                       1u << ENTITY_RETURN);
  assert_int_equal(l.items.items[1].entities & CLOSE_KINDS, CLOSE_KINDS);
  methods_release(&l);
}

TEST(a_method_that_is_not_there_is_an_error_or_left_out) {
  MethodList l;
  Err err = {0};
  Str lost = {0};
  assert_int_equal(methods_parse(&l, "ochiai,nonsense", NULL, &err), -1);
  assert_non_null(strstr(err.text, "no method 'nonsense'"));
  assert_int_equal(methods_parse(&l, "no:statement,ochiai,nein", &lost, &err),
                   0);
  assert_int_equal(l.items.len, 1);
  assert_string_equal(str_text(&lost), "no:statement, nein");
  methods_release(&l);
  str_release(&lost);
  assert_int_equal(methods_parse(&l, "ochiai:nonsense", NULL, &err), -1);
  assert_int_equal(methods_parse(&l, ",", NULL, &err), -1);
  Str none = {0};
  assert_int_equal(methods_parse(&l, methods_default, &none, &err), 0);
  methods_release(&l);
  str_release(&none);
}

// --- metrics ---------------------------------------------------------------

static FaultScore at_rank(uint32_t best, uint32_t worst) {
  FaultScore s = {.executed = 100, .executable = 200, .listed = 1, .ranked = 1};
  s.rank_best = best;
  s.rank = worst;
  s.ties = worst - best + 1;
  s.rank_average = (best + worst) / 2.0;
  s.top[3] = worst <= 10;
  return s;
}

static bool near(double a, double b) { return a - b < 1e-9 && b - a < 1e-9; }
#define assert_near(a, b) assert_true(near((a), (b)))

TEST(examined_is_of_executed_or_all_and_counts_ties_three_ways) {
  FaultScore s = at_rank(2, 6);
  assert_near(examined(&s, OVER_EXECUTED, TIES_WORST), 6);
  assert_near(examined(&s, OVER_EXECUTED, TIES_AVERAGE), 4);
  assert_near(examined(&s, OVER_EXECUTED, TIES_BEST), 2);
  assert_near(examined(&s, OVER_ALL, TIES_WORST), 3);
  s.ranked = 0;
  assert_near(examined(&s, OVER_ALL, TIES_BEST), 100);
}

TEST(a_summary_has_spread_and_shares) {
  FaultScore s[] = {at_rank(1, 1), at_rank(2, 2), at_rank(9, 9),
                    at_rank(48, 48)};
  const FaultScore *p[] = {&s[0], &s[1], &s[2], &s[3]};
  Summary sum;
  summarize(p, 4, &sum);
  Spread *x = &sum.spread[OVER_EXECUTED][TIES_WORST];
  assert_near(x->min, 1);
  assert_near(x->max, 48);
  assert_near(x->mean, 15);
  assert_near(x->median, 5.5);
  // Deviations 14, 13, 6, 33: sqrt(1490 / 3).
  assert_true(x->deviation > 22.285 && x->deviation < 22.287);
  double within[LIMITS] = {25, 50, 50, 75, 75};
  for (int i = 0; i < LIMITS; i++)
    assert_near(x->within[i], within[i]);
  assert_near(sum.spread[OVER_ALL][TIES_WORST].within[0], 50);
  assert_near(sum.top[3], 75);
}

TEST(a_method_that_was_not_applied_has_found_nothing) {
  FaultScore s = at_rank(1, 1);
  const FaultScore *p[] = {&s, NULL};
  Summary sum;
  summarize(p, 2, &sum);
  assert_near(sum.spread[OVER_ALL][TIES_WORST].max, 100);
  assert_near(sum.unranked, 50);
  assert_near(sum.spread[OVER_ALL][TIES_WORST].median, 50.25);
}

TEST(one_third_of_three_hundred_is_within_one_percent_despite_rounding) {
  double x[] = {100.0 * 3 / 300, 1.0000001};
  assert_near(located(x, 2, 1), 50);
}

TEST(over_subjects_every_subject_weighs_the_same) {
  FaultScore s[] = {at_rank(10, 10), at_rank(20, 20), at_rank(30, 30)};
  const FaultScore *many[] = {&s[0], &s[1]}, *one[] = {&s[2]};
  Summary each[2], mean;
  summarize(many, 2, &each[0]);
  summarize(one, 1, &each[1]);
  summary_average(each, 2, &mean);
  assert_int_equal(mean.faults, 3);
  assert_near(mean.spread[OVER_EXECUTED][TIES_WORST].mean, 22.5);
  assert_near(mean.spread[OVER_EXECUTED][TIES_WORST].within[4], 50);
}

TEST(pairs_are_compared_with_a_margin) {
  double a[] = {1, 5, 10, 4}, b[] = {2, 4, 1, 20};
  PairedDifference d = compare(a, b, 4, 1);
  assert_int_equal(d.less, 1);
  assert_int_equal(d.same, 2);
  assert_int_equal(d.more, 1);
}

TEST(published_shares_of_a_pair_add_up) {
  const PublishedDifference *p = published_difference("cbi");
  assert_non_null(p);
  assert_null(published_difference("ochiai"));
  for (int i = 0; i < MARGINS; i++) {
    double sum = p->less[i] + p->same[i] + p->more[i];
    assert_true(sum > 99.9 && sum < 100.1);
  }
}

// --- outcomes and tables ---------------------------------------------------

static char *scratch_file(const char *name) {
  return mem_printf("/tmp/test_eval-%d-%s", (int)getpid(), name);
}

TEST(an_outcome_survives_the_way_through_a_file) {
  VersionOutcome o, back;
  Err err = {0};
  char *path = scratch_file("outcome");
  outcome_init(&o, 2);
  o.tests = 7;
  o.run = 0.25;
  o.measurements[0] = (Measurement){true, at_rank(2, 6), 0.5};
  o.reasons[1] = mem_strdup("needs counts:\tnone\nhere");
  assert_int_equal(outcome_write(&o, path, &err), 0);
  assert_int_equal(outcome_read(&back, path, 2, &err), 0);
  assert_int_equal(back.tests, 7);
  assert_near(back.run, 0.25);
  assert_null(back.problem);
  assert_true(back.measurements[0].applied);
  assert_memory_equal(&back.measurements[0].score.rank_average,
                      &o.measurements[0].score.rank_average, sizeof(double));
  assert_near(back.measurements[0].score.top[3], 1);
  assert_near(back.measurements[0].graph, 0.5);
  assert_false(back.measurements[1].applied);
  assert_string_equal(back.reasons[1], "needs counts: none here");
  outcome_release(&back);
  assert_int_equal(outcome_read(&back, path, 3, &err), -1);
  assert_int_equal(fs_write(path, "1 2", 3, &err), 0);
  assert_int_equal(outcome_read(&back, path, 2, &err), -1);
  assert_non_null(strstr(err.text, "damaged"));
  unlink(path);
  free(path);
  outcome_release(&o);
}

// Three versions of two subjects, and one in which nothing fails.
typedef struct {
  Manifest manifest;
  MethodList methods;
  Evaluation evaluation;
} World;

static void world_init(World *w, double max_failing) {
  static const uint32_t ranks[3][2] = {{1, 5}, {3, 2}, {40, 10}};
  Err err = {0};
  assert_int_equal(parse(&w->manifest,
                         HEADER "a/1\t\tp\tt\texit\tx.c:1\n"
                                "a/2\t\tp\tt\texit\tx.c:2,3\n"
                                "b/1\t\tp\tt\texit\tx.c:1\n"
                                "b/2\t\tp\tt\texit\tx.c:1\n",
                         &err),
                   0);
  assert_int_equal(methods_parse(&w->methods, "ochiai,op2", NULL, &err), 0);
  VersionOutcome *o = mem_array(VersionOutcome, 4);
  for (size_t i = 0; i < 4; i++) {
    outcome_init(&o[i], 2);
    o[i].tests = o[i].passing = 10;
    o[i].executed = 100;
    o[i].executable = 200;
    o[i].failing = i < 3 ? 2 + 10 * (i == 2) : 0;
    for (size_t m = 0; i < 3 && m < 2; m++)
      o[i].measurements[m] =
          (Measurement){true, at_rank(ranks[i][m], ranks[i][m]), 0.9};
  }
  evaluation_init(&w->evaluation, &w->manifest, &w->methods, o, max_failing);
}

static void world_release(World *w) {
  evaluation_release(&w->evaluation);
  methods_release(&w->methods);
  manifest_release(&w->manifest);
}

TEST(versions_without_failing_or_with_too_many_failing_tests_are_left_out) {
  World w;
  world_init(&w, 1);
  assert_int_equal(w.evaluation.nkept, 3);
  assert_int_equal(w.evaluation.nsubjects, 2);
  assert_int_equal(w.evaluation.states[3], EXCLUDED_NO_FAILING);
  assert_near(w.evaluation.by_fault[0].spread[0][0].mean, 44 / 3.0);
  assert_near(w.evaluation.by_subject[0].spread[0][0].mean, 21);
  world_release(&w);
  world_init(&w, 0.2);
  assert_int_equal(w.evaluation.nkept, 2);
  assert_int_equal(w.evaluation.states[2], EXCLUDED_SHARE);
  world_release(&w);
}

TEST(the_page_lists_methods_exclusions_and_published_rows) {
  World w;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  world_init(&w, 0.2);
  TableOptions o = {.title = "T", .curves = "T", .against = "ochiai"};
  tables_write(&w.evaluation, &o, out);
  fclose(out);
  assert_non_null(strstr(text, "2 faulty versions of 1 program"));
  assert_non_null(strstr(text, "no test fails: b/2.\n"));
  assert_non_null(strstr(text, "more than 20 % of the tests fail: b/1.\n"));
  assert_non_null(strstr(text, "| `ochiai` | 1.00 | 3.00 | 2.00 | 2.00 | "
                               "1.41 | 2.00 |"));
  assert_non_null(
      strstr(text, "| published: cp | 0.01 | 93.55 | 11.67 | 17.98 | 20.92"));
  assert_non_null(strstr(text, "| `op2` | 50.0 / 50.0 / 0.0 |"));
  assert_non_null(strstr(text, "| `op2` | 90.00 | 0.0 | 100.0 | 100.0 |"));
  assert_null(strstr(text, "nan"));
  free(text);
  world_release(&w);
}

TEST(curves_rise_to_a_hundred) {
  World w;
  size_t n;
  const Curve *c = curve_table(&n);
  world_init(&w, 1);
  assert_near(curve_at(&w.evaluation, &c[0], 0, 3), 200 / 3.0);
  assert_near(curve_at(&w.evaluation, &c[2], 0, 3), 50);
  for (size_t i = 0; i < n; i++)
    assert_near(curve_at(&w.evaluation, &c[i], 1, 100), 100);
  world_release(&w);
}

TEST(the_csv_has_one_row_per_fault_and_method) {
  World w;
  Err err = {0};
  Str text = {0};
  char *path = scratch_file("faults.csv");
  world_init(&w, 1);
  assert_int_equal(export_faults(&w.evaluation, path, &err), 0);
  assert_int_equal(fs_read(path, 0, &text, &err), 0);
  size_t lines = 0, commas = 0, quoted = 0;
  for (size_t i = 0; i < text.len; i++) {
    quoted ^= text.data[i] == '"';
    commas += text.data[i] == ',' && !quoted;
    lines += text.data[i] == '\n';
  }
  assert_int_equal(lines, 9);
  assert_int_equal(commas, 9 * 31);
  assert_non_null(strstr(text.data, "\na,a/2,kept,\"x.c:2,3\",10,"));
  str_release(&text);
  unlink(path);
  free(path);
  world_release(&w);
}

// --- graph score -----------------------------------------------------------

static void chain(Pdg *g, size_t n) {
  pdg_init(g, n, n);
  for (uint32_t i = 0; i + 1 < n; i++)
    pdg_edge(g, i, i + 1);
  pdg_close(g);
}

TEST(layers_are_counted_up_to_the_faulty_one) {
  Pdg g;
  uint32_t reported[] = {0}, faulty[] = {2};
  chain(&g, 4);
  PdgScore s = pdg_score(&g, reported, 1, faulty, 1);
  assert_true(s.found);
  assert_int_equal(s.layers, 3);
  assert_int_equal(s.examined, 3);
  assert_near(s.score, 0.25);
  pdg_release(&g);
}

TEST(edges_are_followed_both_ways) {
  Pdg g;
  uint32_t reported[] = {3}, faulty[] = {2};
  chain(&g, 4);
  assert_near(pdg_score(&g, reported, 1, faulty, 1).score, 0.5);
  pdg_release(&g);
}

// 0 -> 1 <- 2 -> 3: from 0, one way at a time, only 1 is met.
TEST(followed_one_way_at_a_time_what_else_a_statement_uses_is_not_met) {
  Pdg g;
  uint32_t reported[] = {0}, one[] = {1}, two[] = {2};
  pdg_init(&g, 4, 4);
  pdg_edge(&g, 0, 1);
  pdg_edge(&g, 2, 1);
  pdg_edge(&g, 2, 3);
  pdg_close(&g);
  assert_near(pdg_score_directed(&g, reported, 1, one, 1).score, 0.5);
  PdgScore s = pdg_score_directed(&g, reported, 1, two, 1);
  assert_false(s.found);
  assert_int_equal(s.examined, 4);
  assert_near(s.score, 0);
  assert_near(pdg_score(&g, reported, 1, two, 1).score, 0.25);
  assert_near(pdg_score_directed(&g, two, 1, reported, 0).score, 0);
  // From the middle both ways, but each on its own.
  s = pdg_score_directed(&g, one, 1, reported, 1);
  assert_int_equal(s.examined, 3);
  assert_int_equal(s.layers, 2);
  pdg_release(&g);
}

TEST(a_report_that_names_the_fault_costs_only_itself) {
  Pdg g;
  uint32_t reported[] = {1, 2, 2}, faulty[] = {2, 0};
  chain(&g, 10);
  PdgScore s = pdg_score(&g, reported, 3, faulty, 2);
  assert_int_equal(s.examined, 2);
  assert_int_equal(s.layers, 1);
  assert_near(s.score, 0.8);
  pdg_release(&g);
}

TEST(whole_layers_are_examined) {
  Pdg g;
  uint32_t reported[] = {0}, faulty[] = {1};
  pdg_init(&g, 6, 6);
  for (uint32_t i = 1; i < 5; i++)
    pdg_edge(&g, i, 0); // a star; 5 stands alone
  pdg_edge(&g, 0, 0);
  pdg_edge(&g, 1, 0);
  pdg_close(&g);
  PdgScore s = pdg_score(&g, reported, 1, faulty, 1);
  assert_int_equal(s.examined, 5);
  assert_near(s.score, 1 - 5.0 / 6);
  pdg_release(&g);
}

TEST(an_empty_report_and_an_unreachable_fault_score_nothing) {
  Pdg g;
  uint32_t reported[] = {0}, faulty[] = {1};
  pdg_init(&g, 2, 2);
  pdg_close(&g);
  PdgScore s = pdg_score(&g, reported, 0, faulty, 1);
  assert_false(s.found);
  assert_near(s.score, 0);
  assert_int_equal(s.examined, 2);
  s = pdg_score(&g, reported, 1, faulty, 1);
  assert_false(s.found);
  assert_near(s.score, 0);
  pdg_release(&g);
}

TEST(a_function_takes_a_step_but_is_not_counted) {
  Pdg g;
  uint32_t reported[] = {0}, faulty[] = {1};
  pdg_init(&g, 4, 3); // 0 -> (3) -> 1; 2 stands alone
  pdg_edge(&g, 0, 3);
  pdg_edge(&g, 3, 1);
  pdg_close(&g);
  PdgScore s = pdg_score(&g, reported, 1, faulty, 1);
  assert_int_equal(s.layers, 3);
  assert_int_equal(s.examined, 2);
  pdg_release(&g);
}

// Four lines of a.c, numbered as the entities are.
static Suite four_lines(Source *source, Entity entities[4]) {
  *source = (Source){.path = "/a.c"};
  for (uint32_t i = 0; i < 4; i++)
    entities[i] = (Entity){.kind = ENTITY_STATEMENT, .line = i + 1};
  return (Suite){
      .sources = source, .nsources = 1, .entities = entities, .nentities = 4};
}

TEST(functions_that_no_unit_defines_connect_nobody) {
  Source source;
  Entity entities[4];
  Suite suite = four_lines(&source, entities);
  DependenceGraph g;
  Err err = {0};
  uint32_t faulty[] = {3};
  Suspect suspect = {.entity = 0};
  Ranking r = {0};
  array_push(&r.suspects, suspect);
  assert_int_equal(dependence_graph_parse(&g, &suite,
                                          "/a.c:1\t@printf\tdata\n"
                                          "/a.c:4\t@printf\tdata\n"
                                          "/a.c:1\t/a.c:2\tcontrol\n",
                                          &err),
                   0);
  assert_false(dependence_graph_score(&g, &r, faulty, 1).found);
  dependence_graph_release(&g);
  assert_int_equal(
      dependence_graph_parse(&g, &suite, "/a.c:1\t@f\tdata\n@f\t/a.c:4\tdata\n",
                             &err),
      0);
  PdgScore s = dependence_graph_score(&g, &r, faulty, 1);
  assert_true(s.found);
  assert_int_equal(s.examined, 2);
  assert_near(s.score, 0.5);
  dependence_graph_release(&g);
  assert_int_equal(dependence_graph_parse(&g, &suite, "nonsense\n", &err), -1);
  array_release(&r.suspects);
}
