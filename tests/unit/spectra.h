// For tests of localizers that see several kinds of one run at once: the runs
// of a World as Spectra, and suspects by entity.
#ifndef CULPRIT_TESTS_UNIT_SPECTRA_H
#define CULPRIT_TESTS_UNIT_SPECTRA_H

#include <math.h>

// A test uses of all this what it needs.
#pragma GCC diagnostic ignored "-Wunused-function"
#include "world.h"

#include "model/ranking.h"
#include "store/store.h"

static Spectra world_spectra(const World *w, size_t run) {
  Spectra s = {0};
  for (uint32_t e = 0; bitset_next(&w->hits[run], &e); e++)
    bitset_add(&s.hits[w->entities[e].kind], e);
  return s;
}

static void spectra_release(Spectra *s) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    bitset_release(&s->hits[k]);
}

static void expect_near(double got, double want, double tolerance) {
  if (!(fabs(got - want) <= tolerance))
    fail_msg("got %.12g, want %.12g", got, want);
}

static const Suspect *suspect_of(const Ranking *r, uint32_t entity) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (r->suspects.items[i].entity == entity)
      return &r->suspects.items[i];
  fail_msg("entity %u is not listed", entity);
  return NULL;
}

static bool says(const Suspect *s, const char *kind, const char *words) {
  for (size_t i = 0; i < s->evidence.len; i++)
    if (!strcmp(s->evidence.items[i].kind, kind) &&
        strstr(s->evidence.items[i].text, words))
      return true;
  return false;
}

static bool notes(const Ranking *r, const char *kind, const char *words) {
  for (size_t i = 0; i < r->notes.len; i++)
    if (!strcmp(r->notes.items[i].kind, kind) &&
        strstr(r->notes.items[i].text, words))
      return true;
  return false;
}

static void expect_finite(const Ranking *r) {
  for (size_t i = 0; i < r->suspects.len; i++)
    assert_true(isfinite(r->suspects.items[i].score));
}

// A generator of small numbers, the same on every machine.
static uint32_t draw(uint64_t *state, uint32_t below) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

#endif
