// The tests inside a test: see segments.h.
//
// Files are untrusted and may end at any byte. Words are counted by module: its
// run file says where in the counters each unit begins.
#include "program/segments.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/collector.h"
#include "program/pair_log.h"
#include "util/fs.h"
#include "util/mem.h"

// A script that starts fewer processes tests one thing with all of them.
enum { PROCESSES_ENOUGH = 8, FILE_MAX = 1 << 30 };
enum { NOBODY = -1, EVERYBODY = -2 };

// One process and module.
typedef struct {
  char *run_name; // of its run file
  uint32_t pid, ppid;
  bool leads; // it is the test's own program, not one that a script started
  uint64_t started, ended;
  OutputPlace at; // when it started
  bool died;
  char *program;
  CounterRanges ranges;
  Str segments; // its file of records; empty: none
} Module;

typedef struct {
  uint64_t begin, end; // time
  uint64_t frame;
  uint32_t pid;
  bool suite;
} Interval;

// A part of a module's records, and whose it is.
typedef struct {
  const Module *module;
  const SegmentRecord *record;
  int owner; // index of an Interval, NOBODY, EVERYBODY
} Part;

typedef struct {
  Collector *collector;
  const char *dir;
  ARRAY(Module) modules;
  ARRAY(Interval) intervals;
  ARRAY(Segment) segments; // one per interval
  ARRAY(Part) parts;
} Reading;

static void segment_release(Segment *s) {
  free(s->name);
  free(s->title);
  free(s->program);
  run_release(&s->run);
}

void segments_release(Segments *s) {
  for (size_t i = 0; i < s->len; i++)
    segment_release(&s->items[i]);
  array_release(s);
}

// --- records ----------------------------------------------------------------

static size_t name_room(const SegmentRecord *r) {
  return (r->name_size + 7) & ~(size_t)7;
}

// The record at `*at`, which moves behind it; NULL: no whole one is left.
static const SegmentRecord *next_record(const Str *file, size_t *at) {
  size_t left = file->len - *at;
  const SegmentRecord *r = (const SegmentRecord *)(file->data + *at);
  if (left < sizeof *r || r->magic != SEGMENT_MAGIC || r->size > left ||
      r->size % 8 || r->size < sizeof *r || r->name_size > r->size - sizeof *r)
    return NULL;
  size_t words = r->size - sizeof *r;
  if (name_room(r) > words ||
      (words - name_room(r)) / sizeof(SegmentWord) < r->nwords)
    return NULL;
  *at += r->size;
  return r;
}

static const SegmentWord *words_of(const SegmentRecord *r) {
  return (const SegmentWord *)((const char *)(r + 1) + name_room(r));
}

// --- modules ----------------------------------------------------------------

// PID-UNIT-N.run -> PID-UNIT.seg
static void read_records(Module *m, const char *dir, const char *run_name) {
  Err ignored;
  const char *end = strrchr(run_name, '-');
  if (!end)
    return;
  char *path = mem_printf("%s/%.*s.seg", dir, (int)(end - run_name), run_name);
  fs_read_regular(path, FILE_MAX, &m->segments, &ignored);
  free(path);
}

static void add_module(Reading *r, int dir, const char *name) {
  const char *bad;
  const RunHeader *h = collector_load(r->collector, dir, name, &bad);
  if (!h)
    return;
  Module m = {.run_name = mem_strdup(name),
              .pid = h->pid,
              .ppid = h->ppid,
              .leads = h->session == h->pid,
              .started = h->started,
              .ended = h->ended,
              .at = {h->out, h->err},
              .died = h->state == RUN_DIED || h->state == RUN_DYING,
              .program = mem_printf("%.*s", (int)sizeof h->module, h->module)};
  counter_ranges_read(&m.ranges, r->collector, h);
  read_records(&m, r->dir, name);
  array_push(&r->modules, m);
}

static int by_start(const void *a, const void *b) {
  const Module *x = a, *y = b;
  if (x->started != y->started)
    return x->started < y->started ? -1 : 1;
  return strcmp(x->run_name, y->run_name);
}

static uint64_t first_time(const Module *m) {
  size_t at = 0;
  const SegmentRecord *r = next_record(&m->segments, &at);
  return r ? r->time : 0;
}

