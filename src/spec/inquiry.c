// Explains a broken contract: see inquiry.h.
#include "spec/inquiry.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spec/clause_bounds.h"
#include "util/clock.h"
#include "util/fs.h"

enum {
  TABLE_MAX = 1 << 20, // bytes that describe an assertion
  CALLS_MAX = 64,      // the last one that is checked
  REPLAY_SECONDS = 5,  // a made state may make the call a long one
};

void inquiry_open(Inquiry *q, SpecSubject *s, const InquiryOptions *o) {
  *q = (Inquiry){.subject = s, .options = *o};
}

void inquiry_close(Inquiry *q) {
  for (size_t i = 0; i < q->cores.len; i++)
    core_release(&q->cores.items[i].core);
  array_release(&q->cores);
  corrections_release(&q->corrections);
  bitset_release(&q->corrected);
  bitset_release(&q->suspects);
  bitset_release(&q->scope);
  bitset_release(&q->coded);
  str_release(&q->limits);
  if (q->encoding)
    encoder_release(&q->encoder);
  if (q->pool)
    expr_pool_free(q->pool);
  state_release(&q->given);
  snapshot_close(&q->snapshot);
  subject_run_release(&q->first);
}

// --- the given run ----------------------------------------------------------

static bool breaks_requires(const Violation *v) {
  for (size_t i = 0; i < v->nbroken; i++)
    if (v->table.clauses[v->broken[i]].kind == CLAUSE_REQUIRES)
      return true;
  return false;
}

// The first one of the run.
static void take_violation(Inquiry *q) {
  q->violation = &q->first.violations.items.items[0];
  q->found = breaks_requires(q->violation) ? FOUND_PRECONDITION
             : q->violation->call == 0     ? FOUND_ASSERTION
                                           : FOUND_BROKEN;
}

int inquiry_begin(Inquiry *q, Err *err) {
  if (subject_run(q->subject, NULL, &q->first, err))
    return -1;
  if (!q->first.violations.items.len) {
    q->found =
        q->first.outcome.end == END_TIMEOUT ? FOUND_TIMEOUT : FOUND_NOTHING;
    return 0;
  }
  take_violation(q);
  return 0;
}

// --- the violating call -----------------------------------------------------

static CallPoint call_point(const Inquiry *q) {
  return (CallPoint){.function = q->contract->function, .number = q->call};
}

static int refuse_assertion(const Violation *v, Err *err) {
  return err_set(err,
                 "%s breaks an assertion while no function with a contract is "
                 "running; give %s, or its caller, a contract, if only /*@ "
                 "requires \\true; */, so that culprit can record the state "
                 "before the call",
                 v->table.function, v->table.function);
}

// The call of a function with a contract in which the promise was broken.
static int find_call(Inquiry *q, Err *err) {
  const Violation *v = q->violation;
  if (!v->call && !v->within)
    return refuse_assertion(v, err);
  const char *function = v->call ? v->table.function : v->within;
  q->call = v->call ? v->call : v->within_call;
  q->contract = contracts_find(&q->subject->contracts, function);
  return q->contract
             ? 0
             : err_set(err, "%s: the program does not contain its contract",
                       function);
}

static int write_patch(const Inquiry *q, const MadeState *s, Err *err) {
  Patch patch = {0};
  char *path = mem_printf("%s/patch", q->subject->options.dir);
  state_patch(s, &patch);
  int rc = patch_write(&patch, path, err);
  patch_release(&patch);
  free(path);
  return rc;
}

static int read_snapshot(Inquiry *q, Err *err) {
  char *path = mem_printf("%s/snapshot", q->subject->options.dir);
  snapshot_close(&q->snapshot);
  int rc = snapshot_read(&q->snapshot, path, err);
  q->given.snapshot = &q->snapshot;
  free(path);
  return rc;
}

