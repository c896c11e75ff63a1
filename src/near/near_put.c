// Which of the differing variables at a branch matter: those that make the
// failing run pass when they get the values of the passing run (near.h).
//
//   if (a > limit) ...           here: a = 3, limit = 5, x = 7, p->len = 0
//                                passing: a = 9, limit = 6, x = 8, p->len = 2
//   all exchanged: passes        a, limit: passes; x, p->len: fails
//   a: passes; limit: fails      so it is a
//
// Zeller 2002, "Isolating cause-effect chains from computer programs", with
// ddmin (ddmin.h): each set is put into a run of the failing input that is
// stopped before the branch, and the run is judged when it ends. The result is
// 1-minimal: no single variable can be left out. Other such sets may exist.
//
// Values that vary between runs of the same input (times, random numbers,
// leftovers of the dynamic linker on the stack) are noise. A number is noise as
// a whole; of a table or a text only the varying bytes are, and the others are
// exchanged. Each run is executed twice to find noise; noise that shows up
// later is left out from then on.
//
// Bounds: RUNS_MAX runs for a branch, BRANCHES_MAX branches, SECONDS in all, or
// PER_CENT of the budget if that is more.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "near/near_internal.h"
#include "near/near_poke.h"
#include "util/clock.h"
#include "util/ddmin.h"
#include "util/mem.h"
#include "util/str.h"

enum {
  RUNS_MAX = 100,
  BRANCHES_MAX = 6,
  SECONDS = 6,
  PER_CENT = 60,
  BYTES_APART = 64, // places where a table differs, to be taken apart
  DIFFER_MAX = 64,  // variables that are reported
  SLOWER = 10,      // times the passing run, and a second: it hangs
};

// A variable, or a byte of one, that can be exchanged.
typedef struct {
  const AnswerCell *failing, *passing;
  size_t from, size; // bytes of it
  bool *noise;       // of each byte of the failing cell: it is not exchanged
} PutChoice;

typedef struct {
  Poker poker;
  Near *near;
  double end;
  NearMoment *moment;
  PokeAnswer failing, failing_again, passing, passing_again;
  ARRAY(PutChoice) choices;
  PutResult wanted;
  Err problem;
} Putter;

// --- what can be exchanged --------------------------------------------------

static char *cell_key(const AnswerCell *c) {
  return mem_printf("%d %s %s", c->frame, c->function, c->name);
}

// The bytes that count: of a text those up to its end.
static size_t used(const AnswerCell *c) {
  size_t n =
      c->kind == CELL_TEXT ? strnlen((const char *)c->bytes, c->size) + 1 : 0;
  return n && n <= c->size ? n : c->size;
}

static bool is_same(const AnswerCell *a, const AnswerCell *b) {
  return used(a) == used(b) && !memcmp(a->bytes, b->bytes, used(a));
}

static uint64_t number(const AnswerCell *c) {
  uint64_t v = 0;
  memcpy(&v, c->bytes, c->size < sizeof v ? c->size : sizeof v);
  return v;
}

// Is what the passing run has there good in the failing one? Of pointers null,
// and what is at the same place in every run.
static bool may_put(const Putter *p, const AnswerCell *f, const AnswerCell *q) {
  uint64_t to = number(q);
  if (f->kind != q->kind || used(q) > f->size)
    return false;
  if (f->kind != CELL_TEXT && f->size != q->size)
    return false;
  return f->kind != CELL_POINTER || !to ||
         (to >= p->passing.image && to < p->passing.image_end);
}

// Tables and texts: of these bytes are told apart.
static bool has_bytes(const AnswerCell *c) {
  return c->kind == CELL_TABLE || c->kind == CELL_TEXT;
}

// Would a byte of it change?
static bool changes(const PutChoice *c, size_t at) {
  return !c->noise[at] && c->failing->bytes[at] != c->passing->bytes[at];
}

static bool changes_any(const PutChoice *c) {
  size_t k = c->from;
  while (k < c->from + c->size && !changes(c, k))
    k++;
  return k < c->from + c->size;
}

static void choose(Putter *p, const AnswerCell *f, const AnswerCell *q,
                   bool *noise) {
  bool pointers = f->kind == CELL_POINTER && number(f) && number(q);
  PutChoice c = {f, q, 0, used(q), noise};
  if (is_same(f, q))
    return;
  if (may_put(p, f, q)) {
    if (changes_any(&c))
      array_push(&p->choices, c);
  } else if (!pointers) { // that two addresses differ means nothing
    p->moment->minimal.others++;
  }
}

