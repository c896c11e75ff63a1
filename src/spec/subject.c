// Native runs of a program with contracts: see subject.h.
#include "spec/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/runner.h"
#include "run/scratch.h"
#include "runtime/links_format.h"

enum { OUTPUT_MAX = 64 << 20 };

// --- statements -------------------------------------------------------------

static uint64_t line_key(const char *file, uint32_t line, char **key) {
  size_t n = strlen(file);
  *key = mem_alloc(n + sizeof line);
  memcpy(*key, file, n);
  memcpy(*key + n, &line, sizeof line);
  return n + sizeof line;
}

static uint32_t add_line(SpecSubject *s, SourceLine l) {
  char *key;
  uint64_t n = line_key(l.file, l.line, &key), fresh = s->lines.len;
  uint64_t number = hashmap_intern(&s->line_index, key, n, fresh);
  free(key);
  if (number == fresh) {
    l.file = arena_strdup(&s->arena, l.file);
    l.function = arena_strdup(&s->arena, l.function);
    array_push(&s->lines, l);
  }
  return (uint32_t)number;
}

uint32_t subject_line(const SpecSubject *s, const char *file, uint32_t line) {
  char *key;
  uint64_t n = line_key(file, line, &key), number = UINT32_MAX;
  hashmap_get(&s->line_index, key, n, &number);
  free(key);
  return (uint32_t)number;
}

static int assign(void *context, const Unit *u, uint32_t *ids, Err *err) {
  (void)err;
  SpecSubject *s = context;
  for (size_t i = 0; i < u->nentities; i++) {
    const Entity *e = &u->entities[i];
    ids[i] = (uint32_t)i;
    if (e->kind != ENTITY_STATEMENT)
      continue;
    const char *function =
        e->function < u->nentities ? u->entities[e->function].name : NULL;
    ids[i] = add_line(s, (SourceLine){u->sources[e->source].path, e->line,
                                      function ? function : ""});
  }
  return 0;
}

// --- opening ----------------------------------------------------------------

static int load_code(SpecSubject *s, Err *err) {
  for (size_t i = 0; i < s->build.nirs; i++)
    if (program_add(&s->ir, s->build.irs[i], err))
      return -1;
  program_link(&s->ir);
  return 0;
}

static int confine(SpecSubject *s, Err *err) {
  if (!s->options.confine)
    return 0;
  ConfinePlan plan = *s->options.confine;
  plan.scratch = s->options.dir;
  plan.copied = s->options.cwd;
  return confine_open(&s->confine, &plan, err);
}

int subject_open(SpecSubject *s, const SubjectOptions *o, Err *err) {
  *s = (SpecSubject){.options = *o};
  if (contracts_read(&s->contracts, o->program, err))
    return -1;
  if (!s->contracts.tables.len)
    return err_set(err,
                   "%s: no function has a contract; write one as a "
                   "comment /*@ ensures ...; */ before a function and build "
                   "it with culprit-cc",
                   o->program);
  if (linked_build(&s->build, o->program, o->cache, err) || load_code(s, err) ||
      confine(s, err))
    return -1;
  s->collector = collector_new(assign, s);
  return collector_add_module(s->collector, s->build.program, err);
}

void subject_close(SpecSubject *s) {
  confine_close(s->confine);
  collector_free(s->collector);
  contracts_release(&s->contracts);
  program_release(&s->ir);
  trace_build_release(&s->build);
  array_release(&s->lines);
  hashmap_release(&s->line_index);
  arena_release(&s->arena);
}

// --- running ----------------------------------------------------------------

static int wait_for(SpecSubject *s, Pool *pool, Outcome *out, Err *err) {
  size_t slot;
  PoolEvent event;
  while ((event = pool_wait(pool, -1, &slot, out)) != POOL_ENDED) {
    if (event == POOL_IDLE)
      return err_set(err, "%s: lost track of the run", s->options.program);
    s->interrupted = true;
    pool_kill_all(pool);
    return err_set(err, "interrupted");
  }
  if (out->end == END_UNSTARTED)
    return err_set(err, "%s", out->problem);
  return 0;
}

static void set_input(const SpecSubject *s, Redirect *r) {
  *r = (Redirect){.mode = REDIRECT_READ,
                  .path = s->options.input ? s->options.input : "/dev/null"};
}

