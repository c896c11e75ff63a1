// How many passing and failing runs executed each entity: see tally.h.
#include "tally/tally.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/hashmap.h"
#include "util/mem.h"
#include "util/str.h"

static bool counts_as(const RunInfo *run, Verdict verdict) {
  return run->has_spectrum && run->verdict == verdict;
}

// --- kin --------------------------------------------------------------------

// An exploration: the requests were chosen by us, not by the user.
static bool was_explored(const Suite *suite) {
  return suite->command && text_starts(suite->command, "culprit web ") &&
         !strstr(suite->command, " --requests");
}

// Made from one failing input.
static bool was_made(const Suite *suite) {
  return suite->command && text_starts(suite->command, "culprit input ") &&
         !suite->endings_alike;
}

// "GET /a/?x=1" asks for /a/index.php.
static uint32_t page_of(const char *command, Hashmap *pages) {
  Str path = {0};
  const char *from = strchr(command, ' ');
  from = from ? from + 1 : command;
  str_addn(&path, from, strcspn(from, "? "));
  if (path.len && path.data[path.len - 1] == '/')
    str_add(&path, "index.php");
  uint32_t n =
      (uint32_t)hashmap_intern(pages, str_text(&path), path.len, pages->len);
  str_release(&path);
  return n;
}

static void find_pages(Tally *t) {
  Hashmap pages = {0};
  t->kin = mem_array(uint32_t, t->suite->nruns);
  for (size_t i = 0; i < t->suite->nruns; i++)
    t->kin[i] = page_of(t->suite->runs[i].command, &pages);
  hashmap_release(&pages);
}

static void find_endings(Tally *t) {
  Hashmap endings = {0};
  t->weighs = true;
  t->kin = mem_array(uint32_t, t->suite->nruns);
  for (size_t i = 0; i < t->suite->nruns; i++) {
    int status = t->suite->runs[i].status;
    t->kin[i] =
        (uint32_t)hashmap_intern(&endings, &status, sizeof status, endings.len);
  }
  hashmap_release(&endings);
}

// --- the tally --------------------------------------------------------------

void tally_init(Tally *t, const Suite *suite) {
  *t = (Tally){.suite = suite};
  t->pass = mem_array(uint32_t, suite->nentities);
  t->fail = mem_array(uint32_t, suite->nentities);
  t->random = mem_array(uint32_t, suite->nentities);
  t->hits = mem_array(Bitset, suite->nruns);
  for (size_t i = 0; i < suite->nruns; i++) {
    t->npass += counts_as(&suite->runs[i], VERDICT_PASS);
    t->nfail += counts_as(&suite->runs[i], VERDICT_FAIL);
  }
  if (was_explored(suite))
    find_pages(t);
  else if (was_made(suite))
    find_endings(t);
}

void tally_release(Tally *t) {
  free(t->pass);
  free(t->fail);
  free(t->random);
  for (size_t i = 0; t->suite && i < t->suite->nruns; i++)
    bitset_release(&t->hits[i]);
  free(t->hits);
  for (size_t i = 0; i < t->nshown; i++)
    free(t->shown[i]);
  free(t->shown);
  free(t->kin);
  bitset_release(&t->executed);
  bitset_release(&t->sliced);
  *t = (Tally){0};
}

static bool has_slice(const Suite *suite, const Bitset *hits) {
  for (uint32_t e = 0; bitset_next(hits, &e) && e < suite->nentities; e++)
    if (suite->entities[e].kind == ENTITY_SLICE)
      return true;
  return false;
}

void tally_add(Tally *t, size_t run, const Bitset *hits) {
  assert(run < t->suite->nruns);
  const RunInfo *info = &t->suite->runs[run];
  if (!info->has_spectrum)
    return;
  bitset_union(&t->executed, hits);
  if (info->verdict == VERDICT_PASS) {
    bitset_tally(hits, t->pass, t->suite->nentities);
    if (info->close == CLOSE_RANDOM)
      bitset_tally(hits, t->random, t->suite->nentities);
    if (t->kin)
      bitset_union(&t->hits[run], hits);
  }
  if (info->verdict != VERDICT_FAIL)
    return;
  bitset_tally(hits, t->fail, t->suite->nentities);
  if (info->close && has_slice(t->suite, hits))
    bitset_add(&t->sliced, (uint32_t)run);
  bitset_union(&t->hits[run], hits);
}