static void index_cells(const PokeAnswer *a, Hashmap *out) {
  for (size_t i = 0; i < a->cells.len; i++) {
    char *key = cell_key(&a->cells.items[i]);
    hashmap_intern(out, key, strlen(key), i);
    free(key);
  }
}

// The cell of that name; NULL: there is none.
static const AnswerCell *find_cell(const PokeAnswer *a, const Hashmap *index,
                                   const char *key) {
  uint64_t i;
  return hashmap_get(index, key, strlen(key), &i) ? &a->cells.items[i] : NULL;
}

// Marks those of `n` bytes that the same run had otherwise. False: it is not to
// be exchanged at all.
static bool mark_noise(const AnswerCell *c, const AnswerCell *again,
                       bool *noise, size_t n) {
  bool same = true;
  for (size_t k = 0; k < n && k < c->size; k++) {
    bool varies = k >= again->size || c->bytes[k] != again->bytes[k];
    noise[k] |= varies;
    same &= !varies;
  }
  return same || has_bytes(c);
}

static void find_choices(Putter *p) {
  const PokeAnswer *answers[] = {&p->failing_again, &p->passing,
                                 &p->passing_again};
  Hashmap index[3] = {0};
  for (size_t i = 0; i < 3; i++)
    index_cells(answers[i], &index[i]);
  p->choices.len = 0;
  for (size_t k = 0; k < p->failing.cells.len; k++) {
    const AnswerCell *f = &p->failing.cells.items[k], *other[3];
    bool *noise = arena_array(&p->failing.arena, bool, f->size);
    char *key = cell_key(f);
    for (size_t i = 0; i < 3; i++)
      other[i] = find_cell(answers[i], &index[i], key);
    if (other[0] && other[1] && other[2] && other[0]->at == f->at &&
        mark_noise(f, other[0], noise, f->size) &&
        mark_noise(other[1], other[2], noise, f->size))
      choose(p, f, other[1], noise);
    free(key);
  }
  for (size_t i = 0; i < 3; i++)
    hashmap_release(&index[i]);
}

// Bytes that were not what they had been are noise, too.
static void learn_noise(Putter *p, const CellMoved *m) {
  for (size_t i = 0; i < p->choices.len; i++) {
    const PutChoice *c = &p->choices.items[i];
    const AnswerCell *f = c->failing;
    uint64_t from = m->at > f->at ? m->at : f->at;
    uint64_t f_end = f->at + f->size, m_end = m->at + m->size;
    uint64_t end = m_end < f_end ? m_end : f_end;
    if (from >= end)
      continue;
    if (has_bytes(f))
      memset(c->noise + (from - f->at), true, end - from);
    else
      memset(c->noise, true, f->size);
  }
}

// --- runs -------------------------------------------------------------------

static PokeJob failing_job(const Putter *p) {
  return (PokeJob){.line = p->near->failing.line,
                   .inputs = &p->near->failing.inputs,
                   .block = p->moment->block,
                   .count = p->moment->failing_run};
}

static PutResult result_of(Putter *p, const PokeJob *job, const PokeAnswer *a) {
  Verdict verdict;
  bool turned = a->has_way && p->passing.has_way && a->way == p->passing.way;
  if (!a->reached || a->moved.len ||
      poker_judge(&p->poker, job, a, &verdict, &p->problem))
    return PUT_NOTHING;
  if (verdict == VERDICT_PASS)
    return PUT_PASSES;
  if (turned && a->outcome.end == p->passing.outcome.end &&
      a->outcome.status == p->passing.outcome.status &&
      poker_has_kept_output(&p->poker))
    return PUT_AS;
  return turned && p->failing.way != p->passing.way ? PUT_TURNS : PUT_NOTHING;
}

static bool is_over(const Putter *p) {
  return clock_now() > p->end || p->near->search->runner->interrupted;
}

// The bytes between its noise.
static void add_puts(const PutChoice *c, CellPuts *out) {
  size_t end = c->from + c->size, to;
  for (size_t k = c->from; k < end; k = to + 1) {
    for (to = k; to < end && !c->noise[to];)
      to++;
    if (to > k)
      array_push(out, (CellPut){c->failing->at + k, to - k,
                                c->failing->bytes + k, c->passing->bytes + k});
  }
}

// One run. `again`: nothing was exchanged because of noise that is known now.
static PutResult try_once(Putter *p, const CellPuts *puts, bool *again) {
  PokeAnswer a;
  PokeJob job = failing_job(p);
  job.puts = puts;
  PutResult result = poker_run(&p->poker, &job, &a, &p->problem)
                         ? PUT_NOTHING
                         : result_of(p, &job, &a);
  for (size_t i = 0; i < a.moved.len; i++)
    learn_noise(p, &a.moved.items[i]);
  *again = a.moved.len && p->poker.runs < RUNS_MAX && !is_over(p);
  poke_answer_release(&a);
  return result;
}

