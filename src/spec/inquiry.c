// A broken promise and its core: see inquiry.h.
#include "spec/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "sym/gates.h"

void inquiry_open(Inquiry *q, Subject *s, const InquiryOptions *o) {
  *q = (Inquiry){.subject = s, .options = *o};
}

void inquiry_close(Inquiry *q) {
  for (size_t i = 0; i < q->cores.len; i++) {
    core_release(&q->cores.items[i].core);
    array_release(&q->cores.items[i].corrections);
  }
  array_release(&q->cores);
  bitset_release(&q->suspects);
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

int inquiry_begin(Inquiry *q, Err *err) {
  if (subject_run(q->subject, NULL, &q->first, err))
    return -1;
  if (!q->first.violations.items.len) {
    q->found =
        q->first.outcome.end == END_TIMEOUT ? FOUND_TIMEOUT : FOUND_NOTHING;
    return 0;
  }
  q->violation = &q->first.violations.items.items[0];
  q->found = breaks_requires(q->violation) ? FOUND_PRECONDITION
             : q->violation->call == 0     ? FOUND_ASSERTION
                                           : FOUND_BROKEN;
  return 0;
}

// --- the violating call -----------------------------------------------------

static CallPoint call_point(const Inquiry *q) {
  return (CallPoint){.function = q->violation->table.function,
                     .number = q->violation->call};
}

static int take_snapshot(Inquiry *q, Err *err) {
  CallPoint at = call_point(q);
  at.snapshot = true;
  char *path = mem_printf("%s/snapshot", q->subject->options.dir);
  SubjectRun run;
  int rc = subject_run(q->subject, &at, &run, err);
  if (!rc && !run.violations.items.len)
    rc = err_set(err, "the program does not break the promise every time: it "
                      "depends on more than its input");
  if (!rc)
    rc = snapshot_read(&q->snapshot, path, err);
  subject_run_release(&run);
  free(path);
  return rc;
}

static int find_wrapper(Inquiry *q, Err *err) {
  const Program *p = &q->subject->ir;
  const char *name = q->violation->table.function;
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

// The encoding must break what the run broke, and nothing else.
static int compare_clauses(Inquiry *q, Err *err) {
  const Violation *v = q->violation;
  for (uint32_t k = 0; k < v->table.nclauses; k++) {
    Expr holds = encoder_clause(&q->encoder, k);
    if (!holds || !expr_value(q->pool, holds) == is_broken(v, k))
      continue;
    return err_set(err,
                   "%s: the call cannot be followed exactly: clause %s comes "
                   "out otherwise than in the run%s%s",
                   v->table.function, v->table.clauses[k].name,
                   q->limits.len ? "; " : "", str_text(&q->limits));
  }
  return 0;
}

static int encode(Inquiry *q, Err *err) {
  EncodeTarget target = {.program = &q->subject->ir,
                         .wrapper = q->wrapper,
                         .read = state_read,
                         .context = &q->given,
                         .args = q->snapshot.args,
                         .nargs = q->snapshot.args_size};
  q->given.snapshot = &q->snapshot;
  q->pool = expr_pool_new();
  encoder_init(&q->encoder, &target, q->pool);
  q->encoding = true;
  if (encoder_run(&q->encoder, err))
    return -1;
  encoder_show_limits(&q->encoder, &q->limits);
  if (compare_clauses(q, err) || encoder_all(&q->encoder, err))
    return -1;
  str_clear(&q->limits);
  encoder_show_limits(&q->encoder, &q->limits);
  return 0;
}

// --- cores ------------------------------------------------------------------

static void suspect(Inquiry *q, const StatementList *l) {
  for (size_t i = 0; i < l->len; i++) {
    const Statement *s = &q->encoder.statements.items[l->items[i]];
    uint32_t line = subject_line(q->subject, s->file, s->line);
    if (line != UINT32_MAX)
      bitset_add(&q->suspects, line);
  }
}

static int find_core(Inquiry *q, uint32_t clause, Err *err) {
  ClauseCore c = {.clause = clause};
  double seconds = q->options.core_seconds;
  int rc = core_find(&q->encoder, clause, seconds, &c.core, err);
  if (!rc && q->options.corrections) {
    Err ignored; // it may be all that there is time for
    core_corrections(&q->encoder, clause, seconds, &c.corrections, &ignored);
  }
  array_push(&q->cores, c);
  suspect(q, &c.core.statements);
  if (c.core.omission)
    suspect(q, &c.core.guards);
  return rc;
}

int inquiry_explain(Inquiry *q, Err *err) {
  if (take_snapshot(q, err) || find_wrapper(q, err) ||
      subject_bind(q->subject, &q->snapshot, err))
    return -1;
  double start = gates_clock();
  int rc = encode(q, err);
  for (size_t i = 0; !rc && i < q->violation->nbroken; i++)
    rc = find_core(q, q->violation->broken[i], err);
  q->seconds = gates_clock() - start;
  return rc;
}

int inquiry_run(Inquiry *q, const State *s, SubjectRun *out, Err *err) {
  Patch patch = {0};
  CallPoint at = call_point(q);
  at.patch = true;
  char *path = mem_printf("%s/patch", q->subject->options.dir);
  *out = (SubjectRun){0};
  state_patch(s, &patch);
  int rc = patch_write(&patch, path, err);
  if (!rc)
    rc = subject_run(q->subject, &at, out, err);
  patch_release(&patch);
  free(path);
  return rc;
}