static void add_spectrum(void *ctx, size_t run, const Bitset *hits) {
  tally_add(ctx, run, hits);
}

// --- what the store has summed ----------------------------------------------

// Sums say nothing about single runs, which kin are.
static bool is_summed(const Tally *t, EntityKind kind) {
  return t->suite->nkept && !t->kin && !(CLOSE_KINDS & 1u << kind);
}

static uint32_t *counts_of(Tally *t, const Hashmap *failures,
                           const KeptSum *sum, uint32_t *others) {
  uint64_t failure;
  if (!sum->signature && sum->verdict != VERDICT_FAIL)
    return sum->verdict == VERDICT_PASS ? t->pass : others;
  failure = t->nshown - 1;
  if (sum->signature &&
      !hashmap_get(failures, sum->signature, strlen(sum->signature), &failure))
    return NULL; // all its runs were replaced
  if (!t->shown[failure])
    t->shown[failure] = mem_array(uint32_t, t->suite->nentities);
  return t->shown[failure];
}

static void note_executed(Tally *t, EntityKind kind, const uint32_t *others) {
  const Suite *suite = t->suite;
  for (size_t e = 0; e < suite->nentities; e++)
    if (suite->entities[e].kind == kind &&
        (t->pass[e] || t->fail[e] || others[e]))
      bitset_add(&t->executed, (uint32_t)e);
}

static int add_sums(Tally *t, Store *store, EntityKind kind,
                    const Hashmap *failures, Err *err) {
  const Suite *suite = t->suite;
  uint32_t *others = mem_array(uint32_t, suite->nentities);
  int rc = 0;
  for (size_t i = 0; !rc && i < suite->nkept; i++) {
    const KeptSum *sum = &suite->kept[i];
    uint32_t *out =
        sum->kind == kind ? counts_of(t, failures, sum, others) : NULL;
    if (out)
      rc = store_kept_sum(store, suite, sum, out, err);
  }
  const uint32_t *fail = t->shown[t->nshown - 1];
  for (size_t e = 0; fail && e < suite->nentities; e++)
    if (suite->entities[e].kind == kind)
      t->fail[e] += fail[e];
  if (!rc)
    note_executed(t, kind, others);
  free(others);
  return rc;
}

static int load_sums(Tally *t, Store *store, EntityKind kind, Err *err) {
  const Suite *suite = t->suite;
  Hashmap failures = {0};
  for (size_t i = 0; i < suite->nfailures; i++) {
    const char *signature = suite->failures[i].signature;
    hashmap_put(&failures, signature, strlen(signature), i);
  }
  t->nshown = suite->nfailures + 1;
  if (!t->shown)
    t->shown = mem_array(uint32_t *, t->nshown);
  int rc = add_sums(t, store, kind, &failures, err);
  hashmap_release(&failures);
  return rc;
}

static int load_kind(Tally *t, Store *store, EntityKind kind, Err *err) {
  if (is_summed(t, kind))
    return load_sums(t, store, kind, err);
  return store_each_spectrum(store, t->suite, kind, add_spectrum, t, err);
}

int tally_load(Tally *t, Store *store, unsigned kinds, Err *err) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (kinds & 1u << k && load_kind(t, store, (EntityKind)k, err))
      return -1;
  return 0;
}

// --- one failure against the passing runs -----------------------------------

#define STRANGER 0.125 // what a run weighs that ended otherwise

static double weighed(double all, double strangers) {
  return all - (1 - STRANGER) * strangers;
}

// What a run of the random sample stands for, among `passing` runs.
static double random_weight(uint32_t passing, uint32_t near, uint32_t random) {
  return random ? (double)(passing - near) / random : 0;
}

