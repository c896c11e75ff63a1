// Spectrum-based localization: see spectrum.h.
#include "locate/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "locate/failed_check.h"
#include "locate/listing.h"
#include "tally/lacking.h"
#include "tally/order.h"
#include "tally/owner.h"
#include "tally/weigh.h"
#include "util/mem.h"
#include "util/str.h"

unsigned spectrum_kinds(const SpectrumOptions *o) {
  return o->entities ? o->entities : 1u << o->by;
}

// --- what is listed ---------------------------------------------------------

static void name_kinds(unsigned kinds, Str *out) {
  for (int k = 0; k < ENTITY_KINDS; k++)
    if (kinds & 1u << k)
      str_addf(out, "%s%s", out->len ? ", " : "",
               entity_kind_name((EntityKind)k));
  if (!out->len)
    str_add(out, "none");
}

static int missing_kind(const Suite *suite, EntityKind kind, unsigned present,
                        Err *err) {
  Str names = {0};
  name_kinds(present, &names);
  err_set(err, "session %lld has no %s entities (it has: %s): %s",
          (long long)suite->session, entity_kind_name(kind), str_text(&names),
          lacking_reason(suite, kind));
  str_release(&names);
  return -1;
}

static int check_kinds(const Suite *suite, const SpectrumOptions *o, Err *err) {
  unsigned present = kinds_present(suite);
  unsigned needed = spectrum_kinds(o) | 1u << o->by;
  for (int k = 0; k < ENTITY_KINDS; k++) {
    const char *name = entity_kind_name((EntityKind)k);
    if (!(needed & 1u << k))
      continue;
    if (!(present & 1u << k))
      return missing_kind(suite, (EntityKind)k, present, err);
    if (!owner_kind((EntityKind)k, o->by))
      return err_set(err, "--by %s cannot be scored by --entities %s",
                     entity_kind_name(o->by), name);
  }
  return 0;
}

typedef struct {
  const Suite *suite;
  uint32_t *place; // per source: its place when sorted by shown path
} SourceOrder;

static int by_path(const void *a, const void *b, void *ctx) {
  const Suite *suite = ctx;
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  int c = strcmp(suite_path(suite, x), suite_path(suite, y));
  return c ? c : x < y ? -1 : x > y;
}

static SourceOrder source_order(const Suite *suite) {
  SourceOrder o = {suite, mem_array(uint32_t, suite->nsources)};
  uint32_t *sorted = mem_array(uint32_t, suite->nsources);
  for (size_t i = 0; i < suite->nsources; i++)
    sorted[i] = (uint32_t)i;
  qsort_r(sorted, suite->nsources, sizeof *sorted, by_path, (void *)suite);
  for (size_t i = 0; i < suite->nsources; i++)
    o.place[sorted[i]] = (uint32_t)i;
  free(sorted);
  return o;
}

