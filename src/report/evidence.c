// Why a suspect is suspected: see evidence.h.
#include "report/evidence.h"
#include "history/last_changes.h"

#include <stdlib.h>
#include <string.h>

#include "locate/try_note.h"
#include "model/condition.h"
#include "util/fs.h"
#include "util/mem.h"

enum { STEPS_SHOWN = 3 }; // from the line to where the failure showed

static void add(EvidenceList *out, const char *kind, char *text) {
  array_push(out, (Evidence){.kind = kind, .text = text});
}

// --- deaths -----------------------------------------------------------------

static bool same_death(const DeathAt *a, const DeathAt *b) {
  return a->depth == b->depth && !strcmp(a->how, b->how) &&
         a->exact == b->exact;
}

static char *describe_death(const DeathAt *at, size_t runs) {
  const char *many = runs == 1 ? "" : "s";
  if (!at->depth)
    return mem_printf("%zu run%s died %s: %s", runs, many,
                      at->exact ? "here" : "here or close by", at->how);
  return at->depth == 1 ? mem_printf("%zu run%s died in a call from here: %s",
                                     runs, many, at->how)
                        : mem_printf("%zu run%s died %u calls below: %s", runs,
                                     many, at->depth, at->how);
}

// The calls that led to a death here.
static void add_callers(const Suite *suite, const char *callers,
                        EvidenceList *out) {
  enum { SHOWN = 5 };
  DeathCaller c;
  for (size_t n = 0; n < SHOWN && death_caller(&callers, &c); n++) {
    char *file = mem_printf("%.*s", (int)c.file_size, c.file);
    bool named = c.function_size != 1 || *c.function != '-';
    add(out, EVIDENCE_CALLER,
        mem_printf("called from %s:%u%s%.*s", suite_shown(suite, file), c.line,
                   named ? " in " : "", named ? (int)c.function_size : 0,
                   c.function));
    free(file);
  }
}

void evidence_callers(const Suite *suite, const Deaths *d, size_t failure,
                      EvidenceList *out) {
  add_callers(suite, deaths_callers(d, suite, failure), out);
}

void evidence_deaths(const Suite *suite, const Deaths *d, size_t failure,
                     const Entity *e, EvidenceList *out) {
  size_t n, i = deaths_at(d, e->source, e->line, &n), end = i + n;
  while (i < end) {
    const DeathAt *first = &d->items.items[i];
    size_t runs = 0;
    uint32_t last = UINT32_MAX; // several processes of one run count once
    const char *callers = NULL; // of the first run that shows the failure
    for (; i < end && same_death(first, &d->items.items[i]); i++) {
      uint32_t run = d->items.items[i].run;
      bool shows = death_of(suite, failure, &d->items.items[i]);
      runs += run != last && shows;
      if (shows && !callers)
        callers = d->items.items[i].callers;
      last = run;
    }
    if (!runs)
      continue;
    add(out, "death", describe_death(first, runs));
    if (!first->depth)
      add_callers(suite, callers, out);
  }
}

// --- tuples -----------------------------------------------------------------

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && !strcmp(a, b));
}

// What a reader would take for the same as another one on the line.
static const char *shown_name(const Entity *e) {
  return e->kind == ENTITY_RETURN ? e->name : e->text;
}

static bool is_twin(const Entity *x, const Entity *e) {
  return x->kind == e->kind && x->line == e->line && x->source == e->source &&
         x->index != e->index && same_text(shown_name(x), shown_name(e));
}

// Does the line have another condition or relation of this text, or another
// call of this function? The entities of a function stand together.
static bool has_twin(const Suite *suite, const Entity *e) {
  const Entity *first = suite->entities, *end = first + suite->nentities;
  for (const Entity *x = e; x < end && x->function == e->function; x++)
    if (is_twin(x, e))
      return true;
  for (const Entity *x = e; x >= first && x->function == e->function; x--)
    if (is_twin(x, e))
      return true;
  return false;
}

// Its number among them, from 1, in the order of the source.
static uint32_t number_of(const Suite *suite, const Entity *e) {
  uint32_t number = 1, last = e->index;
  for (const Entity *x = e; x >= suite->entities && x->function == e->function;
       x--)
    if (is_twin(x, e) && x->index < last) {
      last = x->index;
      number++;
    }
  return number;
}

