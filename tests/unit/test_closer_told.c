// Unit tests of what is told of a closer look: sentences, reports, `culprit
// why`.
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "closer_world.h"
#include "locate/account.h"
#include "report/evidence.h"
#include "report/why.h"
#include "util/fs.h"

static void expect_text(const char *got, const char *want) {
  if (strcmp(got, want) != 0)
    fail_msg("got '%s', want '%s'", got, want);
}

// --- sentences --------------------------------------------------------------

static void expect_covers(const World *w, uint32_t entity, const char *want) {
  Comparison c;
  Str text = {0};
  comparison_init(&c, &w->tally, 0, false);
  Ranking r = {.failing = c.failing,
               .passing = c.passing,
               .close = c.close,
               .sliced = c.sliced};
  evidence_covers(&w->suite, &r, entity, c.ef[entity], c.ep[entity], &text);
  expect_text(str_text(&text), want);
  str_release(&text);
  comparison_release(&c);
}

TEST(sentences_say_how_many_of_how_many_runs) {
  World w;
  closer_world(&w, "++.+........", "+....+......");
  expect_covers(&w, RELATION,
                "when `a` equals `b` here: 2 of 2 failing, 1 of 3 passing runs "
                "looked at");
  expect_covers(&w, PAIR,
                "the value of `x` set here is used at line 3 in 1 of 2 failing "
                "and 1 of 3 passing runs looked at");
  expect_covers(&w, SLICE,
                "the first wrong byte of the output depends on this line in 1 "
                "of 1 failing runs looked at");
  look(&w, "nnnnnnnnnnnn");
  expect_covers(&w, RELATION,
                "when `a` equals `b` here: 2 of 3 failing, 1 of 9 passing "
                "runs");
  expect_covers(&w, PAIR,
                "the value of `x` set here is used at line 3 in 1 of 3 failing "
                "and 1 of 9 passing runs");
  world_release(&w);
}

TEST(two_relations_of_one_text_are_told_apart_by_their_column) {
  World w;
  Str text = {0};
  world_init(&w, "AP");
  world_statements(&w, "a.c", "main", 1, 3);
  uint32_t first = relation(&w, 2, 0, "`a` equals `b`");
  pair(&w, LINE1, LINE1, NULL);
  relation(&w, 3, 2, "`a` equals `b`");
  uint32_t second = relation(&w, 2, 1, "`a` equals `b`");
  evidence_tuple(&w.suite, first, &text);
  expect_text(str_text(&text), "when `a` equals `b` at column 5");
  text.len = 0;
  evidence_tuple(&w.suite, second, &text);
  expect_text(str_text(&text), "when `a` equals `b` at column 9");
  text.len = 0;
  evidence_tuple(&w.suite, second - 1, &text);
  expect_text(str_text(&text), "when `a` equals `b` here");
  text.len = 0;
  evidence_tuple(&w.suite, first + 1, &text);
  expect_text(str_text(&text),
              "when the value set here is used on the same line");
  str_release(&text);
  world_release(&w);
}

static void expect_pair(const char *name, const char *want) {
  World w;
  Str text = {0};
  Ranking r = {.failing = 4, .passing = 9, .close = {4, 9}};
  world_init(&w, "AP");
  world_statements(&w, "a.c", "main", 1, 3);
  uint32_t p = pair(&w, LINE2, LINE1, name);
  evidence_use(&w.suite, &r, p, 4, 2, &text);
  str_add(&text, "; ");
  evidence_covers(&w.suite, &r, p, 4, 2, &text);
  expect_text(str_text(&text), want);
  str_release(&text);
  world_release(&w);
}