static int compare_u32(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int by_source(const void *a, const void *b, void *ctx) {
  const SourceOrder *o = ctx;
  uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
  const Entity *x = &o->suite->entities[i], *y = &o->suite->entities[j];
  int c = compare_u32(o->place[x->source], o->place[y->source]);
  if (!c)
    c = compare_u32(x->line, y->line);
  if (!c)
    c = compare_u32(x->col_lo, y->col_lo);
  if (!c)
    c = compare_u32(x->index, y->index);
  return c ? c : compare_u32(i, j);
}

static void list_entities(Spectrum *s) {
  const Suite *suite = s->suite;
  bool *taken = mem_array(bool, suite->nsources);
  for (size_t i = 0; i < suite->nsources; i++)
    taken[i] = filter_takes(&s->options.filter, suite_path(suite, (uint32_t)i));
  s->listed = mem_array(uint32_t, suite->nentities);
  for (size_t i = 0; i < suite->nentities; i++) {
    const Entity *e = &suite->entities[i];
    if (e->kind == s->options.by && taken[e->source])
      s->listed[s->nlisted++] = (uint32_t)i;
  }
  free(taken);
  SourceOrder order = source_order(suite);
  qsort_r(s->listed, s->nlisted, sizeof *s->listed, by_source, &order);
  free(order.place);
}

static void find_owners(Spectrum *s) {
  const Suite *suite = s->suite;
  unsigned kinds = spectrum_kinds(&s->options);
  uint32_t *place = mem_array(uint32_t, suite->nentities); // in listed, plus 1
  for (size_t i = 0; i < s->nlisted; i++)
    place[s->listed[i]] = (uint32_t)i + 1;
  s->owner = owners_find(suite, s->options.by, kinds);
  for (size_t i = 0; i < suite->nentities; i++) {
    uint32_t owner = s->owner[i];
    s->owner[i] = owner < suite->nentities && place[owner] ? place[owner] - 1
                                                           : ENTITY_NONE;
  }
  free(place);
}

static bool counts_steps(const Spectrum *s) {
  return s->options.steps && s->options.weigh &&
         s->options.by == ENTITY_STATEMENT &&
         spectrum_kinds(&s->options) & 1u << ENTITY_PAIR;
}

int spectrum_init(Spectrum *s, const Suite *suite, const SpectrumOptions *o,
                  Err *err) {
  *s = (Spectrum){.suite = suite, .options = *o};
  if (check_kinds(suite, o, err))
    return -1;
  list_entities(s);
  if (!s->nlisted) {
    spectrum_release(s);
    return err_set(err,
                   "--only and --exclude leave no source file of session "
                   "%lld to rank",
                   (long long)suite->session);
  }
  find_owners(s);
  if (counts_steps(s))
    dependences_find(&s->dependences, suite);
  return 0;
}

void spectrum_release(Spectrum *s) {
  free(s->listed);
  free(s->owner);
  dependences_release(&s->dependences);
  *s = (Spectrum){0};
}

size_t spectrum_executed(const Spectrum *s, const Tally *t) {
  Bitset seen = {0};
  for (size_t e = 0; e < s->suite->nentities; e++)
    if (s->owner[e] != ENTITY_NONE && bitset_has(&t->executed, (uint32_t)e))
      bitset_add(&seen, s->owner[e]);
  size_t n = bitset_count(&seen);
  bitset_release(&seen);
  return n;
}

// --- scoring ----------------------------------------------------------------

// Who may speak for a listed entity: itself, the best of what belongs to it,
// the best of what only breaks ties, its slice where that does, too, and what is
// best said of it.
typedef enum {
  VOICE_OWN,
  VOICE_BEST,
  VOICE_HINT,
  VOICE_SLICE,
  VOICE_TELLS,
  VOICES
} Voice;

typedef struct {
  Suspect by[VOICES]; // .entity is who speaks
  bool has[VOICES];
  double told_own; // score of the entity itself, as VOICE_TELLS has it
} Voices;

// Was there a closer look at runs of this failure, and does it count?
static bool is_weighed(const Spectrum *s, const Comparison *c) {
  return s->options.weigh && comparison_tells(c, ENTITY_RELATION) &&
         spectrum_kinds(&s->options) &
             (1u << ENTITY_RELATION | 1u << ENTITY_PAIR);
}

static Suspect suspect_of(const Spectrum *s, const Comparison *c, uint32_t e) {
  Counts n = comparison_counts(c, e);
  Suspect out = {.entity = e,
                 .confidence = confidence_of(n),
                 .ef = c->ef[e],
                 .ep = c->ep[e]};
  if (is_weighed(s, c)) {
    out.costs = weigh_entity(c, e);
    out.score = -costs_sum(&out.costs); // for now: weigh_lines()
  } else {
    out.score = s->options.formula(n);
  }
  return out;
}

static bool has_evidence(const Suspect *s) { return s->ef || s->ep; }

// Is `a` the better spokesman for the entity that both score?
static bool speaks_better(const Suspect *a, const Suspect *b) {
  if (has_evidence(a) != has_evidence(b))
    return has_evidence(a);
  if (!score_same(a->score, b->score))
    return a->score > b->score;
  return a->confidence > b->confidence;
}

static Voice voice_of(const Spectrum *s, uint32_t e) {
  if (s->listed[s->owner[e]] == e)
    return VOICE_OWN;
  EntityKind kind = s->suite->entities[e].kind;
  if (!(s->options.hints & 1u << kind))
    return VOICE_BEST;
  return kind == ENTITY_SLICE ? VOICE_SLICE : VOICE_HINT;
}

static void let_speak(Voices *at, Voice voice, Suspect suspect) {
  if (!at->has[voice] || speaks_better(&suspect, &at->by[voice]))
    at->by[voice] = suspect;
  at->has[voice] = true;
}

// How much a sentence about it says of the expressions on the line, if as many
// runs cover it: two values that are equal are at the edge of a comparison; a
// pair has the variable at best, and that a store leaves the value says less. That
// it changes it, which stores are for, says nothing. 0: of coverage.
static int specificity(const Entity *e) {
  bool compare = !e->name || !strcmp(e->name, "compare");
  if (e->kind == ENTITY_RELATION && !compare && e->from == RELATION_CHANGED)
    return 0;
  if (e->kind == ENTITY_RELATION && !compare && e->from == RELATION_SAME)
    return 1;
  switch (e->kind) {
  case ENTITY_RELATION:
    return compare && e->from == RELATION_EQUAL ? 6
           : compare                            ? 4
           : !strcmp(e->name, "store")          ? 3
                                                : 2;
  case ENTITY_CONDITION:
    return 5;
  case ENTITY_PAIR:
    return e->name ? 2 : 1;
  case ENTITY_RETURN:
    return 2;
  default:
    return 0;
  }
}

static bool tells_better(const Suite *suite, const Suspect *a,
                         const Suspect *b) {
  int more = specificity(&suite->entities[a->entity]) -
             specificity(&suite->entities[b->entity]);
  if (!score_same(a->score, b->score))
    return a->score > b->score;
  return more ? more > 0 : speaks_better(a, b);
}

// By the formula alone: weights are for lines.
static Suspect told_of(const Spectrum *s, const Comparison *c, uint32_t e) {
  Counts n = comparison_counts(c, e);
  return (Suspect){.entity = e,
                   .score = s->options.formula(n),
                   .confidence = confidence_of(n),
                   .ef = c->ef[e],
                   .ep = c->ep[e]};
}

static void let_tell(const Spectrum *s, const Comparison *c, uint32_t e,
                     Voices *at) {
  Suspect suspect = told_of(s, c, e);
  if (s->options.by != ENTITY_STATEMENT)
    return;
  if (s->listed[s->owner[e]] == e)
    at->told_own = suspect.score;
  if (!suspect.ef || !specificity(&s->suite->entities[e]))
    return;
  if (!at->has[VOICE_TELLS] ||
      tells_better(s->suite, &suspect, &at->by[VOICE_TELLS]))
    at->by[VOICE_TELLS] = suspect;
  at->has[VOICE_TELLS] = true;
}

// Where lines are weighed, evidence of any kind breaks ties, as if all kinds cost
// the same.
static void let_hint_evenly(Voices *at, Suspect suspect) {
  suspect.score += suspect.costs.kind;
  let_speak(at, VOICE_HINT, suspect);
}

static void let_score(const Spectrum *s, const Comparison *c, uint32_t e,
                      Voices *at) {
  Voice voice = voice_of(s, e);
  Suspect suspect = suspect_of(s, c, e);
  if (voice != VOICE_HINT || !is_weighed(s, c))
    let_speak(at, voice, suspect);
  if (voice != VOICE_SLICE && is_weighed(s, c))
    let_hint_evenly(at, suspect);
}

static bool is_known(const Spectrum *s, const Tally *t, const Comparison *c,
                     uint32_t e) {
  return s->owner[e] != ENTITY_NONE && bitset_has(&t->executed, e) &&
         comparison_tells(c, s->suite->entities[e].kind);
}

static Voices *score_all(const Spectrum *s, const Tally *t,
                         const Comparison *c) {
  Voices *candidates = mem_array(Voices, s->nlisted);
  for (uint32_t e = 0; e < s->suite->nentities; e++) {
    if (!is_known(s, t, c, e))
      continue;
    let_tell(s, c, e, &candidates[s->owner[e]]);
    if (!s->options.weigh || weigh_takes(&s->suite->entities[e]))
      let_score(s, c, e, &candidates[s->owner[e]]);
  }
  return candidates;
}

static bool is_heard(const Voices *c) {
  return c->has[VOICE_OWN] || c->has[VOICE_BEST] || c->has[VOICE_HINT];
}

static void let_carry(Suspect *s, const Suspect *by) {
  s->score = by->score;
  s->carried = true;
  s->carrier = by->entity;
  s->carrier_ef = by->ef;
  s->carrier_ep = by->ep;
}

static void let_hint(Suspect *s, const Suspect *by) {
  s->hint = by->score;
  s->hinted = by->entity != s->entity;
  s->hinter = by->entity;
  s->hinter_ef = by->ef;
  s->hinter_ep = by->ep;
}

// Unless executing the line tells more.
static void let_tell_first(Suspect *s, const Voices *c) {
  const Suspect *by = &c->by[VOICE_TELLS];
  s->told =
      c->has[VOICE_TELLS] && (!c->has[VOICE_OWN] || by->score > c->told_own ||
                              score_same(by->score, c->told_own));
  s->teller = by->entity;
  s->told_ef = by->ef;
  s->told_ep = by->ep;
}

// What is listed for a candidate: its own numbers if it has some, with the
// score of the best that speaks for it.
static Suspect settle(const Voices *c, uint32_t entity) {
  const Suspect *own = &c->by[VOICE_OWN], *best = &c->by[VOICE_BEST];
  const Suspect *hint = &c->by[VOICE_HINT], *voice = own;
  if (c->has[VOICE_BEST] && (!c->has[VOICE_OWN] || speaks_better(best, own)))
    voice = best;
  else if (!c->has[VOICE_OWN])
    voice = hint;
  Suspect out = c->has[VOICE_OWN] ? *own : *voice;
  out.own = out.score;
  out.entity = entity;
  if (voice != own)
    let_carry(&out, voice);
  out.hint = out.score;
  if (c->has[VOICE_HINT] && voice != hint && speaks_better(hint, voice) &&
      !score_same(hint->score, voice->score))
    let_hint(&out, hint);
  if (c->has[VOICE_SLICE]) {
    out.slice_ef = c->by[VOICE_SLICE].ef;
    out.slice = c->by[VOICE_SLICE].entity;
  }
  let_tell_first(&out, c);
  return out;
}

// What speaks with other runs than the rest does not give its counts away.
static void count_itself(const Comparison *c, Suspect *s) {
  bool close = CLOSE_KINDS & 1u << c->suite->entities[s->carrier].kind;
  if (!s->carried || !close)
    return;
  s->ef = c->ef[s->entity];
  s->ep = c->ep[s->entity];
}

static bool is_lexicographic(const SpectrumOptions *o) {
  return o->lexicographic || (spectrum_kinds(o) & (TUPLE_KINDS | CLOSE_KINDS));
}

void spectrum_order(const Spectrum *s, Ranking *r) {
  SuspectKey *const keys[] = {suspect_score, suspect_slice,      suspect_hint,
                              suspect_own,   suspect_confidence, suspect_prior,
                              suspect_near};
  if (is_lexicographic(&s->options))
    ranking_order_by(r, keys, sizeof keys / sizeof *keys);
  else
    ranking_order(r, s->options.confidence);
}

// For some formulas (op2, wong2) no evidence is a better score than bad
// evidence: bring such scores down to the lowest there is evidence for.
static void lower_unproven(Ranking *r) {
  double lowest = INFINITY;
  for (size_t i = 0; i < r->suspects.len; i++)
    if (has_evidence(&r->suspects.items[i]))
      lowest = fmin(lowest, r->suspects.items[i].score);
  for (size_t i = 0; i < r->suspects.len; i++) {
    Suspect *s = &r->suspects.items[i];
    if (!has_evidence(s)) {
      s->score = fmin(s->score, lowest);
      s->hint = fmin(s->hint, lowest);
      s->own = fmin(s->own, lowest);
    }
  }
}

// Finds how far each statement is from where the failure showed, if that is
// known.
static void find_steps(const Spectrum *s, const Comparison *c, size_t failure,
                       Steps *out) {
  NumberList checks = {0};
  failed_checks_find(c, s->options.deaths, failure, &checks);
  if (checks.len)
    steps_find(out, &s->dependences, c->ef, &checks);
  array_release(&checks);
}

static void take_steps(const Steps *from, Suspect *s) {
  if (!from->count)
    return;
  s->steps = from->count[s->entity];
  s->next = from->next[s->entity];
  s->step = from->pair[s->entity];
}

static void collect(const Spectrum *s, const Tally *t, const Comparison *c,
                    Ranking *out) {
  Voices *candidates = score_all(s, t, c);
  Steps steps = {0};
  if (counts_steps(s) && is_weighed(s, c))
    find_steps(s, c, out->failure, &steps);
  out->checked = steps.count != NULL;
  for (uint32_t i = 0; i < s->nlisted; i++) {
    if (!is_heard(&candidates[i]))
      continue;
    Suspect suspect = settle(&candidates[i], s->listed[i]);
    count_itself(c, &suspect);
    suspect.prior = deaths_nearness(s->options.deaths, s->suite, out->failure,
                                    s->listed[i]);
    suspect.test = suite_comes_last(s->suite, s->listed[i]);
    take_steps(&steps, &suspect);
    array_push(&out->suspects, suspect);
  }
  if (is_weighed(s, c))
    weigh_lines(c, spectrum_kinds(&s->options) & 1u << ENTITY_SLICE, out);
  steps_release(&steps);
  free(candidates);
}

static void note_strangers(const Comparison *c, Ranking *out) {
  if (!c->strangers)
    return;
  ranking_note(out, "endings",
               mem_printf("%u of the %u passing runs ended with a different "
                          "exit status from the failing runs and count one "
                          "eighth (--endings-alike: count them fully)",
                          c->strangers, c->passing));
}

// The session has what a closer look saw, but not of this failure.
static void note_unseen(const Spectrum *s, const Comparison *c, Ranking *out) {
  unsigned kinds = spectrum_kinds(&s->options);
  bool asked = kinds & (1u << ENTITY_RELATION | 1u << ENTITY_PAIR);
  if (!asked || comparison_tells(c, ENTITY_RELATION))
    return;
  ranking_note(out, "close",
               mem_printf("relations and pairs have no part in this ranking: "
                          "no %s run was looked at closely",
                          c->close.failing ? "passing" : "failing"));
}

void spectrum_rank(const Spectrum *s, const Tally *t, size_t failure,
                   Ranking *out) {
  Comparison c;
  comparison_init(&c, t, failure, s->options.others_pass);
  *out = (Ranking){.failure = failure,
                   .failing = c.failing,
                   .passing = c.passing,
                   .close = c.close,
                   .sliced = c.sliced,
                   .stand_in = c.stand_in};
  if (c.failing && c.passing) {
    collect(s, t, &c, out);
    note_strangers(&c, out);
    note_unseen(s, &c, out);
    lower_unproven(out);
    spectrum_order(s, out);
  }
  comparison_release(&c);
}
