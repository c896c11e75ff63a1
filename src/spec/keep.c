// Stores the result of `culprit spec`: see keep.h.
#include "spec/keep.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "locate/spec_note.h"
#include "oracle/contract_failures.h"
#include "process/words.h"
#include "util/clock.h"
#include "util/mem.h"

typedef struct {
  const Rounds *rounds;
  const Inquiry *inquiry;
  Store *store;
  int64_t session;
  uint32_t *lines;     // number of the subject's line -> id of the statement
  uint32_t *functions; // -> id of its function; both may be ENTITY_NONE
  NoteSources sources;
  Arena arena;
} SpecKeeper;

// --- lines ------------------------------------------------------------------

static void note_source(SpecKeeper *k, const Source *s) {
  for (size_t i = 0; i < k->sources.len; i++)
    if (!strcmp(k->sources.items[i].path, s->path))
      return;
  array_push(&k->sources, (Source){arena_strdup(&k->arena, s->path), s->hash});
}

static int assign(void *context, const Unit *u, uint32_t *ids, Err *err) {
  SpecKeeper *k = context;
  if (store_add_unit(k->store, k->session, u, ids, err))
    return -1;
  for (size_t i = 0; i < u->nsources; i++)
    note_source(k, &u->sources[i]);
  for (size_t i = 0; i < u->nentities; i++) {
    const Entity *e = &u->entities[i];
    if (e->kind != ENTITY_STATEMENT)
      continue;
    uint32_t line =
        subject_line(k->inquiry->subject, u->sources[e->source].path, e->line);
    if (line == UINT32_MAX)
      continue;
    k->lines[line] = ids[i];
    k->functions[line] =
        e->function < u->nentities ? ids[e->function] : ENTITY_NONE;
  }
  return 0;
}

static int add_units(SpecKeeper *k, Err *err) {
  const SpecSubject *s = k->inquiry->subject;
  Collector *c = collector_new(assign, k);
  int rc = collector_add_module(c, s->build.program, err);
  collector_free(c);
  return rc;
}

static void add_hits(const SpecKeeper *k, const Bitset *hits, Run *run) {
  for (uint32_t i = 0; bitset_next(hits, &i); i++) {
    if (k->lines[i] != ENTITY_NONE)
      bitset_add(&run->hits[ENTITY_STATEMENT], k->lines[i]);
    if (k->functions[i] != ENTITY_NONE)
      bitset_add(&run->hits[ENTITY_FUNCTION], k->functions[i]);
  }
}

// --- runs -------------------------------------------------------------------

static void add_failures(const SpecKeeper *k, const Violations *v, Run *run) {
  const Inquiry *q = k->inquiry;
  for (size_t i = 0; i < v->items.len; i++)
    if (violation_is_of(&v->items.items[i], q->contract->function, q->call))
      contract_add_failure(&v->items.items[i], q->subject->options.cwd, run);
}

static Run new_run(const SpecKeeper *k, const SubjectRun *r, bool fails) {
  Run run = {.verdict = fails ? VERDICT_FAIL : VERDICT_PASS,
             .status = r->outcome.status,
             .seconds = r->outcome.seconds,
             .processes = 1};
  add_hits(k, &r->hits, &run);
  return run;
}

static int add_run(SpecKeeper *k, Run *run, Err *err) {
  int rc = store_add_run(k->store, k->session, run, err);
  run_release(run);
  return rc;
}

static int add_given(SpecKeeper *k, Err *err) {
  const Inquiry *q = k->inquiry;
  Str command = {0};
  Run run = new_run(k, &q->first, true);
  run.test = mem_strdup("given");
  words_quote_all(&command, q->subject->options.argv);
  run.command = str_take(&command);
  contract_add_failure(q->violation, q->subject->options.cwd, &run);
  return add_run(k, &run, err);
}