static Which which_of(const Suite *suite, const Entity *e) {
  if (!has_twin(suite, e))
    return (Which){0};
  return e->col_lo ? (Which){.column = e->col_lo}
                   : (Which){.number = number_of(suite, e)};
}

static void add_return(const Suite *suite, const Entity *e, Str *out) {
  str_add(out, "when the call");
  if (e->name)
    str_addf(out, " of %s", e->name);
  uint32_t column = e->name ? which_of(suite, e).column : e->col_lo;
  if (column)
    str_addf(out, " at column %u", column);
  if (e->from == RETURN_CONSTANT)
    str_add(out, " always returns the same");
  else if (e->from == RETURN_NON_CONSTANT)
    str_add(out, " does not always return the same");
  else
    str_addf(out, " returns %s", return_class_name((ReturnClass)e->from));
}

// --- what a closer look saw -------------------------------------------------

// Where the source does not tell what was compared.
static const char *outcome_text(RelationOutcome outcome) {
  static const char *const texts[RELATION_OUTCOMES] = {
      [RELATION_LESS] = "the left operand is less than the right one",
      [RELATION_EQUAL] = "both operands are equal",
      [RELATION_GREATER] = "the left operand is greater than the right one",
      [RELATION_UNORDERED] = "an operand is not a number",
      [RELATION_NULL] = "the pointer is null",
      [RELATION_NON_NULL] = "the pointer is not null",
      [RELATION_NEGATIVE] = "the value is negative",
      [RELATION_ZERO] = "the value is zero",
      [RELATION_POSITIVE] = "the value is positive",
      [RELATION_SAME] = "the value stays the same",
      [RELATION_CHANGED] = "the value changes",
      [RELATION_DIFFERENT] = "the operands differ"};
  return texts[outcome];
}

static void add_relation(const Suite *suite, const Entity *e, Str *out) {
  str_addf(out, "when %s",
           e->text ? e->text : outcome_text((RelationOutcome)e->from));
  uint32_t column = which_of(suite, e).column;
  if (column)
    str_addf(out, " at column %u", column);
  else
    str_add(out, " here");
}

// `f(x)` and `f()`, but not `(*p)`: model/access.h.
static const char *parameter_of(const char *name) {
  size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz"
                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return n && name[n] == '(' && text_ends(name, ")") ? name + n + 1 : NULL;
}

// "the value of `limit`", "the value of parameter `n` of `fill`", "the result of
// `fill`"
static void add_value(const Entity *pair, Str *out) {
  const char *name = pair->name;
  const char *parameter = name ? parameter_of(name) : NULL;
  if (!parameter) {
    str_add(out, "the value");
    if (name)
      str_addf(out, " of `%s`", name);
    return;
  }
  int function = (int)(parameter - 1 - name), n = (int)strlen(parameter) - 1;
  if (n)
    str_addf(out, "the value of parameter `%.*s` of `%.*s`", n, parameter,
             function, name);
  else
    str_addf(out, "the result of `%.*s`", function, name);
}

// "at line 131", "at other.c:131", of one end of a pair seen from the other.
static void add_end(const Suite *suite, uint32_t end, uint32_t from, Str *out) {
  const Entity *e = &suite->entities[end], *f = &suite->entities[from];
  if (e->source != f->source)
    str_addf(out, "at %s:%u", suite_path(suite, e->source), e->line);
  else if (e->line != f->line)
    str_addf(out, "at line %u", e->line);
  else
    str_add(out, "on the same line");
}

static void add_pair(const Suite *suite, const Entity *e, Str *out) {
  add_value(e, out);
  str_add(out, " set here is used ");
  add_end(suite, e->to, e->from, out);
}

// Of a page, the pieces that a fault of its HTML names.
static void add_slice(const Suite *suite, Str *out) {
  bool page = suite->command && text_starts(suite->command, "culprit web ");
  str_add(out, page ? "the faulty part of the page"
                    : "the first wrong byte of the output");
  str_add(out, " depends on this line");
}