static int take_snapshot(Inquiry *q, Err *err) {
  CallPoint at = call_point(q);
  at.snapshot = true;
  SubjectRun run;
  int rc = subject_run(q->subject, &at, &run, err);
  if (!rc && !run.violations.items.len)
    rc = err_set(err, "the program does not break the contract on every run: "
                      "it depends on more than its input");
  if (!rc)
    rc = read_snapshot(q, err);
  subject_run_release(&run);
  return rc;
}

static int find_wrapper(Inquiry *q, const char *name, Err *err) {
  const Program *p = &q->subject->ir;
  for (uint32_t i = 0; i < p->functions.len; i++)
    if (!strcmp(program_name(p, p->functions.items[i].name), name)) {
      q->wrapper = i;
      return 0;
    }
  return err_set(err,
                 "%s: its code is not in the program; was it built by "
                 "culprit-cc?",
                 name);
}

// --- encoding ---------------------------------------------------------------

static bool is_broken(const Violation *v, uint32_t clause) {
  for (size_t i = 0; i < v->nbroken; i++)
    if (v->broken[i] == clause)
      return true;
  return false;
}

// Does this memory describe the broken assertion?
static bool is_its_table(const Inquiry *q, uint64_t at) {
  ContractHeader h;
  if (!snapshot_load(&q->snapshot, at, &h, sizeof h) ||
      h.magic != CONTRACT_MAGIC || h.size > TABLE_MAX)
    return false;
  Arena arena = {0};
  ContractTable t;
  char *strings = arena_alloc(&arena, h.size + (size_t)1);
  const Violation *v = q->violation;
  uint32_t k = v->broken[0];
  bool same = snapshot_load(&q->snapshot, at + sizeof h, strings, h.size) &&
              contract_parse(&t, strings, h.size, &arena) && k < t.nclauses &&
              clause_same(&t.clauses[k], &v->table.clauses[k]);
  arena_release(&arena);
  return same;
}

// From now on the encoder means the assertion. False: it does not break it.
static bool mean_assertion(const Inquiry *q, Encoder *e) {
  for (size_t i = 0; i < e->clauses.len; i++) {
    uint64_t table = e->clauses.items[i].table;
    if (table != e->table && is_its_table(q, table))
      return encoder_mean_assertion(e, table, q->violation->broken[0]);
  }
  return false;
}

// The encoding must break the assertion, too.
static int compare_assertion(Inquiry *q, Err *err) {
  const Violation *v = q->violation;
  if (mean_assertion(q, &q->encoder))
    return 0;
  return err_set(err,
                 "%s: the call that breaks %s cannot be modelled exactly: call "
                 "%llu keeps it%s%s",
                 v->table.function, v->table.clauses[v->broken[0]].name,
                 (unsigned long long)q->call, q->limits.len ? "; " : "",
                 str_text(&q->limits));
}

// The encoding must break what the run broke, and nothing else.
static int compare_clauses(Inquiry *q, Err *err) {
  const Violation *v = q->violation;
  if (q->found == FOUND_ASSERTION)
    return compare_assertion(q, err);
  for (uint32_t k = 0; k < v->table.nclauses; k++) {
    Expr holds = encoder_clause(&q->encoder, k);
    if (!holds || !expr_value(q->pool, holds) == is_broken(v, k))
      continue;
    return err_set(err,
                   "%s: the call cannot be modelled exactly: clause %s "
                   "evaluates differently than in the run%s%s",
                   v->table.function, v->table.clauses[k].name,
                   q->limits.len ? "; " : "", str_text(&q->limits));
  }
  return 0;
}

static int encode(Inquiry *q, Err *err) {
  EncodeTarget target = state_target(&q->given, &q->subject->ir, q->wrapper);
  q->pool = expr_pool_new();
  encoder_init(&q->encoder, &target, q->pool);
  q->encoding = true;
  if (encoder_run(&q->encoder, err))
    return -1;
  encoder_show_limits(&q->encoder, &q->limits);
  if (compare_clauses(q, err))
    return -1;
  clause_bounds_widen(&q->encoder);
  encoder_list_statements(&q->encoder);
  return 0;
}

// --- what the call executes -------------------------------------------------

