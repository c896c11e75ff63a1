// Follows a replay instruction by instruction: see watch.h.
#include "near/watch.h"

#include <string.h>
#include <xxhash.h>

#include "util/mem.h"
#include "util/str.h"

enum {
  WINDOW = 1000 * 1000, // events that are kept at least
  POINTEE = 256,        // bytes that code outside looks at
  NEAREST = 256,        // local objects that an address is looked for in
  CALLS_MAX = 1 << 20,
  GLOBAL_MAX = 256, // bytes of a global whose start is known
};

static const struct {
  bool d, a, b, c;
} ops[] = {
#define IR_OP(name, d, a, b, c) {d, a, b, c},
#include "ir/ir_ops.def"
#undef IR_OP
};

// --- events -----------------------------------------------------------------

// The older half goes.
static void drop_old(Watch *w) {
  size_t keep = w->items.len - WINDOW;
  uint32_t first = w->items.items[WINDOW].first_dep;
  size_t gone = first - w->dep_base;
  memmove(w->items.items, w->items.items + WINDOW,
          keep * sizeof *w->items.items);
  memmove(w->deps.items, w->deps.items + gone,
          (w->deps.len - gone) * sizeof *w->deps.items);
  w->items.len = keep;
  w->deps.len -= gone;
  w->base += WINDOW;
  w->dep_base = first;
  w->cut = true;
}

static uint32_t add_event(Watch *w, const IrInst *i, uint32_t control) {
  w->last++;
  if (!w->depends)
    return w->last;
  if (w->items.len >= 2 * WINDOW)
    drop_old(w);
  array_push(&w->items,
             (WatchEvent){(uint32_t)(i - w->program->insts.items), control,
                          w->dep_base + (uint32_t)w->deps.len});
  return w->last;
}

static void add_dep(Watch *w, uint32_t event) {
  if (!w->depends || !event)
    return;
  size_t first = array_last(&w->items).first_dep - w->dep_base;
  if (w->deps.len > first && array_last(&w->deps) == event)
    return;
  array_push(&w->deps, event);
}

static uint32_t setter(const Watch *w, const WatchFrame *f, uint32_t operand) {
  return operand & IR_CONST ? 0 : w->sets.items[f->first_reg + operand];
}

static void set(Watch *w, const WatchFrame *f, uint32_t reg, uint32_t event) {
  w->sets.items[f->first_reg + reg] = event;
}

static uint64_t value_of(const Watch *w, const ReplayStep *s,
                         uint32_t operand) {
  return operand & IR_CONST ? w->program->values.items[operand & ~IR_CONST]
                            : s->regs[operand];
}

// --- memory -----------------------------------------------------------------

static void add_writers(Watch *w, uint64_t at, uint64_t n) {
  for (uint64_t i = 0; w->depends && i < n; i++) {
    uint8_t byte;
    bool known;
    uint32_t writer;
    if (watched_byte(&w->memory, at + i, &byte, &known, &writer))
      add_dep(w, writer);
  }
}

// How many bytes from there on belong together.
static uint64_t extent(Watch *w, uint64_t at) {
  uint64_t most = POINTEE, n = 0;
  for (size_t i = w->objects.len; i-- > 0 && w->objects.len - i < NEAREST;) {
    const WatchObject *o = &w->objects.items[i];
    if (at - o->at < o->size && o->size - (at - o->at) < most)
      most = o->size - (at - o->at);
  }
  uint8_t byte;
  bool known;
  uint32_t writer;
  while (n < most && watched_byte(&w->memory, at + n, &byte, &known, &writer))
    n++;
  return n;
}

static void copy(Watch *w, uint64_t to, uint64_t from, uint64_t n,
                 uint32_t event) {
  enum { MOST = 1 << 16 };
  uint8_t *bytes = mem_alloc(n && n < MOST ? n : 1);
  bool all = n < MOST;
  for (uint64_t i = 0; all && i < n; i++) {
    bool known;
    uint32_t writer;
    watched_byte(&w->memory, from + i, &bytes[i], &known, &writer);
    all &= known;
  }
  add_writers(w, from, n < MOST ? n : MOST);
  watched_write(&w->memory, to, all ? bytes : NULL, n, event);
  free(bytes);
}

static void fill(Watch *w, uint64_t to, uint8_t byte, uint64_t n,
                 uint32_t event) {
  enum { MOST = 1 << 22 };
  for (uint64_t i = 0; i < n && i < MOST; i++)
    watched_write(&w->memory, to + i, &byte, 1, event);
}