// "NAME=DIR/FILE:FUNCTION:CALL". Not wanted: call 0, written as long; else the
// stack would lie elsewhere.
static char *point(const SpecSubject *s, const CallPoint *at, const char *name,
                   const char *file, bool wanted, Arena *arena) {
  char number[32];
  snprintf(number, sizeof number, "%llu", (unsigned long long)at->number);
  if (!wanted)
    memset(number, '0', strlen(number));
  return arena_printf(arena, "%s=%s/%s:%s:%s", name, s->options.dir, file,
                      at->function, number);
}

static int execute(SpecSubject *s, const char *dir, const CallPoint *at,
                   Outcome *out, Err *err) {
  Arena arena = {0};
  Redirect input;
  char *extra[4] = {arena_printf(&arena, "CULPRIT_RUN=%s", dir)};
  if (at) {
    extra[1] =
        point(s, at, "CULPRIT_SNAPSHOT", "snapshot", at->snapshot, &arena);
    extra[2] = point(s, at, "CULPRIT_PATCH", "patch", at->patch, &arena);
  }
  set_input(s, &input);
  char *cwd = s->confine ? confine_inside(s->confine, s->options.cwd)
                         : mem_strdup(s->options.cwd);
  Spawn spawn = {.path = s->build.program,
                 .argv = s->options.argv,
                 .env = environment_with(extra, &arena),
                 .cwd = cwd,
                 .out = arena_printf(&arena, "%s.out", dir),
                 .err = arena_printf(&arena, "%s.err", dir),
                 .redirects = &input,
                 .nredirects = 1,
                 .timeout = s->options.timeout,
                 .max_output = OUTPUT_MAX,
                 .mark = extra[0],
                 .confine = s->confine};
  // Only while it runs: an open pool keeps signals from ending the solver.
  Pool *pool;
  int rc = pool_open(&pool, 1, err);
  if (!rc) {
    pool_start(pool, 0, &spawn);
    rc = wait_for(s, pool, out, err);
    pool_close(pool);
  }
  free(cwd);
  arena_release(&arena);
  return rc;
}

int subject_run(SpecSubject *s, const CallPoint *at, SubjectRun *out,
                Err *err) {
  *out = (SubjectRun){0};
  char *dir = mem_printf("%s/run", s->options.dir);
  Run run = {0};
  int rc = dir_make_empty(dir, err);
  if (!rc)
    rc = execute(s, dir, at, &out->outcome, err);
  if (!rc)
    rc = collector_collect(s->collector, dir, &run, err);
  if (!rc) {
    violations_read(&out->violations, dir);
    bitset_union(&out->hits, &run.hits[ENTITY_STATEMENT]);
    s->runs++;
  }
  run_release(&run);
  free(dir);
  return rc;
}

void subject_run_release(SubjectRun *r) {
  violations_release(&r->violations);
  bitset_release(&r->hits);
}

// --- addresses --------------------------------------------------------------

// The table of one unit in the memory of the process.
static const unsigned char *find_links(const Snapshot *s, const IrUnit *u) {
  for (size_t i = 0; i < s->regions.len; i++) {
    const Region *r = &s->regions.items[i];
    for (uint64_t at = 0; r->bytes && at + sizeof(LinksHeader) <= r->size;
         at += 8) {
      LinksHeader h;
      memcpy(&h, r->bytes + at, sizeof h.magic);
      if (h.magic != LINKS_MAGIC)
        continue;
      memcpy(&h, r->bytes + at, sizeof h);
      if (!memcmp(h.id, u->id.bytes, sizeof h.id) && h.n == u->nlinks &&
          h.n <= (r->size - at - sizeof h) / 8)
        return r->bytes + at + sizeof h;
    }
  }
  return NULL;
}

int subject_bind(SpecSubject *s, const Snapshot *snapshot, Err *err) {
  Program *p = &s->ir;
  p->links.len = 0;
  for (size_t i = 0; i < p->units.len; i++) {
    IrUnit *u = &p->units.items[i];
    const unsigned char *values = find_links(snapshot, u);
    u->first_link = (uint32_t)p->links.len;
    if (!values && u->nlinks)
      return err_set(err,
                     "%s: the addresses of unit %zu are not in its memory; is "
                     "it part of a library that is loaded later?",
                     s->options.program, i);
    for (uint32_t k = 0; k < u->nlinks; k++) {
      uint64_t v;
      memcpy(&v, values + 8 * k, sizeof v);
      array_push(&p->links, v);
    }
  }
  program_use_links(p);
  return 0;
}