static Bitset kin_of(const Tally *t, const FailureGroup *group) {
  Bitset kin = {0};
  for (size_t i = 0; i < group->nruns; i++)
    bitset_add(&kin, t->kin[group->runs[i]]);
  return kin;
}

// The passing runs that one failure is compared with, kin or strangers.
typedef struct {
  size_t *runs;
  bool *kin; // is it?
  size_t n;
  uint32_t alike, near, random; // how many are kin; were looked at closely
  uint32_t apart;               // were not, for a reason
} PassingRuns;

static void passing_find(PassingRuns *p, const Tally *t,
                         const FailureGroup *group) {
  const Suite *suite = t->suite;
  Bitset kin = kin_of(t, group);
  *p = (PassingRuns){.runs = mem_array(size_t, suite->nruns),
                     .kin = mem_array(bool, suite->nruns)};
  for (size_t i = 0; i < suite->nruns; i++) {
    const RunInfo *run = &suite->runs[i];
    bool is_kin = bitset_has(&kin, t->kin[i]);
    if (!counts_as(run, VERDICT_PASS) || !(is_kin || t->weighs))
      continue;
    p->kin[p->n] = is_kin;
    p->runs[p->n++] = i;
    p->alike += is_kin;
    p->near += run->close == CLOSE_NEAR;
    p->random += run->close == CLOSE_RANDOM;
    p->apart += run->close == CLOSE_APART;
  }
  bitset_release(&kin);
}

static void passing_release(PassingRuns *p) {
  free(p->runs);
  free(p->kin);
}

// Adds one run to the weights of what it covers.
static void add_weight(Comparison *c, const Bitset *hits, double all,
                       double close) {
  const Suite *suite = c->suite;
  for (uint32_t e = 0; bitset_next(hits, &e) && e < suite->nentities; e++)
    c->weight[e] += CLOSE_KINDS & 1u << suite->entities[e].kind ? close : all;
}

// Counts the passing runs that are kin of a failing one; false: there are
// none. The others are left out, or count as strangers.
static bool count_kin(Comparison *c, const Tally *t,
                      const FailureGroup *group) {
  PassingRuns p;
  passing_find(&p, t, group);
  double stands_for = random_weight((uint32_t)p.n, p.near + p.apart, p.random);
  for (size_t i = 0; p.alike && i < p.n; i++) {
    const RunInfo *run = &c->suite->runs[p.runs[i]];
    const Bitset *hits = &t->hits[p.runs[i]];
    double weight = p.kin[i] ? 1 : STRANGER, close = weight;
    if (run->close == CLOSE_RANDOM)
      close *= stands_for;
    bitset_tally(hits, c->ep, c->suite->nentities);
    add_weight(c, hits, weight, close);
    c->close_weight += run->close ? close : 0;
  }
  if (p.alike) {
    c->passing = (uint32_t)p.n;
    c->strangers = c->passing - p.alike;
    c->close.passing = p.near + p.random;
  }
  passing_release(&p);
  return p.alike;
}

static void count_failing(Comparison *c, const Tally *t,
                          const FailureGroup *group) {
  for (size_t i = 0; i < group->nruns; i++) {
    uint32_t run = group->runs[i];
    if (!counts_as(&c->suite->runs[run], VERDICT_FAIL))
      continue;
    c->failing++;
    c->close.failing += c->suite->runs[run].close != CLOSE_NONE;
    c->sliced.failing += bitset_has(&t->sliced, run);
    bitset_tally(&t->hits[run], c->ef, c->suite->nentities);
  }
}

// How many runs of the suite with this verdict are in the stratum.
static uint32_t count_close(const Suite *suite, Verdict verdict,
                            CloseStratum stratum) {
  uint32_t n = 0;
  for (size_t i = 0; i < suite->nruns; i++)
    n += counts_as(&suite->runs[i], verdict) && suite->runs[i].close == stratum;
  return n;
}