static void watch_written(void *watch, uint64_t at, const uint8_t *bytes,
                          uint64_t n) {
  Watch *w = watch;
  uint32_t by = w->frames.len ? array_last(&w->frames).call_event : 0;
  watched_write(&w->memory, at, bytes, n, by);
}

// --- calls ------------------------------------------------------------------

static const char *callee(const Watch *w, const IrCall *c) {
  const Program *p = w->program;
  return c->symbol == IR_NONE
             ? ""
             : program_name(p, p->symbols.items[c->symbol].name);
}

static bool is_outside(const Watch *w, const ReplayStep *s, const IrCall *c) {
  if (c->symbol != IR_NONE)
    return w->program->symbols.items[c->symbol].function == IR_NONE;
  return program_function_at(w->program, value_of(w, s, c->pointer)) == IR_NONE;
}

static bool is_output(const char *name) {
  static const char *const names[] = {"printf",
                                      "fprintf",
                                      "vprintf",
                                      "vfprintf",
                                      "dprintf",
                                      "puts",
                                      "putchar",
                                      "putc",
                                      "fputc",
                                      "fputs",
                                      "fwrite",
                                      "write",
                                      "_IO_putc",
                                      "__printf_chk",
                                      "__fprintf_chk",
                                      "putchar_unlocked",
                                      "putc_unlocked",
                                      "fputs_unlocked",
                                      NULL};
  return text_is_one_of(name, names);
}

static bool is_exit(const char *name) {
  static const char *const names[] = {"exit", "_exit", "_Exit", "quick_exit",
                                      NULL};
  return text_is_one_of(name, names);
}

// The call that was given this address last, if that is not known to be written
// since; NULL: there is none. What it wrote need not be in the trace.
static const WatchCall *later_call(Watch *w, uint64_t at) {
  uint64_t call;
  uint8_t byte;
  bool known;
  uint32_t writer;
  if (!hashmap_get(&w->given, &at, sizeof at, &call))
    return NULL;
  const WatchCall *c = &w->calls.items[call];
  watched_byte(&w->memory, at, &byte, &known, &writer);
  return c->event > writer ? c : NULL;
}

static uint64_t hash_pointee(Watch *w, uint64_t at, uint64_t hash) {
  const WatchCall *by = later_call(w, at);
  uint8_t byte = 1;
  if (by)
    return XXH3_64bits_withSeed(&by->hash, sizeof by->hash, hash);
  for (uint64_t i = 0; i < POINTEE && byte; i++) {
    bool known;
    uint32_t writer;
    watched_byte(&w->memory, at + i, &byte, &known, &writer);
    if (!known)
      break;
    hash = XXH3_64bits_withSeed(&byte, 1, hash);
  }
  return hash;
}

static uint64_t hash_args(Watch *w, const ReplayStep *s, const IrCall *c) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < c->nargs; i++) {
    const IrArg *a = &w->program->args.items[c->first_arg + i];
    uint64_t v = value_of(w, s, a->operand);
    if (a->flags & IR_POINTER)
      hash = hash_pointee(w, v, hash);
    else
      hash = XXH3_64bits_withSeed(&v, sizeof v, hash);
  }
  return hash;
}

// An argument, and what it points to.
static void add_argument(Watch *w, const ReplayStep *s, const WatchFrame *f,
                         const IrArg *a) {
  uint64_t at = value_of(w, s, a->operand);
  add_dep(w, setter(w, f, a->operand));
  if (!(a->flags & IR_POINTER) || !w->depends)
    return;
  const WatchCall *by = later_call(w, at);
  add_dep(w, by ? by->event : 0);
  add_writers(w, at, extent(w, at));
}

// Code outside may write to where its arguments point to, unless it is known
// for something else.
static void note_call(Watch *w, const ReplayStep *s, const IrCall *c) {
  w->last_outside = w->last;
  WatchCall call = {hash_args(w, s, c), w->last,
                    (uint32_t)(s->inst - w->program->insts.items)};
  if (is_output(callee(w, c))) {
    if (w->outputs.len < CALLS_MAX)
      array_push(&w->outputs, call);
    return;
  }
  for (uint32_t i = 0; i < c->nargs; i++) {
    const IrArg *a = &w->program->args.items[c->first_arg + i];
    uint64_t at = value_of(w, s, a->operand);
    if (a->flags & IR_POINTER && w->calls.len < CALLS_MAX)
      hashmap_put(&w->given, &at, sizeof at, w->calls.len);
  }
  if (w->calls.len < CALLS_MAX)
    array_push(&w->calls, call);
}