static int add_made(SpecKeeper *k, size_t number, const Round *round,
                    Err *err) {
  const Inquiry *q = k->inquiry;
  const StateCandidate *c =
      &k->rounds->candidates->items.items[round->candidate];
  Run run = new_run(k, &c->run, round->relation != TEST_PASSES);
  run.test = mem_printf("made %zu", number);
  run.command =
      c->state.turned
          ? mem_printf("call %llu of %s, line %u the other way",
                       (unsigned long long)q->call, q->contract->function,
                       c->state.turned)
          : mem_printf("call %llu of %s in another state",
                       (unsigned long long)q->call, q->contract->function);
  if (round->relation == TEST_APART)
    add_failures(k, &c->run.violations, &run);
  else if (round->relation != TEST_PASSES)
    contract_add_failure(q->violation, q->subject->options.cwd, &run);
  return add_run(k, &run, err);
}

static int add_runs(SpecKeeper *k, Err *err) {
  int rc = add_given(k, err);
  for (size_t i = 0; !rc && i < k->rounds->taken.len; i++)
    rc = add_made(k, i + 1, &k->rounds->taken.items[i], err);
  return rc;
}

// --- the note ---------------------------------------------------------------

static void note_core(const Inquiry *q, const ClauseCore *c, SpecNote *note) {
  const char *name = q->violation->table.clauses[c->clause].name;
  array_push(&note->violated, name);
  for (size_t i = 0; i < c->core.statements.len; i++) {
    const Statement *s =
        &q->encoder.statements.items[c->core.statements.items[i]];
    array_push(&note->core, (SpecCore){name, s->file, s->line});
  }
}

static void note_lines(const SpecKeeper *k, SpecNote *note) {
  const Score *s = &k->rounds->score;
  for (size_t i = 0; i < s->items.len; i++) {
    const ScoredLine *x = &s->items.items[i];
    const SourceLine *l = &k->inquiry->subject->lines.items[x->line];
    SpecLine line = {.file = l->file,
                     .line = l->line,
                     .susp = x->susp,
                     .core = x->suspect,
                     .alone = x->corrected,
                     .rank_best = x->rank_best};
    array_push(&note->lines, line);
  }
}

static int write_note(const SpecKeeper *k, Err *err) {
  const Inquiry *q = k->inquiry;
  char *names = violation_names(q->violation);
  char *signature = mem_printf("%s: %s", q->violation->table.function, names);
  SpecNote note = {.head = {.session = k->session,
                            .signature = signature,
                            .sources = k->sources}};
  for (size_t i = 0; i < q->cores.len; i++)
    note_core(q, &q->cores.items[i], &note);
  note_lines(k, &note);
  int rc = note_write(&spec_note_kind, store_dir(k->store), &note, err);
  note.head.sources = (NoteSources){0};
  note_release(&spec_note_kind, &note);
  free(signature);
  free(names);
  return rc;
}

// --- all of it --------------------------------------------------------------

static int keep(SpecKeeper *k, const char *command, Err *err) {
  bool continued;
  char *key = mem_printf("spec %.6f %d", clock_now(), getpid());
  int rc =
      session_begin(k->store, key, command, k->inquiry->subject->options.cwd,
                    &k->session, &continued, err);
  free(key);
  if (rc || add_units(k, err) || add_runs(k, err))
    return -1;
  return session_finish(k->store, k->session, err);
}

int spec_keep(const Rounds *r, Store *store, const char *command,
              int64_t *session, Err *err) {
  const Inquiry *q = r->candidates->inquiry;
  size_t n = q->subject->lines.len;
  SpecKeeper k = {.rounds = r, .inquiry = q, .store = store};
  k.lines = mem_array(uint32_t, n + 1);
  k.functions = mem_array(uint32_t, n + 1);
  for (size_t i = 0; i < n; i++)
    k.lines[i] = k.functions[i] = ENTITY_NONE;
  int rc = store_bulk_begin(store, err);
  if (!rc) {
    rc = keep(&k, command, err);
    if (store_bulk_end(store, !rc, err))
      rc = -1;
  }
  if (!rc)
    rc = write_note(&k, err);
  *session = k.session;
  array_release(&k.sources);
  arena_release(&k.arena);
  free(k.lines);
  free(k.functions);
  return rc;
}