// A process that executed itself has several run files and one of records: it
// is the last one's that had started then.
static void share_records(Reading *r) {
  for (size_t i = 0; i < r->modules.len; i++) {
    Module *m = &r->modules.items[i];
    size_t base = (size_t)(strrchr(m->run_name, '-') - m->run_name) + 1;
    uint64_t time = first_time(m);
    for (size_t k = i + 1; k < r->modules.len && m->segments.len; k++) {
      Module *later = &r->modules.items[k];
      if (later->pid != m->pid || strncmp(later->run_name, m->run_name, base))
        continue;
      str_clear(later->started <= time ? &m->segments : &later->segments);
    }
  }
}

static void read_modules(Reading *r) {
  DIR *dir = opendir(r->dir);
  if (!dir)
    return;
  for (struct dirent *e; (e = readdir(dir));)
    if (text_ends(e->d_name, ".run"))
      add_module(r, dirfd(dir), e->d_name);
  closedir(dir);
  if (r->modules.len)
    qsort(r->modules.items, r->modules.len, sizeof(Module), by_start);
  share_records(r);
}

static void reading_release(Reading *r) {
  for (size_t i = 0; i < r->modules.len; i++) {
    Module *m = &r->modules.items[i];
    free(m->run_name);
    free(m->program);
    counter_ranges_release(&m->ranges);
    str_release(&m->segments);
  }
  for (size_t i = 0; i < r->segments.len; i++)
    segment_release(&r->segments.items[i]);
  array_release(&r->modules);
  array_release(&r->intervals);
  array_release(&r->segments);
  array_release(&r->parts);
}

// --- counters ---------------------------------------------------------------

static void count_word(const UnitRange *range, const SegmentWord *w) {
  KnownUnit *u = range->unit;
  uint64_t at = w->index * sizeof w->value - range->begin;
  u->processes = 1;
  if (u->map->counter_size == COUNTERS_COUNTS) {
    u->count[at / sizeof w->value] += w->value;
    u->hit[at / sizeof w->value] = 1;
    return;
  }
  const unsigned char *bytes = (const unsigned char *)&w->value;
  for (size_t i = 0; i < sizeof w->value && at + i < u->map->ncounters; i++)
    u->hit[at + i] |= bytes[i];
}

static void count_at(Collector *c, const CounterRanges *r,
                     const SegmentWord *w) {
  if (w->index >= UINT64_MAX / sizeof w->value)
    return;
  uint64_t byte = w->index * sizeof w->value;
  const UnitRange *range = counter_range_of(r, byte);
  if (range)
    count_word(range, w);
  else if (byte >= r->log && byte < r->log_end)
    pair_log_take(c, r, (byte - r->log) / sizeof w->value, w->value);
}

static void count_record(Collector *c, const Module *m,
                         const SegmentRecord *r) {
  const SegmentWord *words = words_of(r);
  for (uint32_t i = 0; i < r->nwords; i++)
    count_at(c, &m->ranges, &words[i]);
}

void segments_unite(Collector *c, const char *dir) {
  Reading r = {.collector = c, .dir = dir};
  read_modules(&r);
  for (size_t i = 0; i < r.modules.len; i++) {
    const Module *m = &r.modules.items[i];
    const SegmentRecord *record;
    for (size_t at = 0; (record = next_record(&m->segments, &at));)
      count_record(c, m, record);
  }
  reading_release(&r);
}

// --- intervals --------------------------------------------------------------

typedef ARRAY(size_t) SegmentStack;

static int add_interval(Reading *r, const Module *m, const SegmentRecord *at) {
  int index = (int)r->intervals.len;
  array_push(&r->intervals,
             (Interval){.begin = at->time, .frame = at->frame, .pid = m->pid});
  array_push(&r->segments,
             (Segment){.name = mem_printf("%.*s", (int)at->name_size,
                                          (const char *)(at + 1)),
                       .program = mem_strdup(m->program),
                       .begin = {at->out, at->err},
                       .end = {-1, -1},
                       .done = {-1, -1}});
  return index;
}

static void close_interval(Reading *r, size_t i, const SegmentRecord *at) {
  if (!r->intervals.items[i].end)
    r->intervals.items[i].end = at->time;
}

// The stack grows down: what has this frame or a deeper one is over.
static void leave(Reading *r, SegmentStack *open, const SegmentRecord *at,
                  uint64_t frame) {
  while (open->len && r->intervals.items[array_last(open)].frame <= frame) {
    close_interval(r, array_last(open), at);
    open->len--;
  }
}

// What it wrote ends where the next one begins; if that is not known, it is not
// known what it wrote.
static void set_end(Segment *s, OutputPlace next) {
  s->end.out = next.out < 0 ? s->begin.out : next.out;
  s->end.err = next.err < 0 ? s->begin.err : next.err;
}