// How far putting the values of some choices gets the failing run.
static PutResult try_puts(Putter *p, const bool *keep) {
  PutResult result = PUT_NOTHING;
  for (bool again = true; again;) {
    CellPuts puts = {0};
    for (size_t i = 0; i < p->choices.len; i++)
      if (keep[i])
        add_puts(&p->choices.items[i], &puts);
    again = false;
    if (puts.len)
      result = try_once(p, &puts, &again);
    array_release(&puts);
  }
  return result;
}

static bool gets_as_far(void *context, const bool *keep, size_t n) {
  Putter *p = context;
  (void)n;
  if (is_over(p)) {
    p->moment->minimal.cut = true;
    return false;
  }
  return try_puts(p, keep) >= p->wanted;
}

// --- the smallest set -------------------------------------------------------

static void keep_only(Putter *p, const bool *keep) {
  size_t n = 0;
  for (size_t i = 0; i < p->choices.len; i++)
    if (keep[i])
      p->choices.items[n++] = p->choices.items[i];
  p->choices.len = n;
}

static void shrink(Putter *p) {
  NearMinimal *m = &p->moment->minimal;
  size_t n = p->choices.len;
  size_t left = RUNS_MAX > p->poker.runs ? RUNS_MAX - p->poker.runs : 0;
  bool *keep = mem_array(bool, n + 1);
  for (size_t i = 0; i < n; i++)
    keep[i] = true;
  if (n > 1)
    ddmin(n, keep, gets_as_far, p, &left);
  m->cut |= !left;
  keep_only(p, keep);
  free(keep);
}

// A table of bytes is taken apart where it differs, if in few places.
static bool take_apart(Putter *p) {
  ARRAY(PutChoice) parts = {0};
  bool any = false;
  for (size_t i = 0; i < p->choices.len; i++) {
    PutChoice c = p->choices.items[i];
    bool table = has_bytes(c.failing);
    any |= table && c.size > 1;
    for (size_t k = 0; table && k < c.size; k++)
      if (changes(&c, k))
        array_push(&parts, (PutChoice){c.failing, c.passing, k, 1, c.noise});
    if (!table)
      array_push(&parts, c);
  }
  any &= parts.len <= BYTES_APART;
  if (any) {
    array_release(&p->choices);
    memcpy(&p->choices, &parts, sizeof p->choices);
  } else {
    array_release(&parts);
  }
  return any;
}

// --- as it is shown ---------------------------------------------------------

static bool is_printable(const uint8_t *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (bytes[i] < 0x20 || bytes[i] >= 0x7f)
      return false;
  return true;
}

static void show_bytes(const AnswerCell *c, Str *out) {
  enum { SHOWN = 64 };
  size_t n = strnlen((const char *)c->bytes, c->size);
  if (n < c->size && is_printable(c->bytes, n)) {
    str_addn(out, c->bytes, n < SHOWN ? n : SHOWN);
    return;
  }
  for (size_t i = 0; i < c->size && i < SHOWN; i++)
    str_addf(out, "\\x%02x", c->bytes[i]);
}

static void show_float(const AnswerCell *c, Str *out) {
  float f;
  double d = 0;
  if (c->size == sizeof f) {
    memcpy(&f, c->bytes, sizeof f);
    d = (double)f;
  } else if (c->size == sizeof d) {
    memcpy(&d, c->bytes, sizeof d);
  }
  str_addf(out, "%g", d);
}

static void show_number(const AnswerCell *c, Str *out) {
  unsigned shift = c->size < 8 ? 64 - 8 * (unsigned)c->size : 0;
  uint64_t v = number(c);
  if (c->kind == CELL_UNSIGNED)
    str_addf(out, "%llu", (unsigned long long)v);
  else
    str_addf(out, "%lld", (long long)((int64_t)(v << shift) >> shift));
}

static const char *show_cell(Near *n, const AnswerCell *c) {
  Str text = {0};
  if (c->kind == CELL_FLOAT)
    show_float(c, &text);
  else if (c->kind == CELL_POINTER)
    str_add(&text, !number(c) ? "null" : c->leads ? c->leads : "a pointer");
  else if (has_bytes(c))
    show_bytes(c, &text);
  else
    show_number(c, &text);
  const char *copy = arena_strdup(&n->arena, str_text(&text));
  str_release(&text);
  return copy;
}

