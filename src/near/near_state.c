// The values each differing branch depended on: see near.h.
//
// Both runs are recorded and watched once more (watch.h). A variable matters at
// a branch if its values differ there and something that the wrong result
// depends on uses its value later in the failing run: a dynamic slice backwards
// from where the failure becomes visible, over data and control, intersected
// with what differs. near_put.c then runs the program with values exchanged.
#include <stdlib.h>

#include "near/near_internal.h"

enum { MOMENTS_MAX = 64 }; // branches

void near_release_state(Near *n) {
  for (size_t i = 0; i < n->moments.len; i++) {
    array_release(&n->moments.items[i].variables);
    array_release(&n->moments.items[i].minimal.puts);
    array_release(&n->moments.items[i].minimal.differ);
  }
  array_release(&n->moments);
}

// --- watching ---------------------------------------------------------------

static int watch_run(Near *n, const Inputs *in, const char *line, Watch *w,
                     Path *path, Err *err) {
  ReplayOptions options = watch_options(w, SEARCH_INSTRUCTIONS);
  if (!line || near_record(n, in, line, err))
    return -1;
  return recorder_replay(&n->search->recorder, 0, NULL, NULL, &options, path,
                         err);
}

static int watch_failing(Near *n, Watch *w, Path *path, Err *err) {
  return watch_run(n, &n->failing.inputs, n->failing.line, w, path, err);
}

static int watch_passing(Near *n, Watch *w, Path *path, Err *err) {
  const NearFound *f = &n->found.items[n->best];
  return watch_run(n, f->test ? NULL : &f->inputs, f->line, w, path, err);
}

// --- where the error shows --------------------------------------------------

// The first output that the other run does not have; 0: there is none.
static uint32_t strange_output(const Watch *f, const Watch *p) {
  for (size_t i = 0; i < f->outputs.len; i++) {
    const WatchCall *a = &f->outputs.items[i];
    if (i >= p->outputs.len || a->inst != p->outputs.items[i].inst ||
        a->hash != p->outputs.items[i].hash)
      return a->event;
  }
  return 0;
}

// Returns the event.
static uint32_t find_wrong(const Watch *f, const Path *path, const Watch *p,
                           WrongKind *kind) {
  if (!f->end || path->stop == STOP_CRASH) {
    *kind = path->stop == STOP_CRASH  ? WRONG_CRASH
            : path->stop == STOP_CALL ? WRONG_CALL
                                      : WRONG_CUT;
    return f->last;
  }
  uint32_t output = strange_output(f, p);
  bool status = !output || !p->end || f->status != p->status;
  *kind = status ? WRONG_STATUS : WRONG_OUTPUT;
  return status ? f->end : output;
}

static void note_wrong(Near *n, Watch *f, const Path *path, const Watch *p) {
  uint32_t event = find_wrong(f, path, p, &n->wrong.kind);
  const IrInst *i = watch_inst(f, event);
  n->wrong.cut = f->cut || f->memory.full || path->stop == STOP_LIMIT;
  n->wrong.file = "";
  if (i)
    n->wrong.file = program_place(n->control.program, i->place, &n->wrong.line);
  watch_slice(f, event);
}

// --- at each branch ---------------------------------------------------------

static const WatchVariable *find_variable(const WatchMoment *m,
                                          uint32_t number) {
  for (size_t i = 0; i < m->variables.len; i++)
    if (m->variables.items[i].number == number)
      return &m->variables.items[i];
  return NULL;
}

static void add_variables(const Watch *w, const WatchMoment *f,
                          const WatchMoment *p, NearMoment *out) {
  for (size_t i = 0; i < f->variables.len; i++) {
    const WatchVariable *a = &f->variables.items[i];
    const WatchVariable *b = find_variable(p, a->number);
    if (b && !watch_value_same(&a->value, &b->value) && watch_reaches(w, f, a))
      array_push(&out->variables, (NearVariable){.name = a->name,
                                                 .failing = a->value,
                                                 .passing = b->value});
  }
}

static void add_moment(Near *n, uint32_t event, const Watch *w,
                       const WatchMoment *f, const WatchMoment *p) {
  NearMoment m = {.event = event,
                  .op = f->op,
                  .nvalues = f->nvalues,
                  .block = f->at,
                  .failing_run = f->execution,
                  .passing_run = p->seen ? p->execution : 0,
                  .aligned = p->seen && p->nvalues == f->nvalues};
  for (size_t i = 0; i < f->nvalues; i++) {
    m.names[i] = f->names[i];
    m.taken[i] = f->values[i];
    m.needed[i] = p->values[i];
  }
  if (p->seen)
    add_variables(w, f, p, &m);
  array_push(&n->moments, m);
}

typedef ARRAY(uint32_t) EventList;

// The decisive ones first.
static void choose_events(const Near *n, EventList *out) {
  const Distance *d = &n->found.items[n->best].distance;
  for (int decisive = 1; decisive >= 0; decisive--)
    for (size_t i = 0; i < d->len && out->len < MOMENTS_MAX; i++) {
      uint32_t event = d->items[i].event;
      if (event && near_decisive(n, event) == (decisive == 1))
        array_push(out, event);
    }
}

static void compare_runs(Near *n, const EventList *events, Watch *f, Watch *p) {
  Path failing = {0}, passing = {0};
  Err ignored = {0};
  if (!watch_failing(n, f, &failing, &ignored) &&
      !watch_passing(n, p, &passing, &ignored)) {
    note_wrong(n, f, &failing, p);
    for (size_t i = 0; i < events->len; i++)
      if (f->moments.items[i].seen)
        add_moment(n, events->items[i], f, &f->moments.items[i],
                   &p->moments.items[i]);
  }
  path_release(&failing);
  path_release(&passing);
}

void near_explain(Near *n) {
  uint64_t keys[MOMENTS_MAX];
  EventList events = {0};
  Watch f, p;
  if (!n->found.len)
    return;
  choose_events(n, &events);
  for (size_t i = 0; i < events.len; i++)
    keys[i] = n->failing.events.items.items[events.items[i]].key;
  if (events.len) {
    watch_init(&f, &n->control, keys, events.len, true);
    watch_init(&p, &n->control, keys, events.len, false);
    compare_runs(n, &events, &f, &p);
    watch_release(&f);
    watch_release(&p);
    if (!n->options.keep_all)
      near_minimise(n);
  }
  array_release(&events);
}