// The number of its line; UINT32_MAX: none.
static uint32_t line_of(const Inquiry *q, const Statement *s) {
  return subject_line(q->subject, s->file, s->line);
}

static void add_lines(const Inquiry *q, const Encoder *e, bool ran_only,
                      Bitset *out) {
  for (size_t i = 0; i < e->statements.len; i++) {
    const Statement *s = &e->statements.items[i];
    uint32_t line = line_of(q, s);
    if (line != UINT32_MAX && (s->ran || !ran_only))
      bitset_add(out, line);
  }
}

static uint64_t function_number(Hashmap *functions, const SourceLine *l) {
  char *key = mem_printf("%s:%s", l->file, l->function);
  uint64_t n = hashmap_intern(functions, key, strlen(key), functions->len);
  free(key);
  return n;
}

// All lines of the functions that the encoding has statements of.
static void find_scope(Inquiry *q) {
  const SpecSubject *s = q->subject;
  Hashmap functions = {0};
  add_lines(q, &q->encoder, false, &q->coded);
  for (uint32_t i = 0; bitset_next(&q->coded, &i); i++)
    function_number(&functions, &s->lines.items[i]);
  size_t own = functions.len;
  for (uint32_t i = 0; i < s->lines.len; i++)
    if (function_number(&functions, &s->lines.items[i]) < own)
      bitset_add(&q->scope, i);
  hashmap_release(&functions);
}

// The statements on the call's own path; false if it cannot be followed.
static bool replay(Inquiry *q, const MadeState *s, Bitset *out) {
  EncodeTarget target = state_target(s, &q->subject->ir, q->wrapper);
  ExprPool *pool = expr_pool_new();
  Encoder e;
  Err ignored;
  encoder_init(&e, &target, pool);
  e.deadline = clock_now() + REPLAY_SECONDS;
  bool ended = !encoder_run(&e, &ignored);
  add_lines(q, &e, true, out);
  encoder_release(&e);
  expr_pool_free(pool);
  return ended;
}

// Leaves of a process's lines those of the call. Other calls of the same
// functions are distinguished by following the call once more; lines that the
// encoding has no statement of (a `break`) cannot be.
static void narrow(Inquiry *q, const MadeState *s, Bitset *hits) {
  Bitset ran = {0}, own = {0};
  bool followed = replay(q, s, &ran);
  for (uint32_t i = 0; bitset_next(hits, &i); i++)
    if (bitset_has(&q->scope, i) &&
        (!followed || !bitset_has(&q->coded, i) || bitset_has(&ran, i)))
      bitset_add(&own, i);
  bitset_release(&ran);
  bitset_release(hits);
  *hits = own;
}

// --- cores ------------------------------------------------------------------

static void add_statements(const Inquiry *q, const StatementList *l,
                           Bitset *out) {
  for (size_t i = 0; i < l->len; i++) {
    uint32_t line = line_of(q, &q->encoder.statements.items[l->items[i]]);
    if (line != UINT32_MAX)
      bitset_add(out, line);
  }
}

static int find_core(Inquiry *q, uint32_t clause, Err *err) {
  ClauseCore c = {.clause = clause};
  const Core *like = q->cores.len ? &array_last(&q->cores).core : NULL;
  int rc = core_find(&q->encoder, clause, like, q->options.core_seconds,
                     &c.core, err);
  if (c.core.limits.len) {
    str_clear(&q->limits);
    str_addn(&q->limits, c.core.limits.data, c.core.limits.len);
  }
  array_push(&q->cores, c);
  add_statements(q, &c.core.statements, &q->suspects);
  if (c.core.omission)
    add_statements(q, &c.core.guards, &q->suspects);
  return rc;
}

static void find_corrections(Inquiry *q) {
  CorrectionsTask task = {.encoder = &q->encoder,
                          .violation = q->violation,
                          .seconds = q->options.core_seconds / 2};
  for (size_t i = 0; i < q->cores.len; i++)
    array_push(&task.cores, &q->cores.items[i].core);
  corrections_find(&task, &q->corrections);
  array_release(&task.cores);
  add_statements(q, &q->corrections.statements, &q->corrected);
  add_statements(q, &q->corrections.open, &q->corrected);
}