static void enter(Reading *r, SegmentStack *open, const Module *m, size_t first,
                  const SegmentRecord *at) {
  leave(r, open, at, at->frame);
  if (r->segments.len > first)
    set_end(&array_last(&r->segments), (OutputPlace){at->out, at->err});
  if (open->len)
    r->intervals.items[array_last(open)].suite = true;
  array_push(open, (size_t)add_interval(r, m, at));
}

static void take_result(Segment *s, const SegmentRecord *at) {
  s->returned = true;
  s->done = (OutputPlace){at->out, at->err};
  s->has_result = at->flags & SEGMENT_HAS_RESULT;
  s->has_verdict = at->flags & SEGMENT_HAS_VERDICT;
  s->result = at->result;
}

static void come_back(Reading *r, SegmentStack *open, const SegmentRecord *at) {
  while (open->len && r->intervals.items[array_last(open)].frame < at->frame) {
    close_interval(r, array_last(open), at);
    open->len--;
  }
  if (!open->len || r->intervals.items[array_last(open)].frame != at->frame)
    return;
  Segment *s = &r->segments.items[array_last(open)];
  take_result(s, at);
  close_interval(r, array_last(open), at);
  open->len--;
}

// Whose is what ran before this mark?
static int owner_before(const Reading *r, const SegmentStack *open,
                        size_t first) {
  if (open->len && !r->intervals.items[array_last(open)].suite)
    return (int)array_last(open);
  return r->intervals.len == first ? EVERYBODY : NOBODY;
}

// A line of TAP: what ran since the last mark is its test.
static int add_point(Reading *r, const Module *m, const SegmentRecord *at,
                     const SegmentRecord *last) {
  int index = add_interval(r, m, at);
  Segment *s = &r->segments.items[index];
  s->begin = last ? (OutputPlace){last->out, last->err} : m->at;
  s->end = (OutputPlace){at->out, at->err};
  take_result(s, at);
  s->tap = true;
  r->intervals.items[index].begin = last ? last->time : m->started;
  r->intervals.items[index].end = at->time;
  return index;
}

typedef struct {
  uint64_t time;
  int owner;
} SegmentMark;
typedef ARRAY(SegmentMark) SegmentMarks;

// Goes through the marks of the module that runs the tests. Returns what is
// open when they end, NOBODY if nothing.
static int follow(Reading *r, const Module *m, SegmentMarks *out) {
  SegmentStack open = {0};
  const SegmentRecord *at, *last = NULL;
  size_t first = r->intervals.len, waiting = 0;
  for (size_t i = 0; (at = next_record(&m->segments, &i)); last = at) {
    if (at->kind == SEGMENT_MORE)
      continue;
    SegmentMark b = {at->time, owner_before(r, &open, first)};
    if (at->kind == SEGMENT_POINT && !open.len)
      b.owner = add_point(r, m, at, last);
    if (at->kind == SEGMENT_BEGIN)
      enter(r, &open, m, first, at);
    if (at->kind == SEGMENT_END)
      come_back(r, &open, at);
    array_push(out, b);
    // What nobody had before a test begins is that test's.
    if (at->kind == SEGMENT_BEGIN)
      for (; waiting < out->len; waiting++)
        if (out->items[waiting].owner == NOBODY)
          out->items[waiting].owner = (int)r->intervals.len - 1;
  }
  int rest = open.len ? (int)array_last(&open) : NOBODY;
  if (r->segments.len > first)
    array_last(&r->segments).last = true;
  array_release(&open);
  return rest;
}

static int by_time(const void *a, const void *b) {
  const SegmentMark *x = a, *y = b;
  return (x->time > y->time) - (x->time < y->time);
}

static void add_parts(Reading *r, const Module *m, const SegmentMarks *known) {
  const SegmentRecord *at;
  for (size_t i = 0; (at = next_record(&m->segments, &i));) {
    SegmentMark key = {.time = at->time};
    const SegmentMark *b = known->len ? bsearch(&key, known->items, known->len,
                                                sizeof *known->items, by_time)
                                      : NULL;
    array_push(&r->parts, (Part){m, at, b ? b->owner : NOBODY});
  }
}

// The module with the names runs the tests.
static bool runs_tests(const Module *m) {
  const SegmentRecord *at;
  for (size_t i = 0; (at = next_record(&m->segments, &i));)
    if (at->kind == SEGMENT_POINT ||
        (at->kind == SEGMENT_BEGIN && at->name_size))
      return true;
  return false;
}