TEST(a_pair_says_whose_value_it_is) {
  expect_pair(
      "p->count",
      "uses the value of `p->count` set at line 2 in 4 of 4 failing and "
      "2 of 9 passing runs; the value of `p->count` set here is used at "
      "line 1 in 4 of 4 failing and 2 of 9 passing runs");
  expect_pair(
      "fill(n)",
      "uses the value of parameter `n` of `fill` set at line 2 in 4 of "
      "4 failing and 2 of 9 passing runs; the value of parameter `n` of "
      "`fill` set here is used at line 1 in 4 of 4 failing and 2 of 9 "
      "passing runs");
  expect_pair(
      "fill()",
      "uses the result of `fill` set at line 2 in 4 of 4 failing and 2 "
      "of 9 passing runs; the result of `fill` set here is used at line "
      "1 in 4 of 4 failing and 2 of 9 passing runs");
}

TEST(a_value_may_come_from_another_file) {
  World w;
  Str text = {0};
  Ranking r = {.failing = 4, .passing = 9, .close = {4, 9}};
  world_init(&w, "AP");
  world_statements(&w, "a.c", "main", 1, 3);
  world_statements(&w, "lib/b.c", "f", 7, 8);
  uint32_t p = pair(&w, LINE2, 4, "limit");
  evidence_covers(&w.suite, &r, p, 4, 2, &text);
  expect_text(str_text(&text), "the value of `limit` set here is used at "
                               "lib/b.c:7 in 4 of 4 failing and 2 of 9 passing "
                               "runs");
  text.len = 0;
  evidence_use(&w.suite, &r, p, 4, 2, &text);
  expect_text(str_text(&text), "uses the value of `limit` set at a.c:2 in 4 of "
                               "4 failing and 2 of 9 passing runs");
  str_release(&text);
  world_release(&w);
}

// --- reports ----------------------------------------------------------------