void evidence_tuple(const Suite *suite, uint32_t entity, Str *out) {
  const Entity *e = &suite->entities[entity];
  if (e->kind == ENTITY_CONDITION) {
    str_add(out, "when ");
    condition_add(e, which_of(suite, e), out);
  } else if (e->kind == ENTITY_RETURN) {
    add_return(suite, e, out);
  } else if (e->kind == ENTITY_RELATION) {
    add_relation(suite, e, out);
  } else if (e->kind == ENTITY_PAIR) {
    str_add(out, "when ");
    add_pair(suite, e, out);
  } else if (e->kind == ENTITY_SLICE) {
    add_slice(suite, out);
  } else {
    str_addf(out, "line %u", e->line);
  }
}

// --- numbers of runs --------------------------------------------------------

static const char *other_runs(const Ranking *r) {
  return r->stand_in ? "other failing" : "passing";
}

void evidence_runs(const Ranking *r, uint32_t ef, uint32_t ep, Str *out) {
  str_addf(out, "%u of %u failing, %u of %u %s runs", ef, r->failing, ep,
           r->passing, other_runs(r));
}

// The numbers are those of some of the runs: say so.
static void add_looked_at(const Ranking *r, RunCounts of, Str *out) {
  if (of.failing != r->failing || of.passing != r->passing)
    str_add(out, " looked at");
}

// " in 15 of 15 failing and 3 of 120 passing runs looked at"
static void add_in_runs(const Ranking *r, RunCounts of, uint32_t ef,
                        uint32_t ep, Str *out) {
  str_addf(out, " in %u of %u failing and %u of %u %s runs", ef, of.failing, ep,
           of.passing, other_runs(r));
  add_looked_at(r, of, out);
}

void evidence_covers(const Suite *suite, const Ranking *r, uint32_t entity,
                     uint32_t ef, uint32_t ep, Str *out) {
  const Entity *e = &suite->entities[entity];
  RunCounts of = ranking_runs(r, e->kind);
  if (e->kind == ENTITY_PAIR) {
    add_pair(suite, e, out);
    add_in_runs(r, of, ef, ep, out);
  } else if (e->kind == ENTITY_SLICE) {
    add_slice(suite, out);
    str_addf(out, " in %u of %u failing runs looked at", ef, of.failing);
  } else {
    evidence_tuple(suite, entity, out);
    str_addf(out, ": %u of %u failing, %u of %u %s runs", ef, of.failing, ep,
             of.passing, other_runs(r));
    add_looked_at(r, of, out);
  }
}

void evidence_use(const Suite *suite, const Ranking *r, uint32_t pair,
                  uint32_t ef, uint32_t ep, Str *out) {
  const Entity *e = &suite->entities[pair];
  str_add(out, "uses ");
  add_value(e, out);
  str_add(out, " set ");
  add_end(suite, e->from, e->to, out);
  add_in_runs(r, ranking_runs(r, e->kind), ef, ep, out);
}

// What covering `by`, an entity that belongs to the suspect, says.
static void add_voice(const Suite *suite, const Ranking *r, const Suspect *s,
                      uint32_t by, uint32_t ef, uint32_t ep,
                      EvidenceList *out) {
  const Entity *listed = &suite->entities[s->entity];
  const Entity *e = &suite->entities[by];
  if (e->kind == ENTITY_BLOCK || e->kind == ENTITY_EDGE)
    return;
  Str text = {0};
  // Of a function, or of a line without a statement: where it is.
  if (e->kind != ENTITY_STATEMENT && e->line != listed->line)
    str_addf(&text, "line %u, ", e->line);
  evidence_covers(suite, r, by, ef, ep, &text);
  array_push(out, (Evidence){.kind = entity_kind_name(e->kind),
                             .text = str_take(&text),
                             .ef = ef,
                             .ep = ep,
                             .of = ranking_runs(r, e->kind)});
}

// --- from the line to where the failure showed ------------------------------

static const Suspect *suspect_of(const Ranking *r, uint32_t entity) {
  for (size_t i = 0; i < r->suspects.len; i++)
    if (r->suspects.items[i].entity == entity)
      return &r->suspects.items[i];
  return NULL;
}