// What the process counted after its last mark is in its run files.
static void add_rest(Reading *r, uint32_t pid, int owner) {
  for (size_t i = 0; i < r->modules.len; i++) {
    const Module *m = &r->modules.items[i];
    if (m->pid == pid && m->segments.len)
      array_push(&r->parts, (Part){m, NULL, owner});
  }
}

static void read_process(Reading *r, const Module *driver) {
  SegmentMarks known = {0};
  int rest = follow(r, driver, &known);
  if (rest >= 0 && !r->intervals.items[rest].end)
    r->intervals.items[rest].end = driver->ended;
  if (rest >= 0 && driver->died)
    r->segments.items[rest].died = true;
  for (size_t i = 0; i < r->modules.len; i++)
    if (r->modules.items[i].pid == driver->pid)
      add_parts(r, &r->modules.items[i], &known);
  if (rest >= 0)
    add_rest(r, driver->pid, rest);
  array_release(&known);
}

// The test that was running when this process started.
static int running_at(const Reading *r, uint64_t time) {
  int best = NOBODY;
  for (size_t i = 0; i < r->intervals.len; i++) {
    const Interval *v = &r->intervals.items[i];
    if (!v->suite && v->begin <= time && (!v->end || time < v->end))
      best = (int)i;
  }
  return best;
}

static void add_children(Reading *r) {
  for (size_t i = 0; i < r->modules.len; i++) {
    const Module *m = &r->modules.items[i];
    int owner = m->segments.len ? NOBODY : running_at(r, m->started);
    if (owner >= 0)
      array_push(&r->parts, (Part){m, NULL, owner});
  }
}

// --- tests in several processes ---------------------------------------------

typedef struct {
  uint64_t begin;
  size_t segment;
} Start;

static int by_begin_time(const void *a, const void *b) {
  const Start *x = a, *y = b;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  return (x->segment > y->segment) - (x->segment < y->segment);
}

static uint64_t ends(const Reading *r, size_t i) {
  uint64_t end = r->intervals.items[i].end;
  return end ? end : UINT64_MAX; // not known
}

// What a test without a successor in its process wrote ends where the next one
// of another process begins. One that begins before another has ended overlaps
// with it.
static void settle_ends(Reading *r) {
  ARRAY(Start) order = {0};
  for (size_t i = 0; i < r->intervals.len; i++)
    if (!r->intervals.items[i].suite)
      array_push(&order, (Start){r->intervals.items[i].begin, i});
  if (order.len)
    qsort(order.items, order.len, sizeof(Start), by_begin_time);
  size_t longest = 0; // of those so far, the one that ends last
  for (size_t i = 0; i < order.len; i++) {
    size_t at = order.items[i].segment;
    Segment *s = &r->segments.items[at];
    if (i && ends(r, longest) > order.items[i].begin)
      s->overlaps = r->segments.items[longest].overlaps = true;
    if (!i || ends(r, at) > ends(r, longest))
      longest = at;
    if (s->last && i + 1 < order.len)
      set_end(s, r->segments.items[order.items[i + 1].segment].begin);
  }
  array_release(&order);
}

// --- processes as segments --------------------------------------------------

static void add_process(Reading *r, const Module *m) {
  if (r->intervals.len) {
    uint64_t ended = array_last(&r->intervals).end;
    set_end(&array_last(&r->segments), m->at);
    array_last(&r->segments).overlaps = !ended || ended > m->started;
  }
  array_push(&r->intervals,
             (Interval){.begin = m->started, .end = m->ended, .pid = m->pid});
  array_push(&r->segments, (Segment){.name = mem_strdup(""),
                                     .program = mem_strdup(m->program),
                                     .begin = m->at,
                                     .end = {-1, -1},
                                     .done = {-1, -1},
                                     .died = m->died});
}

// Processes that one of the others started belong to it: those that the script
// started are tests. Modules are in the order they started in.
static void take_processes(Reading *r) {
  Hashmap processes = {0};
  for (size_t i = 0; i < r->modules.len; i++) {
    const Module *m = &r->modules.items[i];
    uint64_t owner;
    if (!hashmap_get(&processes, &m->pid, sizeof m->pid, &owner)) {
      bool child = hashmap_get(&processes, &m->ppid, sizeof m->ppid, &owner);
      if (!child) {
        owner = r->intervals.len;
        add_process(r, m);
      }
      hashmap_put(&processes, &m->pid, sizeof m->pid, owner);
    }
    array_push(&r->parts, (Part){m, NULL, (int)owner});
  }
  hashmap_release(&processes);
  if (r->segments.len)
    array_last(&r->segments).last = true;
}