static void end(Watch *w, uint64_t status) {
  if (w->end)
    return; // what follows are functions that run at the end
  w->end = w->last;
  w->status = status & 255;
}

static void step_call(Watch *w, const ReplayStep *s, WatchFrame *f) {
  const IrCall *c = &w->program->calls.items[s->inst->a];
  const IrArg *args = w->program->args.items + c->first_arg;
  f->call = c;
  f->call_event = w->last;
  for (uint32_t i = 0; i < c->nscalars; i++)
    set(w, f, c->dst + i, w->last);
  if (s->inst->op == IR_CALL && !is_outside(w, s, c))
    return;
  for (uint32_t i = 0; i < c->nargs; i++)
    add_argument(w, s, f, &args[i]);
  if (s->inst->op == IR_CALL)
    note_call(w, s, c);
  if (is_exit(callee(w, c)) && c->nargs)
    end(w, value_of(w, s, args[0].operand));
}

// What it returns is the caller's from now on.
static void step_return(Watch *w, const ReplayStep *s, const WatchFrame *f) {
  const IrArg *values = w->program->args.items + s->inst->a;
  for (uint32_t i = 0; i < s->inst->b; i++)
    add_dep(w, setter(w, f, values[i].operand));
  if (w->frames.len == 1) {
    end(w, s->inst->b ? value_of(w, s, values[0].operand) : 0);
  } else {
    const WatchFrame *caller = f - 1;
    for (uint32_t i = 0; caller->call && i < caller->call->nscalars; i++)
      set(w, caller, caller->call->dst + i, w->last);
  }
  w->objects.len = f->first_object;
  w->bindings.len = f->first_binding;
  w->frames.len--;
}

// Parameters are the caller's arguments, or come from code outside.
static void set_params(Watch *w, const WatchFrame *f) {
  const Program *p = w->program;
  const IrFunction *function = &p->functions.items[f->function];
  if (w->frames.len < 2)
    return;
  const WatchFrame *caller = f - 1;
  const IrCall *c = caller->call;
  bool direct = c && (c->symbol == IR_NONE ||
                      p->symbols.items[c->symbol].function == f->function);
  for (uint32_t i = 0; i < function->nparams; i++) {
    uint32_t by =
        direct && i < c->nargs
            ? setter(w, caller, p->args.items[c->first_arg + i].operand)
            : 0;
    set(w, f, i, by ? by : caller->call_event);
  }
}

static void enter(Watch *w, const ReplayStep *s) {
  uint32_t nregs = w->program->functions.items[s->function].nregs;
  size_t need = (size_t)s->first_reg + nregs;
  array_push(&w->frames,
             (WatchFrame){.first_reg = s->first_reg,
                          .function = s->function,
                          .first_object = (uint32_t)w->objects.len,
                          .first_binding = (uint32_t)w->bindings.len});
  if (need > w->sets.len) {
    array_reserve(&w->sets, need - w->sets.len);
    w->sets.len = need;
  }
  memset(w->sets.items + s->first_reg, 0, nregs * sizeof *w->sets.items);
  set_params(w, &array_last(&w->frames));
}

// The frame of an instruction: functions are entered, and left by longjmp,
// without a word.
static WatchFrame *find_frame(Watch *w, const ReplayStep *s) {
  while (w->frames.len > s->depth) {
    const WatchFrame *f = &array_last(&w->frames);
    w->objects.len = f->first_object;
    w->bindings.len = f->first_binding;
    w->frames.len--;
  }
  if (w->frames.len < s->depth)
    enter(w, s);
  return &array_last(&w->frames);
}

// --- instructions -----------------------------------------------------------

static void bind(Watch *w, const WatchFrame *f, uint32_t entry) {
  const IrVariable *all = w->program->variables.items;
  for (size_t i = f->first_binding; i < w->bindings.len; i++)
    if (all[w->bindings.items[i].entry].variable == all[entry].variable) {
      w->bindings.items[i].entry = entry;
      return;
    }
  array_push(&w->bindings, (WatchBinding){entry});
}

static void bind_variables(Watch *w, const ReplayStep *s, const WatchFrame *f) {
  uint32_t inst = (uint32_t)(s->inst - w->program->insts.items);
  uint32_t k = w->first_variable[inst];
  if (!k)
    return;
  for (k--; k < w->program->variables.len &&
            w->program->variables.items[k].inst == inst;
       k++)
    bind(w, f, k);
}