int inquiry_explain(Inquiry *q, Err *err) {
  if (find_call(q, err))
    return -1;
  if (!q->made &&
      (take_snapshot(q, err) || find_wrapper(q, q->contract->function, err) ||
       subject_bind(q->subject, &q->snapshot, err)))
    return -1;
  double start = clock_now();
  int rc = encode(q, err);
  if (!rc) {
    find_scope(q);
    narrow(q, &q->given, &q->first.hits);
  }
  for (size_t i = 0; !rc && i < q->violation->nbroken; i++)
    rc = find_core(q, q->violation->broken[i], err);
  if (!rc && q->options.corrections)
    find_corrections(q);
  q->seconds = clock_now() - start;
  return rc;
}

// A state may make the program run for ever; others take about as long as the
// given run.
static double made_timeout(const Inquiry *q) {
  const double most = q->subject->options.timeout;
  double enough = 1 + 10 * q->first.outcome.seconds;
  return enough < most ? enough : most;
}

int inquiry_run(Inquiry *q, const MadeState *s, SubjectRun *out, Err *err) {
  CallPoint at = call_point(q);
  double given = q->subject->options.timeout;
  at.patch = true;
  *out = (SubjectRun){0};
  if (write_patch(q, s, err))
    return -1;
  q->subject->options.timeout = made_timeout(q);
  int rc = subject_run(q->subject, &at, out, err);
  q->subject->options.timeout = given;
  if (!rc)
    narrow(q, s, &out->hits);
  return rc;
}

uint32_t *inquiry_order(const Inquiry *q) {
  uint32_t *order = mem_array(uint32_t, q->subject->lines.len + 1);
  for (size_t i = 0; i < q->encoder.statements.len; i++) {
    const Statement *s = &q->encoder.statements.items[i];
    uint32_t line = line_of(q, s);
    if (line != UINT32_MAX && s->order > order[line])
      order[line] = s->order;
  }
  return order;
}

// --- corrections in other states --------------------------------------------

static void statements_of(const Inquiry *q, const Encoder *e,
                          const Bitset *lines, StatementList *out) {
  for (uint32_t i = 0; i < e->statements.len; i++) {
    const Statement *s = &e->statements.items[i];
    uint32_t line = line_of(q, s);
    if (line != UINT32_MAX && bitset_has(lines, line))
      array_push(out, i);
  }
}

static int encode_anew(const Inquiry *q, Encoder *e) {
  Err ignored;
  if (encoder_run(e, &ignored) ||
      (q->found == FOUND_ASSERTION && !mean_assertion(q, e)))
    return -1;
  clause_bounds_widen(e);
  return 0;
}

void inquiry_correct(Inquiry *q, const MadeState *s, double seconds,
                     Bitset *lines) {
  EncodeTarget target = state_target(s, &q->subject->ir, q->wrapper);
  ExprPool *pool = expr_pool_new();
  StatementList among = {0}, left = {0};
  Encoder e;
  encoder_init(&e, &target, pool);
  if (!encode_anew(q, &e)) {
    statements_of(q, &e, lines, &among);
    Bitset kept = {0};
    CorrectionsTask task = {
        .encoder = &e, .violation = q->violation, .seconds = seconds};
    corrections_check(&task, q->corrections.elsewhere, &among, &left);
    for (size_t i = 0; i < left.len; i++)
      bitset_add(&kept, line_of(q, &e.statements.items[left.items[i]]));
    if (left.len) {
      bitset_release(lines);
      *lines = kept;
    } else {
      bitset_release(&kept);
    }
  }
  array_release(&among);
  array_release(&left);
  encoder_release(&e);
  expr_pool_free(pool);
}

// --- no failing input -------------------------------------------------------