// All passing runs, with or without those that only show other failures.
static void count_all(Comparison *c, const Tally *t, bool with_others) {
  const Suite *suite = t->suite;
  uint32_t random = count_close(suite, VERDICT_PASS, CLOSE_RANDOM);
  uint32_t near = count_close(suite, VERDICT_PASS, CLOSE_NEAR);
  uint32_t apart = count_close(suite, VERDICT_PASS, CLOSE_APART);
  c->passing = t->npass;
  if (with_others) {
    c->passing += t->nfail - c->failing;
    near += count_close(suite, VERDICT_FAIL, CLOSE_NEAR) +
            count_close(suite, VERDICT_FAIL, CLOSE_RANDOM) - c->close.failing;
  }
  double stands_for = random_weight(c->passing, near + apart, random);
  for (size_t e = 0; e < suite->nentities; e++) {
    bool close = CLOSE_KINDS & 1u << suite->entities[e].kind;
    c->ep[e] = t->pass[e] + (with_others ? t->fail[e] - c->ef[e] : 0);
    c->weight[e] = c->ep[e] + (close ? (stands_for - 1) * t->random[e] : 0);
  }
  c->close.passing = near + random;
  c->close_weight = near + apart + stands_for * random;
}

static void count_others(Comparison *c, const Tally *t) {
  c->others = t->nfail - c->failing;
  c->others_close = count_close(c->suite, VERDICT_FAIL, CLOSE_NEAR) +
                    count_close(c->suite, VERDICT_FAIL, CLOSE_RANDOM) -
                    c->close.failing;
}

void comparison_init(Comparison *c, const Tally *t, size_t failure,
                     bool others_pass) {
  const Suite *suite = t->suite;
  const FailureGroup *group = &suite->failures[failure];
  assert(!t->nshown || failure < t->nshown);
  const uint32_t *shown = t->nshown ? t->shown[failure] : NULL;
  *c = (Comparison){.suite = suite, .tally = t};
  c->ef = mem_array(uint32_t, suite->nentities);
  c->ep = mem_array(uint32_t, suite->nentities);
  c->weight = mem_array(double, suite->nentities);
  if (shown)
    memcpy(c->ef, shown, suite->nentities * sizeof *shown);
  count_failing(c, t, group);
  if (t->kin && !others_pass && count_kin(c, t, group))
    return;
  c->stand_in = !others_pass && !t->npass && t->nfail > c->failing;
  count_all(c, t, others_pass || c->stand_in);
  if (!others_pass && !c->stand_in)
    count_others(c, t);
}

void comparison_release(Comparison *c) {
  free(c->ef);
  free(c->ep);
  free(c->weight);
  *c = (Comparison){0};
}

RunCounts comparison_runs(const Comparison *c, EntityKind kind) {
  if (kind == ENTITY_SLICE)
    return c->sliced;
  return CLOSE_KINDS & 1u << kind ? c->close
                                  : (RunCounts){c->failing, c->passing};
}

bool comparison_tells(const Comparison *c, EntityKind kind) {
  RunCounts runs = comparison_runs(c, kind);
  return runs.failing && (runs.passing || kind == ENTITY_SLICE);
}

double comparison_others(const Comparison *c, size_t e) {
  bool close = CLOSE_KINDS & 1u << c->suite->entities[e].kind;
  uint32_t runs = close ? c->others_close : c->others;
  return runs ? (double)(c->tally->fail[e] - c->ef[e]) / runs : 1;
}

// `part` of `seen`, as a part of `all`.
static double scaled(double part, double seen, double all) {
  return seen == all ? part : seen > 0 ? part * all / seen : 0;
}

Counts comparison_counts(const Comparison *c, size_t e) {
  EntityKind kind = c->suite->entities[e].kind;
  double passing = weighed(c->passing, c->strangers);
  bool close = CLOSE_KINDS & 1u << kind;
  double ef = scaled(c->ef[e], comparison_runs(c, kind).failing, c->failing);
  double ep = scaled(c->weight[e], close ? c->close_weight : passing, passing);
  return (Counts){
      .ef = ef, .ep = ep, .nf = c->failing - ef, .np = passing - ep};
}