// A ranking by the default method in one of the formats. Caller frees.
static char *print_as(World *w, const char *format) {
  const ReportFormat *f = report_find(format);
  Sources sources;
  Deaths deaths = {0};
  Ranking r;
  char *text = NULL;
  size_t size;
  rank_by(w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
  sources_init(&sources, &w->suite);
  Report report = {.suite = &w->suite,
                   .method = METHOD_DEFAULT,
                   .entities = STATEMENTS | RELATIONS,
                   .deaths = &deaths,
                   .sources = &sources};
  FILE *out = open_memstream(&text, &size);
  if (f->begin)
    f->begin(&report, out);
  f->failure(&report, &r, out);
  if (f->end)
    f->end(&report, out);
  fclose(out);
  sources_release(&sources);
  ranking_release(&r);
  return text;
}

static void expect_printed(World *w, const char *format, const char *words) {
  char *text = print_as(w, format);
  if (!strstr(text, words))
    fail_msg("%s: '%s' is not in\n%s", format, words, text);
  free(text);
}

TEST(every_format_tells_what_a_closer_look_saw) {
  static const char sentence[] =
      "when `a` equals `b` here: 2 of 2 failing, 1 of 3 passing runs looked at";
  World w;
  closer_world(&w, "++.+........", "............");
  expect_printed(&w, "text", sentence);
  expect_printed(&w, "sarif", sentence);
  expect_printed(&w, "json", sentence);
  expect_printed(&w, "json",
                 "looked at\",\"ef\":2,\"ep\":1,\"failing\":2,\"passing\":3}");
  expect_printed(&w, "json",
                 "\"close\":{\"ended\":\"budget\",\"failing\":2,\"passing\":3,"
                 "\"of_failing\":3,\"of_passing\":9}");
  expect_printed(&w, "json",
                 "\"stand_in\":false,\"close\":{\"failing\":2,\"passing\":3}");
  world_release(&w);
}

TEST(json_says_nothing_of_a_look_that_did_not_happen) {
  World w;
  world_init(&w, "AP");
  world_statements(&w, "a.c", "main", 1, 3);
  for (uint32_t run = 0; run < 2; run++)
    world_covers(&w, run, LINE1, LINE2);
  world_close(&w);
  char *text = print_as(&w, "json");
  assert_null(strstr(text, "\"close\""));
  free(text);
  world_release(&w);
}

// --- every sentence is true -------------------------------------------------

// Counts runs of the first failure (or those that pass) that were looked at and,
// if `e` is one, cover it.
static uint32_t count_runs(const World *w, bool fails, uint32_t e,
                           bool has_slice) {
  uint32_t n = 0;
  for (size_t i = 0; i < w->suite.nruns; i++) {
    bool sliced = false;
    for (uint32_t s = 35; s < 40; s++)
      sliced |= bitset_has(&w->hits[i], s);
    n += w->verdicts[i] == (fails ? 'A' : 'P') && w->suite.runs[i].close &&
         (e == ENTITY_NONE || bitset_has(&w->hits[i], e)) &&
         (!has_slice || sliced);
  }
  return n;
}

static void check_voice(const World *w, uint32_t e, const Evidence *told) {
  EntityKind kind = w->suite.entities[e].kind;
  bool of_slices = kind == ENTITY_SLICE;
  assert_int_equal(told->ef, count_runs(w, true, e, of_slices));
  assert_int_equal(told->of.failing,
                   count_runs(w, true, ENTITY_NONE, of_slices));
  assert_string_equal(told->kind, entity_kind_name(kind));
  char counts[64];
  if (of_slices) {
    snprintf(counts, sizeof counts, " in %u of %u failing runs looked at",
             told->ef, told->of.failing);
  } else {
    assert_int_equal(told->ep, count_runs(w, false, e, false));
    assert_int_equal(told->of.passing,
                     count_runs(w, false, ENTITY_NONE, false));
    snprintf(counts, sizeof counts,
             kind == ENTITY_PAIR ? " in %u of %u failing and %u of %u passing"
                                 : ": %u of %u failing, %u of %u passing",
             told->ef, told->of.failing, told->ep, told->of.passing);
  }
  if (!strstr(told->text, counts))
    fail_msg("'%s' lacks '%s'", told->text, counts);
}

// The most specific comes first, what carries the score next unless it is of the
// same kind and says it of the same runs, then what breaks ties; each once.
static size_t list_voices(const World *w, const Suspect *s,
                          uint32_t voices[3]) {
  size_t n = 0;
  if (s->told)
    voices[n++] = s->teller;
  bool same = s->told && s->told_ef == s->carrier_ef &&
              s->told_ep == s->carrier_ep &&
              w->suite.entities[s->teller].kind == ENTITY_RELATION &&
              w->suite.entities[s->carrier].kind == ENTITY_RELATION;
  if (s->carried && !same && !(s->told && s->teller == s->carrier))
    voices[n++] = s->carrier;
  if (s->hinted && !(s->told && s->teller == s->hinter))
    voices[n++] = s->hinter;
  return n;
}

// Returns how many sentences there were.
static size_t check_suspect(const World *w, const Ranking *r,
                            const Suspect *s) {
  EvidenceList list = {0};
  Deaths deaths = {0};
  size_t checked = 0;
  uint32_t voices[3];
  size_t nvoices = list_voices(w, s, voices), spoken = 0;
  evidence_gather(&w->suite, &deaths, r, s, &list);
  for (size_t i = 0; i < list.len; i++) {
    const Evidence *told = &list.items[i];
    bool of_slice = !strcmp(told->kind, "slice");
    if (strcmp(told->kind, "relation") && strcmp(told->kind, "pair") &&
        !of_slice)
      continue;
    assert_true(of_slice || spoken < nvoices);
    check_voice(w, of_slice ? s->slice : voices[spoken++], told);
    checked++;
  }
  evidence_release(&list);
  return checked;
}

TEST(every_sentence_of_a_ranking_holds_of_the_spectra) {
  uint64_t state = 1;
  size_t checked = 0;
  for (int round = 0; round < 50; round++) {
    World w;
    Ranking r;
    random_world(&w, &state, true);
    rank_by(&w, METHOD_DEFAULT, 0, ENTITY_STATEMENT, &r);
    for (size_t i = 0; i < r.suspects.len; i++)
      checked += check_suspect(&w, &r, &r.suspects.items[i]);
    ranking_release(&r);
    world_release(&w);
  }
  assert_true(checked > 200);
}

// --- through the store ------------------------------------------------------

// The world as a session of a store of its own: what a closer look found is a
// unit of its own, too.
typedef struct {
  World world;
  char dir[64];
  Store *store;
  Suite suite;
  Err err;
} Stored;

#define check(s, call)                                                         \
  do {                                                                         \
    if (call)                                                                  \
      fail_msg("%s: %s", #call, (s)->err.text);                                \
  } while (0)

static bool is_close(const Entity *e) { return CLOSE_KINDS & 1u << e->kind; }

// The first `n` entities, found or not.
static void store_unit(Stored *s, int64_t session, int id, size_t n,
                       uint32_t *ids) {
  World *w = &s->world;
  Unit unit = {.name = "a.c",
               .sources = w->sources,
               .nsources = w->suite.nsources,
               .entities = w->entities,
               .nentities = n};
  memset(unit.id.bytes, id, sizeof unit.id.bytes);
  check(s, store_add_unit(s->store, session, &unit, ids, &s->err));
}

static void store_run(Stored *s, int64_t session, size_t i,
                      const uint32_t *ids) {
  World *w = &s->world;
  const RunInfo *info = &w->suite.runs[i];
  bool fails = info->verdict == VERDICT_FAIL;
  Run run = {.test = mem_strdup(info->test),
             .command = mem_strdup("./a"),
             .verdict = info->verdict,
             .status = fails,
             .processes = 1};
  if (fails)
    array_push(&run.failures,
               (Failure){mem_strdup("exit"), mem_strdup("exit status 1"),
                         mem_strdup(""), mem_strdup("exit 1")});
  Bitset close[ENTITY_KINDS] = {0};
  for (uint32_t e = 0; bitset_next(&w->hits[i], &e); e++) {
    EntityKind kind = w->entities[e].kind;
    bitset_add(is_close(&w->entities[e]) ? &close[kind] : &run.hits[kind],
               ids[e]);
  }
  check(s, store_add_run(s->store, session, &run, &s->err));
  if (info->close)
    check(s, store_add_close(s->store, session, info->test, info->close, close,
                             info->wrong ? info->wrong : "", &s->err));
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&close[k]);
  run_release(&run);
}

static void store_world(Stored *s, size_t nplain) {
  int64_t session;
  bool continued;
  uint32_t ids[256];
  strcpy(s->dir, "/tmp/closer-XXXXXX");
  assert_non_null(mkdtemp(s->dir));
  check(s, store_open(&s->store, s->dir, STORE_CREATE, &s->err));
  check(s, session_begin(s->store, "k", "culprit run", "/proj", &session,
                         &continued, &s->err));
  store_unit(s, session, 1, nplain, ids);
  store_unit(s, session, 2, s->world.suite.nentities, ids);
  for (size_t i = 0; i < s->world.suite.nruns; i++)
    store_run(s, session, i, ids);
  check(s, session_set_close(s->store, session, "budget", &s->err));
  check(s, session_finish(s->store, session, &s->err));
  check(s, store_load(s->store, session, &s->suite, &s->err));
}

static void stored_release(Stored *s) {
  suite_release(&s->suite);
  store_close(s->store);
  fs_remove_tree(s->dir);
  world_release(&s->world);
}

static uint32_t statement_at(const Suite *suite, uint32_t line) {
  for (uint32_t i = 0; i < suite->nentities; i++)
    if (suite->entities[i].kind == ENTITY_STATEMENT &&
        suite->entities[i].line == line)
      return i;
  fail_msg("no line %u", line);
  return 0;
}

// What `culprit why` prints about a line. Caller frees.
static char *explain(Stored *s, uint32_t line, bool json) {
  SessionEvidence evidence;
  Account *accounts;
  Sources sources;
  LocateOptions o = {.by = ENTITY_STATEMENT};
  bool covers[64] = {0};
  const NearNote *near[8] = {0};
  Notes cores = {0};
  uint32_t statement = statement_at(&s->suite, line);
  session_evidence_init(&evidence, s->store, &s->suite);
  check(s, accounts_make(&evidence, statement, &o, &accounts, &s->err));
  sources_init(&sources, &s->suite);
  Why why = {.report = {.suite = &s->suite,
                        .deaths = &evidence.deaths,
                        .sources = &sources},
             .line = line,
             .statement = statement,
             .accounts = accounts,
             .covers = covers,
             .method = METHOD_DEFAULT,
             .notes = near,
             .cores = &cores};
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  json ? why_json(&why, out) : why_text(&why, out);
  fclose(out);
  sources_release(&sources);
  accounts_free(accounts, s->suite.nfailures);
  session_evidence_release(&evidence);
  return text;
}

static void expect_says(Stored *s, uint32_t line, bool json,
                        const char *words) {
  char *text = explain(s, line, json);
  if (!strstr(text, words))
    fail_msg("line %u: '%s' is not in\n%s", line, words, text);
  free(text);
}

TEST(why_tells_what_a_closer_look_saw_of_a_line) {
  Stored s = {0};
  closer_world(&s.world, "++.+........", "+....+......");
  store_world(&s, RELATION);
  expect_says(&s, 2, false,
              "looked at closely: 2 of 3 failing and 3 of 9 passing runs\n");
  expect_says(&s, 2, false, ", when `a` equals `b` here\n      against it: ");
  expect_says(&s, 2, false, " passing runs have it, ");
  expect_says(&s, 2, true, "\"costs\":{\"failing\":0,\"passing\":2");
  expect_says(&s, 2, false,
              "+0.889  when `a` equals `b` here: 2 of 2 failing, 1 of 3 "
              "passing runs looked at\n");
  expect_says(&s, 1, false,
              "+0.056  the value of `x` set here is used at line 3 in 1 of 2 "
              "failing and 1 of 3 passing runs looked at\n");
  expect_says(&s, 3, false,
              "+0.056  uses the value of `x` set at line 1 in 1 of 2 failing "
              "and 1 of 3 passing runs looked at\n");
  expect_says(&s, 3, false,
              "the first wrong byte of the output depends on this line in 1 of "
              "1 failing runs looked at\n");
  expect_says(&s, 2, true,
              "{\"kind\":\"relation\",\"text\":\"when `a` equals `b` "
              "here\",\"ef\":2,\"ep\":1,\"failing\":2,\"passing\":3,");
  expect_says(&s, 3, true, "\"uses\":[{\"kind\":\"pair\",\"text\":\"uses the ");
  expect_says(&s, 3, true, "\"close\":{\"failing\":2,\"passing\":3}");
  stored_release(&s);
}

// Eighty pairs of one line: the best few are shown, the others counted.
TEST(why_bounds_what_it_lists) {
  Stored s = {0};
  World *w = &s.world;
  world_init(w, "AP");
  look(w, "nn");
  world_statements(w, "a.c", "main", 1, 100);
  for (uint32_t i = 0; i < 99; i++)
    pair(w, 0, i, "x");
  for (uint32_t run = 0; run < 2; run++)
    world_covers(w, run, 0, 100);
  world_covers(w, 0, 101, 105);
  world_covers(w, 1, 106, 180);
  world_close(w);
  store_world(&s, 101);
  expect_says(&s, 1, false, "and 72 more that tell less or nothing\n");
  expect_says(&s, 1, false, "-1.000  the value of `x` set here is used at");
  stored_release(&s);
}