// All at once; each is an event of its own.
static void follow_edge(Watch *w, const WatchFrame *f, const IrInst *i,
                        uint32_t edge, uint32_t control) {
  const IrEdge *e = &w->program->edges.items[edge];
  const IrMove *moves = w->program->moves.items + e->first;
  w->copied.len = 0;
  for (uint32_t k = 0; k < e->n; k++)
    array_push(&w->copied, setter(w, f, moves[k].src));
  for (uint32_t k = 0; k < e->n; k++) {
    set(w, f, moves[k].dst, add_event(w, i, control));
    add_dep(w, w->copied.items[k]);
  }
}

static void add_operands(Watch *w, const ReplayStep *s, const WatchFrame *f) {
  const IrInst *i = s->inst;
  bool first = i->op == IR_SELECT && value_of(w, s, i->a) & 1;
  if (ops[i->op].a)
    add_dep(w, setter(w, f, i->a));
  if (ops[i->op].b && (i->op != IR_SELECT || first))
    add_dep(w, setter(w, f, i->b));
  if (ops[i->op].c && !first)
    add_dep(w, setter(w, f, i->c));
}

static void step_memory(Watch *w, const ReplayStep *s) {
  const IrInst *i = s->inst;
  uint64_t a = value_of(w, s, i->a);
  unsigned n = (i->width + 7u) / 8;
  uint64_t v;
  switch (i->op) {
  case IR_LOAD:
  case IR_LOAD_SEEN:
    add_writers(w, a, n);
    return;
  case IR_STORE:
    v = value_of(w, s, i->b);
    watched_write(&w->memory, a, (const uint8_t *)&v, n, w->last);
    return;
  case IR_MEMCPY:
    copy(w, a, value_of(w, s, i->b), value_of(w, s, i->c), w->last);
    return;
  case IR_MEMSET:
    fill(w, a, (uint8_t)value_of(w, s, i->b), value_of(w, s, i->c), w->last);
    return;
  case IR_FORGET:
    watched_forget(&w->memory, a, i->c);
    return;
  default:
    return;
  }
}

static void step_branch(Watch *w, const ReplayStep *s, WatchFrame *f,
                        uint32_t control) {
  const IrInst *i = s->inst;
  uint64_t number, key;
  if (i->op == IR_BR) {
    follow_edge(w, f, i, w->program->branches.items[i->b].first_edge, control);
    return;
  }
  w->last_branch = w->last;
  key = tracker_key(&w->tracker, s->depth, i->b);
  if (!hashmap_get(&w->wanted, &key, sizeof key, &number))
    return;
  WatchMoment *m = &w->moments.items[number];
  if (!m->seen)
    watch_moment(w, m, s);
}

// Which call of code outside may have written there: the last that was given
// the address, or the start of the object it lies in; else the last of all.
static uint32_t find_writer(const Watch *w, uint64_t at) {
  uint64_t call;
  if (hashmap_get(&w->given, &at, sizeof at, &call))
    return w->calls.items[call].event;
  for (size_t i = w->objects.len; i-- > 0 && w->objects.len - i < NEAREST;) {
    const WatchObject *o = &w->objects.items[i];
    if (at - o->at < o->size &&
        hashmap_get(&w->given, &o->at, sizeof o->at, &call))
      return w->calls.items[call].event;
  }
  return w->last_outside;
}

// Something else was loaded than the program wrote: code outside did.
static void note_loaded(Watch *w, uint64_t at, uint64_t v, unsigned n) {
  uint64_t known;
  if (watched_number(&w->memory, at, n, &known) && known == v)
    return;
  uint32_t writer = find_writer(w, at);
  add_dep(w, writer);
  watched_write(&w->memory, at, (const uint8_t *)&v, n, writer);
}

// Addresses of objects, and what was loaded, are known only afterwards: when
// the next instruction comes.
static void note_result(Watch *w, const ReplayStep *s) {
  const IrInst *last = s->inst - 1;
  if (w->block_begins)
    return;
  if (last->op == IR_LOAD || last->op == IR_LOAD_SEEN)
    note_loaded(w, value_of(w, s, last->a), s->regs[last->dst],
                (last->width + 7u) / 8);
  if (last->op != IR_ALLOCA)
    return;
  uint64_t n = value_of(w, s, last->a) * last->c, at = s->regs[last->dst];
  watched_forget(&w->memory, at, n);
  array_push(&w->objects, (WatchObject){at, n});
}