// "len of parse()", with the number of calls where the name alone may be
// another's.
static const char *show_name(const Putter *p, const AnswerCell *c,
                             const char *name) {
  Arena *arena = &p->near->arena;
  if (c->frame <= 0)
    return arena_strdup(arena, name);
  if (c->frame == 1)
    return arena_printf(arena, "%s of its caller %s()", name, c->function);
  return arena_printf(arena, "%s of %s(), %d calls up", name, c->function,
                      c->frame);
}

// One byte: buf[3].
static NearPut show_byte(const Putter *p, const PutChoice *c) {
  Arena *arena = &p->near->arena;
  const char *base = c->failing->name;
  base = c->failing->kind == CELL_TEXT && *base == '*' ? base + 1 : base;
  char *name = mem_printf("%s[%zu]", base, c->from);
  NearPut put = {show_name(p, c->failing, name),
                 arena_printf(arena, "%d", c->failing->bytes[c->from]),
                 arena_printf(arena, "%d", c->passing->bytes[c->from]), false};
  free(name);
  return put;
}

static NearPut show_choice(const Putter *p, const PutChoice *c) {
  bool whole = c->size == used(c->passing) || c->size > 1;
  if (!whole)
    return show_byte(p, c);
  return (NearPut){show_name(p, c->failing, c->failing->name),
                   show_cell(p->near, c->failing),
                   show_cell(p->near, c->passing), has_bytes(c->failing)};
}

// --- all of it --------------------------------------------------------------

static const char *keep_text(Near *n, const char *text) {
  return arena_strdup(&n->arena, text);
}

// The passing run up to the branch and to its end. NULL, or why it does not
// work.
static const char *look_at_passing(Putter *p) {
  const NearFound *f = &p->near->found.items[p->near->best];
  double most = p->near->search->runner->timeout;
  PokeJob job = {.line = f->line,
                 .inputs = f->test ? NULL : &f->inputs,
                 .block = p->moment->block,
                 .count = p->moment->passing_run,
                 .state = true};
  p->poker.timeout = most;
  if (poker_run(&p->poker, &job, &p->passing_again, &p->problem) ||
      poker_run(&p->poker, &job, &p->passing, &p->problem) ||
      poker_keep_output(&p->poker, &p->problem))
    return p->problem.text;
  // A run that is good takes about as long: those that hang are many.
  double likely = 1 + SLOWER * p->passing.outcome.seconds;
  p->poker.timeout = most && most < likely ? most : likely;
  return p->passing.reached ? NULL
                            : "without optimization the passing run does not "
                              "reach this branch";
}

static const char *look_at_failing(Putter *p) {
  PokeJob job = failing_job(p);
  Verdict verdict = VERDICT_ERROR;
  job.state = true;
  if (poker_run(&p->poker, &job, &p->failing_again, &p->problem) ||
      poker_run(&p->poker, &job, &p->failing, &p->problem) ||
      poker_judge(&p->poker, &job, &p->failing, &verdict, &p->problem))
    return p->problem.text;
  if (!p->failing.reached)
    return "without optimization the failing run does not reach this branch";
  return verdict == VERDICT_PASS
             ? "without optimization the failing input passes"
             : NULL;
}

// --- names for what is compared ---------------------------------------------

// The cell's value in the width that is compared.
static uint64_t widened(const AnswerCell *c, unsigned width) {
  unsigned shift = c->size < 8 ? 64 - 8 * (unsigned)c->size : 0;
  uint64_t v = number(c);
  if (c->kind == CELL_SIGNED)
    v = (uint64_t)((int64_t)(v << shift) >> shift);
  return width < 64 ? v & ((1ull << width) - 1) : v;
}

static bool is_value(const AnswerCell *c, const WatchValue *v) {
  bool number = c->kind == CELL_SIGNED || c->kind == CELL_UNSIGNED ||
                c->kind == CELL_FLOAT;
  return number && widened(c, v->width) == v->bits;
}

// Debug information has no names for fields and elements that are compared; but
// one that has these two values and stands in the source line is it.
static const char *name_of_value(const Putter *p, const char *line, size_t i) {
  const NearMoment *m = p->moment;
  const char *found = NULL;
  for (size_t k = 0; k < p->choices.len; k++) {
    const PutChoice *c = &p->choices.items[k];
    if (c->failing->frame > 0 || !is_value(c->failing, &m->taken[i]) ||
        !is_value(c->passing, &m->needed[i]) || !strstr(line, c->failing->name))
      continue;
    if (found)
      return NULL;
    found = c->failing->name;
  }
  return found ? keep_text(p->near, found) : NULL;
}