// Several programs are steps of one test; of one program, each process that the
// script started is a test. A program that starts itself is no script.
static bool are_processes_tests(const Reading *r) {
  Hashmap pids = {0};
  size_t started = 0;
  bool same = true;
  for (size_t i = 0; i < r->modules.len; i++) {
    const Module *m = &r->modules.items[i];
    uint64_t ignored;
    bool child = hashmap_get(&pids, &m->ppid, sizeof m->ppid, &ignored);
    if (hashmap_intern(&pids, &m->pid, sizeof m->pid, i) != i || child)
      continue;
    started++;
    same &= !m->leads && !strcmp(m->program, r->modules.items[0].program);
  }
  hashmap_release(&pids);
  return started >= PROCESSES_ENOUGH && same;
}

// --- segments ---------------------------------------------------------------

static int count_run_file(Reading *r, const Module *m, Run *run,
                          DeadProcesses *dead, Err *err) {
  const char *bad;
  DIR *dir = opendir(r->dir);
  if (!dir)
    return 0;
  const RunHeader *h =
      collector_load(r->collector, dirfd(dir), m->run_name, &bad);
  int rc = 0;
  if (h) {
    rc =
        collector_read_units(r->collector, h, r->collector->file.len, run, err);
    collector_note_death(r->collector, h, r->collector->file.len, dead);
  }
  closedir(dir);
  return rc;
}

static int by_owner(const void *a, const void *b) {
  const Part *x = a, *y = b;
  return (x->owner > y->owner) - (x->owner < y->owner);
}

static int count_part(Reading *r, const Part *p, Run *run, DeadProcesses *dead,
                      Err *err) {
  if (!p->record)
    return count_run_file(r, p->module, run, dead, err);
  count_record(r->collector, p->module, p->record);
  return 0;
}

// Counts the parts of one segment, which begin at *next, after those of its
// process that are everybody's (among the first `common`).
static int fill(Reading *r, int owner, size_t common, size_t *next, Run *run,
                Err *err) {
  DeadProcesses dead = {0};
  int rc = 0;
  for (size_t i = 0; !rc && i < common; i++)
    if (r->parts.items[i].owner == EVERYBODY &&
        r->parts.items[i].module->pid == r->intervals.items[owner].pid)
      rc = count_part(r, &r->parts.items[i], run, &dead, err);
  while (*next < r->parts.len && r->parts.items[*next].owner < owner)
    (*next)++;
  for (; !rc && *next < r->parts.len && r->parts.items[*next].owner == owner;
       (*next)++)
    rc = count_part(r, &r->parts.items[*next], run, &dead, err);
  run->processes = 1;
  for (size_t i = 0; i < dead.len; i++)
    collector_add_death(r->collector, &dead.items[i], run);
  array_release(&dead);
  collector_translate(r->collector, run);
  return rc;
}

static int fill_all(Reading *r, Segments *out, Err *err) {
  size_t common = 0, next = 0;
  int rc = 0;
  if (r->parts.len)
    qsort(r->parts.items, r->parts.len, sizeof(Part), by_owner);
  while (common < r->parts.len && r->parts.items[common].owner < 0)
    common++;
  next = common;
  for (size_t i = 0; !rc && i < r->segments.len; i++) {
    if (r->intervals.items[i].suite)
      continue;
    Segment *s = &r->segments.items[i];
    rc = fill(r, (int)i, common, &next, &s->run, err);
    array_push(out, *s);
    *s = (Segment){0};
  }
  return rc;
}

int collector_collect_segments(Collector *c, const char *dir, Segments *out,
                               Err *err) {
  Reading r = {.collector = c, .dir = dir};
  if (!c->marked && c->files < PROCESSES_ENOUGH)
    return 0;
  read_modules(&r);
  for (size_t i = 0; i < r.modules.len; i++)
    if (runs_tests(&r.modules.items[i]))
      read_process(&r, &r.modules.items[i]);
  if (r.intervals.len) {
    add_children(&r);
    settle_ends(&r);
  } else if (are_processes_tests(&r)) {
    take_processes(&r);
  }
  int rc = fill_all(&r, out, err);
  reading_release(&r);
  return rc;
}
