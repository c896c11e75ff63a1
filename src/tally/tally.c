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
  for (size_t i = 0; t->suite && i < t->suite->nruns; i++)
    bitset_release(&t->hits[i]);
  free(t->hits);
  free(t->kin);
  bitset_release(&t->executed);
  *t = (Tally){0};
}

void tally_add(Tally *t, size_t run, const Bitset *hits) {
  assert(run < t->suite->nruns);
  const RunInfo *info = &t->suite->runs[run];
  if (!info->has_spectrum)
    return;
  bitset_union(&t->executed, hits);
  if (info->verdict == VERDICT_PASS) {
    bitset_tally(hits, t->pass, t->suite->nentities);
    if (t->kin)
      bitset_union(&t->hits[run], hits);
  }
  if (info->verdict != VERDICT_FAIL)
    return;
  bitset_tally(hits, t->fail, t->suite->nentities);
  bitset_union(&t->hits[run], hits);
}

static void add_spectrum(void *ctx, size_t run, const Bitset *hits) {
  tally_add(ctx, run, hits);
}

int tally_load(Tally *t, Store *store, unsigned kinds, Err *err) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (kinds & 1u << k && store_each_spectrum(store, t->suite, (EntityKind)k,
                                               add_spectrum, t, err))
      return -1;
  return 0;
}

static Bitset kin_of(const Tally *t, const FailureGroup *group) {
  Bitset kin = {0};
  for (size_t i = 0; i < group->nruns; i++)
    bitset_add(&kin, t->kin[group->runs[i]]);
  return kin;
}

// Counts the passing runs that are kin of a failing one; false: there are
// none. The others are left out, or count as strangers.
static bool count_kin(Comparison *c, const Tally *t,
                      const FailureGroup *group) {
  const Suite *suite = t->suite;
  Bitset kin = kin_of(t, group);
  uint32_t alike = 0;
  for (size_t i = 0; i < suite->nruns; i++) {
    bool is_kin = bitset_has(&kin, t->kin[i]);
    if (!counts_as(&suite->runs[i], VERDICT_PASS) || !(is_kin || t->weighs))
      continue;
    alike += is_kin;
    c->passing++;
    bitset_tally(&t->hits[i], c->ep, suite->nentities);
    if (!is_kin)
      bitset_tally(&t->hits[i], c->es, suite->nentities);
  }
  c->strangers = c->passing - alike;
  bitset_release(&kin);
  return alike;
}

static void forget_kin(Comparison *c, size_t nentities) {
  c->passing = c->strangers = 0;
  memset(c->ep, 0, nentities * sizeof *c->ep);
  memset(c->es, 0, nentities * sizeof *c->es);
}

void comparison_init(Comparison *c, const Tally *t, size_t failure,
                     bool others_pass) {
  const Suite *suite = t->suite;
  const FailureGroup *group = &suite->failures[failure];
  size_t n = suite->nentities;
  *c = (Comparison){0};
  c->ef = mem_array(uint32_t, n);
  c->ep = mem_array(uint32_t, n);
  c->es = mem_array(uint32_t, n);
  for (size_t i = 0; i < group->nruns; i++) {
    if (!counts_as(&suite->runs[group->runs[i]], VERDICT_FAIL))
      continue;
    c->failing++;
    bitset_tally(&t->hits[group->runs[i]], c->ef, n);
  }
  if (t->kin && !others_pass && count_kin(c, t, group))
    return;
  forget_kin(c, n);
  uint32_t others = t->nfail - c->failing;
  c->stand_in = !others_pass && !t->npass && others;
  bool with_others = others_pass || c->stand_in;
  c->passing = t->npass + (with_others ? others : 0);
  for (size_t e = 0; e < n; e++)
    c->ep[e] = t->pass[e] + (with_others ? t->fail[e] - c->ef[e] : 0);
}

void comparison_release(Comparison *c) {
  free(c->ef);
  free(c->ep);
  free(c->es);
  *c = (Comparison){0};
}

static double weighed(uint32_t all, uint32_t strangers) {
  return all - 0.875 * strangers;
}

Counts comparison_counts(const Comparison *c, size_t e) {
  double ep = weighed(c->ep[e], c->es[e]);
  return (Counts){.ef = c->ef[e],
                  .ep = ep,
                  .nf = c->failing - c->ef[e],
                  .np = weighed(c->passing, c->strangers) - ep};
}