static void name_values(const Putter *p) {
  const Near *n = p->near;
  NearMoment *m = p->moment;
  const Event *e = &n->failing.events.items.items[m->event];
  uint32_t line;
  Str text = {0};
  const char *file =
      control_place(&n->control, n->control.branch_of[e->edge], &line);
  near_source_line(file, n->search->runner->options->cwd, line, &text);
  for (size_t i = 0; m->aligned && i < m->nvalues; i++)
    if (!m->names[i] && !m->taken[i].constant)
      m->names[i] = name_of_value(p, str_text(&text), i);
  str_release(&text);
}

// --- what pointers lead to --------------------------------------------------

// Of the variable of that name, the innermost; NULL: that is not known.
static const char *leads_of(const Putter *p, const PokeAnswer *a,
                            const char *name, const WatchValue *v) {
  if (!name || !(v->flags & IR_POINTER) || !v->bits)
    return NULL;
  for (size_t i = 0; i < a->cells.len; i++) {
    const AnswerCell *c = &a->cells.items[i];
    if (c->frame <= 0 && c->kind == CELL_POINTER && !strcmp(c->name, name))
      return c->leads ? keep_text(p->near, c->leads) : NULL;
  }
  return NULL;
}

static void note_leads(const Putter *p) {
  NearMoment *m = p->moment;
  for (size_t i = 0; i < m->nvalues; i++) {
    m->taken_leads[i] = leads_of(p, &p->failing, m->names[i], &m->taken[i]);
    m->needed_leads[i] = leads_of(p, &p->passing, m->names[i], &m->needed[i]);
  }
  for (size_t i = 0; i < m->variables.len; i++) {
    NearVariable *v = &m->variables.items[i];
    v->failing_leads = leads_of(p, &p->failing, v->name, &v->failing);
    v->passing_leads = leads_of(p, &p->passing, v->name, &v->passing);
  }
}

// --- one branch -------------------------------------------------------------

static void note_differences(Putter *p) {
  for (size_t i = 0; i < p->choices.len && i < DIFFER_MAX; i++)
    array_push(&p->moment->minimal.differ,
               show_choice(p, &p->choices.items[i]));
}

// Puts in everything that differs, and forgets what turns out to be noise.
static PutResult try_all(Putter *p) {
  bool *keep = mem_array(bool, p->choices.len + 1);
  memset(keep, true, p->choices.len * sizeof *keep);
  PutResult result = try_puts(p, keep);
  for (size_t i = 0; i < p->choices.len; i++)
    keep[i] = changes_any(&p->choices.items[i]);
  keep_only(p, keep);
  free(keep);
  return result;
}

static void minimise(Putter *p) {
  NearMinimal *m = &p->moment->minimal;
  find_choices(p);
  p->wanted = m->result = try_all(p);
  m->differing = p->choices.len;
  note_differences(p);
  name_values(p);
  note_leads(p);
  if (m->result == PUT_NOTHING)
    return;
  shrink(p);
  if (!m->cut && take_apart(p))
    shrink(p);
  for (size_t i = 0; i < p->choices.len; i++)
    array_push(&m->puts, show_choice(p, &p->choices.items[i]));
}

static void minimise_at(Putter *p, NearMoment *moment) {
  NearMinimal *m = &moment->minimal;
  p->moment = moment;
  p->poker.runs = 0;
  p->problem = (Err){0};
  const char *problem = look_at_passing(p);
  problem = problem ? problem : look_at_failing(p);
  if (!problem)
    minimise(p);
  m->problem = problem ? keep_text(p->near, problem) : NULL;
  m->runs = p->poker.runs;
  poke_answer_release(&p->failing);
  poke_answer_release(&p->failing_again);
  poke_answer_release(&p->passing);
  poke_answer_release(&p->passing_again);
}

void near_minimise(Near *n) {
  double share = n->search->options.seconds * PER_CENT / 100;
  Putter p = {.near = n,
              .end = clock_now() + (share > SECONDS ? share : SECONDS)};
  const char *problem = NULL;
  if (n->moments.len && poker_open(&p.poker, n, &p.problem))
    problem = keep_text(n, p.problem.text);
  for (size_t i = 0; i < n->moments.len; i++) {
    NearMoment *m = &n->moments.items[i];
    if (!m->passing_run)
      m->minimal.problem = "the passing run does not reach this branch";
    else if (problem)
      m->minimal.problem = problem;
    else if (i >= BRANCHES_MAX || is_over(&p))
      m->minimal.problem = "out of time";
    else
      minimise_at(&p, m);
  }
  if (n->moments.len)
    poker_close(&p.poker);
  array_release(&p.choices);
}