// The state before a call of the function; nothing is broken yet. *there:
// there is such a call.
static int stop_at_call(Inquiry *q, const char *function, uint64_t number,
                        bool *there, Err *err) {
  CallPoint at = {.function = function, .number = number, .snapshot = true};
  char *path = mem_printf("%s/snapshot", q->subject->options.dir);
  SubjectRun run;
  unlink(path);
  int rc = subject_run(q->subject, &at, &run, err);
  *there = !rc && fs_exists(path);
  if (*there)
    rc = read_snapshot(q, err);
  subject_run_release(&run);
  free(path);
  return rc;
}

// Does the state break a promise in the process, too?
static int confirm(Inquiry *q, MadeState *s, bool *broken, Err *err) {
  SubjectRun run;
  CallPoint at = {.function = q->snapshot.function,
                  .number = q->snapshot.call,
                  .patch = true};
  if (write_patch(q, s, err) || subject_run(q->subject, &at, &run, err))
    return -1;
  *broken =
      run.violations.items.len &&
      violation_is_of(&run.violations.items.items[0], at.function, at.number);
  if (!*broken) {
    subject_run_release(&run);
    return 0;
  }
  subject_run_release(&q->first);
  q->first = run;
  take_violation(q);
  state_release(&q->given);
  q->given = *s;
  *s = (MadeState){0};
  q->made = true;
  return 0;
}

// In the call that the snapshot is of. *reached: the largest bound that was
// searched to its end.
static int search_state(Inquiry *q, const StateMaker *maker, uint32_t bound,
                        uint32_t *reached, Err *err) {
  *reached = 0;
  for (uint32_t b = 1; b <= bound && q->found == FOUND_NOTHING; b++) {
    MadeState s = {0};
    bool broken = false;
    SolverResult r = state_search(maker, &q->given, b, &s, err);
    if (r == SOLVER_UNKNOWN)
      return *err->text ? -1 : 0;
    *reached = b;
    int rc = r == SOLVER_SAT ? confirm(q, &s, &broken, err) : 0;
    state_release(&s);
    if (rc)
      return rc;
  }
  return 0;
}

// One call. *there: there is such a call.
static int check_call(Inquiry *q, StateMaker *maker, uint64_t call,
                      const CheckOptions *o, CheckResult *out, bool *there,
                      Err *err) {
  if (stop_at_call(q, maker->table->function, call, there, err))
    return -1;
  if (!*there)
    return 0;
  out->call = call;
  if (subject_bind(q->subject, &q->snapshot, err) ||
      search_state(q, maker, o->bound, &out->reached, err))
    return -1;
  if (out->reached >= o->bound)
    out->done = call;
  return 0;
}

// Calls 1, 2, 4, ...: later ones find more objects to make states of.
static int check_calls(Inquiry *q, StateMaker *maker, const CheckOptions *o,
                       CheckResult *out, Err *err) {
  double deadline = clock_now() + o->seconds;
  bool there = true;
  for (uint64_t call = 1; there && call <= CALLS_MAX; call *= 2) {
    maker->seconds = deadline - clock_now();
    if (maker->seconds <= 0)
      return 0;
    if (check_call(q, maker, call, o, out, &there, err))
      return q->subject->interrupted || !out->done ? -1 : 0;
    if (q->found != FOUND_NOTHING || out->done < out->call)
      return 0;
  }
  return 0;
}

int inquiry_check(Inquiry *q, const char *function, const CheckOptions *o,
                  CheckResult *out, Err *err) {
  const ContractTable *t = contracts_find(&q->subject->contracts, function);
  *out = (CheckResult){0};
  if (!t)
    return err_set(err, "%s: no function of this name has a contract",
                   function);
  if (find_wrapper(q, function, err))
    return -1;
  StateMaker maker = {
      .program = &q->subject->ir, .wrapper = q->wrapper, .table = t};
  if (check_calls(q, &maker, o, out, err))
    return -1;
  return out->call ? 0
                   : err_set(err,
                             "this run does not call %s; give arguments that "
                             "make it",
                             function);
}
