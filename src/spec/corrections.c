// Statements that alone could be wrong: see corrections.h.
#include "spec/corrections.h"

#include <stdlib.h>
#include <string.h>

#include "util/clock.h"

static bool is_broken(const Violation *v, uint32_t clause) {
  for (size_t i = 0; i < v->nbroken; i++)
    if (v->broken[i] == clause)
      return true;
  return false;
}

// Clause `only` and all that were not broken; UINT32_MAX: all clauses.
static Bitset wanted(const CorrectionsTask *t, uint32_t only) {
  Encoder *e = t->encoder;
  const ContractTable *table = &t->violation->table;
  Bitset all = {0};
  for (uint32_t k = 0; k < table->nclauses; k++)
    if (table->clauses[k].kind != CLAUSE_REQUIRES && encoder_clause(e, k) &&
        (only == UINT32_MAX || only == k || !is_broken(t->violation, k)))
      bitset_add(&all, k);
  return all;
}

static bool has(const StatementList *l, uint32_t statement) {
  for (size_t i = 0; i < l->len; i++)
    if (l->items[i] == statement)
      return true;
  return false;
}

typedef struct {
  const CorrectionsTask *task;
  double deadline;
  bool elsewhere;
} Search;

// Asks about each of `left`, the last of the run first: the less of the run
// comes after it, the less is open without it. Leaves those without an answer.
static void ask_all(const Search *s, const Bitset *clauses, unsigned way,
                    StatementList *left, StatementList *out) {
  size_t kept = left->len;
  for (size_t i = left->len; i-- > 0;) {
    CoreQuestion q = {.run = s->task->encoder,
                      .clauses = clauses,
                      .elsewhere = s->elsewhere,
                      .way = way,
                      .seconds = s->deadline - clock_now()};
    SolverResult r =
        q.seconds > 0 ? core_ask_without(&q, left->items[i]) : SOLVER_UNKNOWN;
    if (r == SOLVER_SAT)
      array_push(out, left->items[i]);
    else if (r == SOLVER_UNKNOWN)
      left->items[--kept] = left->items[i];
  }
  left->len -= kept;
  memmove(left->items, left->items + kept, left->len * sizeof *left->items);
}

// Adds those of `among` with which alone the clauses can hold, and to `open`
// those about which there is no answer.
static void search(const Search *s, Bitset clauses, const StatementList *among,
                   StatementList *out, StatementList *open) {
  StatementList left = {0};
  for (size_t i = 0; i < among->len; i++)
    if (!has(out, among->items[i]))
      array_push(&left, among->items[i]);
  for (unsigned way = 0; way < CORE_WAYS && left.len; way++)
    ask_all(s, &clauses, way, &left, out);
  for (size_t i = 0; i < left.len; i++)
    if (!has(open, left.items[i]))
      array_push(open, left.items[i]);
  array_release(&left);
  bitset_release(&clauses);
}

// The statements that all cores have.
static void common(const CorrectionsTask *t, StatementList *out) {
  const StatementList *first = &t->cores.items[0]->statements;
  for (size_t i = 0; i < first->len; i++) {
    bool all = true;
    for (size_t k = 1; k < t->cores.len; k++)
      all &= has(&t->cores.items[k]->statements, first->items[i]);
    if (all)
      array_push(out, first->items[i]);
  }
}

// Some broken clause each: where there is more than one fault.
static void search_each(const Search *s, Corrections *out) {
  const CorrectionsTask *t = s->task;
  for (size_t i = 0; i < t->cores.len; i++)
    search(s, wanted(t, t->violation->broken[i]),
           &t->cores.items[i]->statements, &out->statements, &out->open);
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

// No other value does: perhaps an assignment to the wrong place. Such a one
// need not be in a core.
static void search_elsewhere(Search *s, Corrections *out) {
  const Encoder *e = s->task->encoder;
  StatementList among = {0};
  for (uint32_t i = 0; i < e->statements.len; i++)
    if (e->statements.items[i].ran && e->statements.items[i].assigns)
      array_push(&among, i);
  s->elsewhere = true;
  search(s, wanted(s->task, UINT32_MAX), &among, &out->statements, &out->open);
  s->elsewhere = false;
  out->open.len = 0;
  out->elsewhere = out->statements.len > 0;
  array_release(&among);
}

void corrections_find(const CorrectionsTask *t, Corrections *out) {
  Search s = {.task = t, .deadline = clock_now() + t->seconds};
  StatementList among = {0};
  *out = (Corrections){0};
  if (!t->cores.len)
    return;
  common(t, &among);
  search(&s, wanted(t, UINT32_MAX), &among, &out->statements, &out->open);
  if (!out->statements.len && !out->open.len)
    search_elsewhere(&s, out);
  out->whole = out->statements.len || out->open.len;
  if (!out->whole && t->cores.len > 1)
    search_each(&s, out);
  if (out->statements.len)
    qsort(out->statements.items, out->statements.len, sizeof(uint32_t),
          by_number);
  array_release(&among);
}

void corrections_release(Corrections *c) {
  array_release(&c->statements);
  array_release(&c->open);
}

void corrections_check(const CorrectionsTask *t, bool elsewhere,
                       const StatementList *among, StatementList *out) {
  Search s = {
      .task = t, .deadline = clock_now() + t->seconds, .elsewhere = elsewhere};
  StatementList open = {0};
  search(&s, wanted(t, UINT32_MAX), among, out, &open);
  for (size_t i = 0; i < open.len; i++)
    array_push(out, open.items[i]);
  array_release(&open);
}