static void load_globals(Watch *w) {
  const Program *p = w->program;
  for (size_t i = 0; i < p->globals.len; i++) {
    const IrGlobal *g = &p->globals.items[i];
    uint64_t at = p->links.items[p->units.items[g->unit].first_link + g->link];
    if (g->size > GLOBAL_MAX)
      continue;
    fill(w, at, 0, g->size, 0);
    for (uint64_t k = 0; k < g->nbytes; k++)
      if (p->known.items[g->first_byte + k])
        watched_write(&w->memory, at + k, &p->bytes.items[g->first_byte + k], 1,
                      0);
  }
}

static void watch_step(void *watch, const ReplayStep *s) {
  Watch *w = watch;
  const IrInst *i = s->inst;
  if (!w->started)
    load_globals(w); // the program is bound now
  w->started = true;
  WatchFrame *f = find_frame(w, s);
  note_result(w, s);
  bind_variables(w, s, f);
  uint32_t control = w->branches.items[tracker_decider(&w->tracker, s->depth)];
  uint32_t event = add_event(w, i, control);
  if (w->block_begins) {
    f->block = event;
    f->execution = w->execution;
  }
  w->block_begins = false;
  if (i->op == IR_CALL || i->op == IR_RECORDED) {
    step_call(w, s, f);
    return;
  }
  if (i->op == IR_RET) {
    step_return(w, s, f);
    return;
  }
  add_operands(w, s, f);
  if (ops[i->op].d)
    set(w, f, i->dst, event);
  if (i->op >= IR_BR && i->op < IR_STOP)
    step_branch(w, s, f, control);
  else
    step_memory(w, s);
}

static void watch_branch(void *watch, uint32_t branch, uint32_t edge) {
  Watch *w = watch;
  const Program *p = w->program;
  tracker_branch(&w->tracker, branch, edge);
  const IrBlock *b = &p->blocks.items[w->tracker.control->block_of[branch]];
  follow_edge(w, &array_last(&w->frames), &p->insts.items[b->first + b->n - 1],
              p->branches.items[branch].first_edge + edge, w->last_branch);
}

static void watch_block(void *watch, uint32_t block, size_t depth) {
  Watch *w = watch;
  tracker_block(&w->tracker, block, depth);
  while (w->branches.len < w->events.items.len)
    array_push(&w->branches, w->last_branch);
  w->execution = ++w->executions[block];
  w->block_begins = true;
}

// --- opening and closing ----------------------------------------------------

static void index_variables(Watch *w) {
  const Program *p = w->program;
  w->first_variable = mem_array(uint32_t, p->insts.len + 1);
  for (size_t i = p->variables.len; i-- > 0;)
    w->first_variable[p->variables.items[i].inst] = (uint32_t)i + 1;
}

void watch_init(Watch *w, const Control *c, const uint64_t *keys, size_t n,
                bool depends) {
  *w = (Watch){.program = c->program, .depends = depends, .base = 1};
  events_init(&w->events);
  tracker_init(&w->tracker, c, &w->events);
  array_push(&w->branches, 0);
  for (size_t i = 0; i < n; i++) {
    array_push(&w->moments, (WatchMoment){.key = keys[i]});
    hashmap_put(&w->wanted, &keys[i], sizeof keys[i], i);
  }
  w->executions = mem_array(uint64_t, c->program->blocks.len + 1);
  index_variables(w);
}

void watch_release(Watch *w) {
  for (size_t i = 0; i < w->moments.len; i++)
    array_release(&w->moments.items[i].variables);
  array_release(&w->moments);
  hashmap_release(&w->wanted);
  hashmap_release(&w->given);
  hashmap_release(&w->before);
  tracker_release(&w->tracker);
  events_release(&w->events);
  watched_release(&w->memory);
  array_release(&w->frames);
  array_release(&w->sets);
  array_release(&w->copied);
  array_release(&w->objects);
  array_release(&w->bindings);
  array_release(&w->branches);
  array_release(&w->items);
  array_release(&w->deps);
  array_release(&w->outputs);
  array_release(&w->calls);
  free(w->first_variable);
  free(w->executions);
  free(w->used);
}

ReplayOptions watch_options(Watch *w, uint64_t most) {
  return (ReplayOptions){.max_instructions = most,
                         .observer = watch_branch,
                         .entered = watch_block,
                         .stepped = watch_step,
                         .written = watch_written,
                         .context = w};
}