// "the value of `n` set here is used at line 9", "this line decides whether
// test.c:12 is executed"
static void add_step(const Suite *suite, const Suspect *s, bool first,
                     Str *out) {
  const Entity *to = &suite->entities[s->next];
  if (s->step != ENTITY_NONE) {
    add_value(&suite->entities[s->step], out);
    str_addf(out, " set %s is used ", first ? "here" : "there");
    add_end(suite, s->next, s->entity, out);
    return;
  }
  str_addf(out, "%s line decides whether ", first ? "this" : "that");
  if (to->source == suite->entities[s->entity].source)
    str_addf(out, "line %u is executed", to->line);
  else
    str_addf(out, "%s:%u is executed", suite_path(suite, to->source), to->line);
}

static void add_steps(const Suite *suite, const Ranking *r, const Suspect *s,
                      EvidenceList *out) {
  Str text = {0};
  if (!s->steps)
    str_add(&text, "the failure shows here");
  else
    str_add(&text, "in failing runs ");
  for (const Suspect *at = s; at && at->steps; at = suspect_of(r, at->next)) {
    if (at != s)
      str_add(&text, "; ");
    add_step(suite, at, at == s, &text);
    if (at->steps == 1)
      str_add(&text, ", where the failure shows");
  }
  add(out, "dependence", str_take(&text));
}

// --- all of it ---------------------------------------------------------------

static bool is_told(const Suspect *s, uint32_t entity) {
  return s->told && s->teller == entity;
}

static bool is_outcome(const Entity *e) {
  return e->kind == ENTITY_CONDITION || e->kind == ENTITY_RELATION;
}

// `a` equals `b` in the runs in which `a == b` is true: that one is enough.
static bool is_carrier_told(const Suite *suite, const Suspect *s) {
  return is_told(s, s->carrier) ||
         (s->told && is_outcome(&suite->entities[s->teller]) &&
          is_outcome(&suite->entities[s->carrier]) &&
          s->told_ef == s->carrier_ef && s->told_ep == s->carrier_ep);
}

// Where lines are weighed, most hints only repeat the rest in weaker words.
static bool is_hint_told(const Suite *suite, const Suspect *s) {
  return s->hinted && !is_told(s, s->hinter) &&
         (!s->weighed || suite->entities[s->hinter].kind == ENTITY_RETURN);
}

// What the suspect carries with it; when its line was changed comes last.
static void add_own(const Suspect *s, bool changes, EvidenceList *out) {
  for (size_t i = 0; i < s->evidence.len; i++) {
    const Evidence *e = &s->evidence.items[i];
    if (changes == !strcmp(e->kind, EVIDENCE_CHANGE))
      add(out, e->kind, mem_strdup(e->text));
  }
}

void evidence_gather(const Suite *suite, const Deaths *deaths, const Ranking *r,
                     const Suspect *s, EvidenceList *out) {
  add_own(s, false, out);
  if (s->told && !s->explained)
    add_voice(suite, r, s, s->teller, s->told_ef, s->told_ep, out);
  if (s->carried && !s->explained && !is_carrier_told(suite, s))
    add_voice(suite, r, s, s->carrier, s->carrier_ef, s->carrier_ep, out);
  if (is_hint_told(suite, s))
    add_voice(suite, r, s, s->hinter, s->hinter_ef, s->hinter_ep, out);
  if (s->slice_ef)
    add_voice(suite, r, s, s->slice, s->slice_ef, 0, out);
  if (r->checked && s->steps <= STEPS_SHOWN)
    add_steps(suite, r, s, out);
  Str text = {0};
  evidence_runs(r, s->ef, s->ep, &text);
  add(out, "coverage", str_take(&text));
  const Entity *e = &suite->entities[s->entity];
  if (e->kind == ENTITY_STATEMENT || e->kind == ENTITY_FUNCTION)
    evidence_deaths(suite, deaths, r->failure, e, out);
  const char *compiled = suite_compiled(suite, e);
  if (compiled)
    add(out, "compiled", mem_printf("compiled to %s", compiled));
  add_own(s, true, out);
}

void evidence_release(EvidenceList *list) {
  for (size_t i = 0; i < list->len; i++)
    free(list->items[i].text);
  array_release(list);
}
