// Follows a replayed run and what its values depend on: see follower.h.
#include "look/follower.h"

#include <signal.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

enum {
  NEAREST = 256,         // local objects that an address is looked for in
  GLOBAL_MAX = 64 << 10, // bytes of a global whose start is known
};

static const struct {
  bool d, a, b, c;
} ops[] = {
#define IR_OP(name, d, a, b, c) {d, a, b, c},
#include "ir/ir_ops.def"
#undef IR_OP
};

// --- lines ------------------------------------------------------------------

static void index_lines(Follower *f) {
  const Program *p = f->program;
  Hashmap known = {0};
  Str key = {0};
  f->line_of = mem_array(uint32_t, p->places.len + 1);
  for (size_t i = 0; i < p->places.len; i++) {
    uint32_t line;
    const char *source = program_place(p, (uint32_t)i, &line);
    f->line_of[i] = IR_NONE;
    if (!line || !*source)
      continue;
    str_clear(&key);
    str_addf(&key, "%u:%s", line, source);
    uint64_t n = hashmap_intern(&known, str_text(&key), key.len, f->lines.len);
    if (n == f->lines.len)
      array_push(&f->lines, (FollowedLine){source, line});
    f->line_of[i] = (uint32_t)n;
  }
  f->single.items = mem_array(uint32_t, f->lines.len + 1);
  str_release(&key);
  hashmap_release(&known);
}

static uint32_t single(Follower *f, uint32_t line) {
  uint32_t *set = &f->single.items[line];
  if (!*set)
    *set = line_sets_with(&f->sets, 0, line);
  return *set;
}

// --- memory -----------------------------------------------------------------

uint32_t follower_memory(Follower *f, uint64_t at, uint64_t n) {
  uint32_t set = 0, last = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint8_t byte;
    bool known;
    uint32_t writer;
    watched_byte(&f->memory, at + i, &byte, &known, &writer);
    if (writer != last)
      set = follower_union(f, set, writer);
    last = writer;
  }
  return set;
}

// Moves from the end to the start where they overlap that way.
void follower_copy(Follower *f, uint64_t to, uint64_t from, uint64_t n,
                   uint32_t set) {
  enum { MOST = 1 << 22 };
  f->memory.full |= n > MOST;
  for (uint64_t k = 0; k < n && k < MOST; k++) {
    uint64_t i = to - from < n ? n - 1 - k : k;
    uint8_t byte;
    bool known;
    uint32_t writer;
    watched_byte(&f->memory, from + i, &byte, &known, &writer);
    watched_write(&f->memory, to + i, known ? &byte : NULL, 1,
                  follower_union(f, writer, set));
  }
}

bool follower_text(Follower *f, uint64_t at, uint64_t most, Str *out) {
  str_clear(out);
  for (uint64_t i = 0; i < most; i++) {
    uint8_t byte;
    bool known;
    uint32_t writer;
    watched_byte(&f->memory, at + i, &byte, &known, &writer);
    if (!known)
      return false;
    if (!byte)
      return true;
    str_addc(out, (char)byte);
  }
  return true;
}

static void fill(Follower *f, uint64_t to, uint8_t byte, uint64_t n,
                 uint32_t set) {
  enum { MOST = 1 << 22 };
  f->memory.full |= n > MOST;
  for (uint64_t i = 0; i < n && i < MOST; i++)
    watched_write(&f->memory, to + i, &byte, 1, set);
}

static void load_globals(Follower *f) {
  const Program *p = f->program;
  for (size_t i = 0; i < p->globals.len; i++) {
    const IrGlobal *g = &p->globals.items[i];
    uint64_t at = p->links.items[p->units.items[g->unit].first_link + g->link];
    if (g->size > GLOBAL_MAX)
      continue;
    fill(f, at, 0, g->size, 0);
    for (uint64_t k = 0; k < g->nbytes; k++)
      if (p->known.items[g->first_byte + k])
        watched_write(&f->memory, at + k, &p->bytes.items[g->first_byte + k], 1,
                      0);
  }
}

static void follow_written(void *follower, uint64_t at, const uint8_t *bytes,
                           uint64_t n) {
  Follower *f = follower;
  uint32_t by = f->frames.len ? array_last(&f->frames).outside : 0;
  watched_write(&f->memory, at, bytes, n, by);
}

// --- control ----------------------------------------------------------------

// What decides that the frame's code is executed now.
static uint32_t decider(const Follower *f, const FollowFrame *frame) {
  size_t next = (size_t)(frame - f->frames.items) + 1;
  size_t end = next < f->frames.len ? frame[1].first_open : f->open.len;
  return end > frame->first_open ? f->open.items[end - 1].set : frame->parent;
}

static void leave_frames(Follower *f, size_t depth) {
  while (f->frames.len > depth) {
    const FollowFrame *last = &array_last(&f->frames);
    f->open.len = last->first_open;
    f->objects.len = last->first_object;
    f->frames.len--;
  }
}

static void enter_function(Follower *f) {
  uint32_t parent = 0;
  if (f->frames.len) {
    const FollowFrame *caller = &array_last(&f->frames);
    parent = caller->is_outside ? caller->outside : caller->called;
  }
  array_push(&f->frames,
             (FollowFrame){.fresh = true,
                           .parent = parent,
                           .first_open = (uint32_t)f->open.len,
                           .first_object = (uint32_t)f->objects.len});
}

// A branch with the same join that was taken before decided about this one.
static void open_decision(Follower *f) {
  const FollowFrame *frame = &array_last(&f->frames);
  uint32_t join = f->control->join[f->control->block_of[f->branch]];
  if (f->open.len > frame->first_open && array_last(&f->open).join == join)
    f->open.len--;
  array_push(&f->open, (OpenDecision){join, f->decided});
}

static void follow_block(void *follower, uint32_t block, size_t depth) {
  Follower *f = follower;
  f->block_begins = true;
  if (f->control->entry[block]) {
    leave_frames(f, depth - 1);
    enter_function(f);
    return;
  }
  leave_frames(f, depth);
  if (f->branch != IR_NONE)
    open_decision(f);
  f->branch = IR_NONE;
  uint32_t first = array_last(&f->frames).first_open;
  while (f->open.len > first && array_last(&f->open).join == block)
    f->open.len--;
}

// All at once. What arrives depends on the way it came.
static void follow_edge(Follower *f, const FollowFrame *frame, uint32_t edge,
                        uint32_t set) {
  const IrEdge *e = &f->program->edges.items[edge];
  const IrMove *moves = f->program->moves.items + e->first;
  f->moved.len = 0;
  for (uint32_t k = 0; k < e->n; k++)
    array_push(&f->moved,
               follower_union(f, set, follower_set(f, frame, moves[k].src)));
  for (uint32_t k = 0; k < e->n; k++)
    f->regs.items[frame->first_reg + moves[k].dst] = f->moved.items[k];
}

// Could another outcome have printed?
static bool omits(const Follower *f, uint32_t branch, uint32_t edge) {
  const IrBranch *b = &f->program->branches.items[branch];
  const IrEdge *edges = f->program->edges.items + b->first_edge;
  for (uint32_t i = 0; i < b->nedges; i++)
    if (edges[i].target != edges[edge].target && f->prints[b->first_edge + i])
      return true;
  return false;
}

// It could have been written, had the branch gone the other way.
static void add_skipped(void *follower, uint64_t at, unsigned n) {
  Follower *f = follower;
  for (unsigned i = 0; i < n; i++) {
    uint8_t byte;
    bool known;
    uint32_t writer;
    watched_byte(&f->memory, at + i, &byte, &known, &writer);
    watched_write(&f->memory, at + i, known ? &byte : NULL, 1,
                  follower_union(f, writer, f->decided));
  }
}

static void follow_branch(void *follower, uint32_t branch, uint32_t edge) {
  Follower *f = follower;
  const IrBranch *b = &f->program->branches.items[branch];
  if (!f->strict)
    skipped_find(&f->skipped, &f->memory, array_last(&f->frames).function,
                 f->values, b->first_edge, b->nedges, b->first_edge + edge,
                 add_skipped, f);
  f->branch = branch;
  f->edge = edge;
  if (omits(f, branch, edge))
    f->omitted = follower_union(f, f->omitted, f->decided);
  follow_edge(f, &array_last(&f->frames),
              f->program->branches.items[branch].first_edge + edge, f->decided);
}

// --- calls ------------------------------------------------------------------

static bool is_ours(const Follower *f, const ReplayStep *s, const IrCall *c) {
  if (c->symbol != IR_NONE)
    return f->program->symbols.items[c->symbol].function != IR_NONE;
  return program_function_at(f->program, follower_value(f, s, c->pointer)) !=
         IR_NONE;
}

static void step_call(Follower *f, const ReplayStep *s, FollowFrame *frame,
                      uint32_t base) {
  const IrCall *c = &f->program->calls.items[s->inst->a];
  frame->call = c;
  if (c->symbol == IR_NONE)
    base = follower_union(f, base, follower_set(f, frame, c->pointer));
  frame->called = base;
  f->last = base;
  if (s->inst->op == IR_CALL && is_ours(f, s, c)) {
    f->passed.len = 0;
    for (uint32_t i = 0; i < c->nargs; i++)
      array_push(&f->passed,
                 follower_value(
                     f, s, f->program->args.items[c->first_arg + i].operand));
    return;
  }
  if (s->inst->op == IR_CALL) {
    frame->is_outside = true;
    frame->inst = s->inst;
    follower_call(f, s, frame, base);
    return;
  }
  for (uint32_t i = 0; i < c->nargs; i++)
    base = follower_union(
        f, base,
        follower_set(f, frame,
                     f->program->args.items[c->first_arg + i].operand));
  for (uint32_t i = 0; i < c->nscalars; i++)
    f->regs.items[frame->first_reg + c->dst + i] = base;
}

void follower_note_end(Follower *f, uint32_t set, uint32_t place) {
  if (f->ended)
    return; // what follows are functions that run at the end
  f->ended = true;
  f->end = set;
  f->end_place = place;
}

static void step_return(Follower *f, const ReplayStep *s,
                        const FollowFrame *frame, uint32_t base) {
  const IrArg *values = f->program->args.items + s->inst->a;
  f->last = base;
  if (f->frames.len == 1) {
    follower_note_end(f, base, s->inst->place);
    return;
  }
  FollowFrame *caller = &f->frames.items[f->frames.len - 2];
  for (uint32_t i = 0; i < s->inst->b; i++) {
    uint32_t set =
        follower_union(f, base, follower_set(f, frame, values[i].operand));
    if (caller->is_outside)
      caller->outside = follower_union(f, caller->outside, set);
    else if (caller->call && i < caller->call->nscalars)
      f->regs.items[caller->first_reg + caller->call->dst + i] = set;
  }
  leave_frames(f, f->frames.len - 1);
}

// A struct that is passed by value is copied.
static void copy_by_values(Follower *f, const ReplayStep *s,
                           const IrFunction *function) {
  for (uint32_t i = 0; i < function->nby_value; i++) {
    IrByValue b = f->program->by_values.items[function->first_by_value + i];
    if (b.param < f->passed.len)
      follower_copy(f, s->regs[b.param], f->passed.items[b.param], b.size, 0);
  }
}

static void pass_arguments(Follower *f, FollowFrame *frame,
                           const FollowFrame *caller, uint32_t nparams) {
  const IrCall *c = caller->call;
  const IrArg *args = f->program->args.items + c->first_arg;
  for (uint32_t i = 0; i < c->nargs; i++) {
    uint32_t set = follower_set(f, caller, args[i].operand);
    if (i < nparams)
      f->regs.items[frame->first_reg + i] = set;
    else
      frame->varargs = follower_union(f, frame->varargs, set);
  }
}

// The first instruction of a function: its registers are known now.
static void begin(Follower *f, const ReplayStep *s, FollowFrame *frame) {
  const IrFunction *function = &f->program->functions.items[s->function];
  size_t need = (size_t)s->first_reg + function->nregs;
  frame->fresh = false;
  frame->first_reg = s->first_reg;
  frame->function = s->function;
  if (need > f->regs.len) {
    array_reserve(&f->regs, need - f->regs.len);
    f->regs.len = need;
  }
  memset(f->regs.items + s->first_reg, 0,
         function->nregs * sizeof *f->regs.items);
  if (f->frames.len < 2)
    return;
  const FollowFrame *caller = frame - 1;
  if (!caller->is_outside && caller->call) {
    pass_arguments(f, frame, caller, function->nparams);
    copy_by_values(f, s, function);
    return;
  }
  for (uint32_t i = 0; i < function->nparams; i++)
    f->regs.items[frame->first_reg + i] = caller->outside;
}

// --- instructions -----------------------------------------------------------

static uint32_t operands(Follower *f, const ReplayStep *s,
                         const FollowFrame *frame, uint32_t set) {
  const IrInst *i = s->inst;
  bool first = i->op == IR_SELECT && follower_value(f, s, i->a) & 1;
  if (ops[i->op].a)
    set = follower_union(f, set, follower_set(f, frame, i->a));
  if (ops[i->op].b && (i->op != IR_SELECT || first))
    set = follower_union(f, set, follower_set(f, frame, i->b));
  if (ops[i->op].c && !first)
    set = follower_union(f, set, follower_set(f, frame, i->c));
  return set;
}

static uint32_t step_memory(Follower *f, const ReplayStep *s, uint32_t set) {
  const IrInst *i = s->inst;
  uint64_t a = follower_value(f, s, i->a), v;
  unsigned n = (i->width + 7u) / 8;
  switch (i->op) {
  case IR_LOAD:
  case IR_LOAD_SEEN:
    return follower_union(f, set, follower_memory(f, a, n));
  case IR_STORE:
    v = follower_value(f, s, i->b);
    watched_write(&f->memory, a, (const uint8_t *)&v, n, set);
    return set;
  case IR_MEMCPY:
    follower_copy(f, a, follower_value(f, s, i->b), follower_value(f, s, i->c),
                  set);
    return set;
  case IR_MEMSET:
    fill(f, a, (uint8_t)follower_value(f, s, i->b), follower_value(f, s, i->c),
         set);
    return set;
  case IR_FORGET:
    watched_forget(&f->memory, a, i->c);
    return set;
  default:
    return set;
  }
}

// The call of code outside that may have written there: one that was given the
// address, or the start of the local object it lies in.
static bool find_given(const Follower *f, uint64_t at, uint32_t *set) {
  uint64_t by;
  bool found = hashmap_get(&f->given, &at, sizeof at, &by);
  for (size_t i = f->objects.len;
       !found && i-- > 0 && f->objects.len - i < NEAREST;) {
    const FollowedObject *o = &f->objects.items[i];
    if (at - o->at < o->size)
      found = hashmap_get(&f->given, &o->at, sizeof o->at, &by);
  }
  *set = found ? (uint32_t)by : 0;
  return found;
}

uint32_t follower_varargs(const Follower *f) {
  for (size_t i = f->frames.len; i-- > 0;)
    if (f->frames.items[i].varargs)
      return f->frames.items[i].varargs;
  return 0;
}

// Something else was loaded than the program wrote: code outside did, or it is
// a variable argument.
static void note_loaded(Follower *f, const FollowFrame *frame,
                        const ReplayStep *s, const IrInst *load) {
  uint64_t at = follower_value(f, s, load->a), known;
  uint64_t v = s->regs[load->dst];
  unsigned n = (load->width + 7u) / 8;
  if (watched_number(&f->memory, at, n, &known) && known == v)
    return;
  uint8_t byte;
  bool was_known;
  uint32_t writer, set;
  bool written = watched_byte(&f->memory, at, &byte, &was_known, &writer);
  if (!find_given(f, at, &set))
    set = written ? f->last_outside : follower_varargs(f);
  watched_write(&f->memory, at, (const uint8_t *)&v, n, set);
  uint32_t *reg = &f->regs.items[frame->first_reg + load->dst];
  *reg = follower_union(f, *reg, set);
}

static void note_alloca(Follower *f, const ReplayStep *s, const IrInst *i) {
  uint64_t n = follower_value(f, s, i->a) * i->c, at = s->regs[i->dst];
  watched_forget(&f->memory, at, n);
  array_push(&f->objects, (FollowedObject){at, n});
}

// What was loaded, where an object lies and what a call returned are known when
// the next instruction comes.
static void settle(Follower *f, const ReplayStep *s, FollowFrame *frame) {
  const IrInst *last = s->inst - 1;
  if (f->jumped && !f->block_begins && last->op == IR_CALL) {
    const IrCall *c = &f->program->calls.items[last->a];
    for (uint32_t i = 0; i < c->nscalars; i++)
      f->regs.items[frame->first_reg + c->dst + i] = f->jumped;
    frame->is_outside = false;
  }
  f->jumped = 0;
  if (frame->is_outside) {
    frame->is_outside = false;
    follower_called(f, s, frame);
  }
  if (f->block_begins)
    return;
  if (last->op == IR_LOAD || last->op == IR_LOAD_SEEN)
    note_loaded(f, frame, s, last);
  if (last->op == IR_ALLOCA)
    note_alloca(f, s, last);
}

static void step_branch(Follower *f, const ReplayStep *s,
                        const FollowFrame *frame, uint32_t base) {
  const IrInst *i = s->inst;
  f->decided = i->op == IR_BR
                   ? decider(f, frame)
                   : follower_union(f, base, follower_set(f, frame, i->a));
  f->last = f->decided;
  f->values = s->regs;
  if (i->op == IR_BR)
    follow_edge(f, frame, f->program->branches.items[i->b].first_edge,
                f->decided);
}

static void follow_step(void *follower, const ReplayStep *s) {
  Follower *f = follower;
  const IrInst *i = s->inst;
  if (!f->started)
    load_globals(f); // the program is bound now
  f->started = true;
  leave_frames(f, s->depth);
  FollowFrame *frame = &array_last(&f->frames);
  if (frame->fresh)
    begin(f, s, frame);
  settle(f, s, frame);
  f->block_begins = false;
  uint32_t line = f->line_of[i->place], base = decider(f, frame);
  if (line != IR_NONE && i->flags & IR_STATEMENT) {
    base = follower_union(f, base, single(f, line));
    bitset_add(&f->executed, line);
  }
  f->last_place = i->place;
  if (i->op == IR_CALL || i->op == IR_RECORDED) {
    step_call(f, s, frame, base);
  } else if (i->op == IR_RET) {
    step_return(f, s, frame, base);
  } else if (i->op >= IR_BR && i->op < IR_STOP) {
    step_branch(f, s, frame, base);
  } else if (i->op != IR_NOTHING) {
    if (i->op == IR_ALLOCA)
      base = 0; // where it lies is nobody's decision
    f->last = step_memory(f, s, operands(f, s, frame, base));
    if (ops[i->op].d)
      f->regs.items[frame->first_reg + i->dst] = f->last;
    if (i->op >= IR_UDIV && i->op <= IR_SREM) {
      f->divided = f->last;
      f->division_place = i->place;
    }
  }
}

// --- what prints ------------------------------------------------------------

static bool call_prints(const Follower *f, const bool *functions,
                        const IrCall *c) {
  if (c->symbol == IR_NONE)
    return true;
  uint32_t function = f->program->symbols.items[c->symbol].function;
  return function == IR_NONE ? follower_prints(follower_callee(f, c))
                             : functions[function];
}

static bool block_prints(const Follower *f, const bool *functions,
                         uint32_t block) {
  const IrBlock *b = &f->program->blocks.items[block];
  for (uint32_t i = 0; i < b->n; i++) {
    const IrInst *inst = &f->program->insts.items[b->first + i];
    if (inst->op == IR_CALL &&
        call_prints(f, functions, &f->program->calls.items[inst->a]))
      return true;
  }
  return false;
}

// Blocks of functions that print, through others too, until nothing changes.
static bool *find_printing(const Follower *f) {
  const Program *p = f->program;
  bool *functions = mem_array(bool, p->functions.len + 1);
  bool *blocks = mem_array(bool, p->blocks.len + 1);
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < p->functions.len; i++) {
      const IrFunction *function = &p->functions.items[i];
      for (uint32_t b = 0; b < function->nblocks; b++) {
        uint32_t block = function->first_block + b;
        if (blocks[block] || !block_prints(f, functions, block))
          continue;
        blocks[block] = true;
        again |= !functions[i];
        functions[i] = true;
      }
    }
  }
  free(functions);
  return blocks;
}

typedef struct {
  const Follower *follower;
  const bool *printing;
  uint32_t first; // block of the function
  Bitset seen;    // blocks
  ARRAY(uint32_t) todo;
} Reach;

// Does a way from the edge to the join pass a block that prints?
static bool edge_prints(Reach *r, uint32_t edge, uint32_t from) {
  const Program *p = r->follower->program;
  uint32_t join = r->follower->control->join[from];
  bool found = false;
  r->todo.len = 0;
  array_push(&r->todo, r->first + p->edges.items[edge].target);
  while (r->todo.len && !found) {
    uint32_t block = r->todo.items[--r->todo.len];
    if (block == join || block == from || bitset_has(&r->seen, block))
      continue;
    bitset_add(&r->seen, block);
    found = r->printing[block];
    const IrBlock *b = &p->blocks.items[block];
    const IrInst *end = &p->insts.items[b->first + b->n - 1];
    if (end->op < IR_BR || end->op > IR_JUMP)
      continue;
    const IrBranch *branch = &p->branches.items[end->b];
    for (uint32_t i = 0; i < branch->nedges; i++)
      array_push(&r->todo,
                 r->first + p->edges.items[branch->first_edge + i].target);
  }
  bitset_release(&r->seen);
  return found;
}

static void index_printing(Follower *f) {
  const Program *p = f->program;
  bool *printing = find_printing(f);
  f->prints = mem_array(bool, p->edges.len + 1);
  for (size_t i = 0; i < p->functions.len; i++) {
    const IrFunction *function = &p->functions.items[i];
    Reach r = {f, printing, function->first_block, {0}, {0}};
    for (uint32_t b = 0; b < function->nblocks; b++) {
      uint32_t block = function->first_block + b;
      const IrBlock *at = &p->blocks.items[block];
      const IrInst *end = &p->insts.items[at->first + at->n - 1];
      if (end->op <= IR_BR || end->op > IR_JUMP)
        continue;
      const IrBranch *branch = &p->branches.items[end->b];
      for (uint32_t k = 0; k < branch->nedges; k++)
        f->prints[branch->first_edge + k] =
            edge_prints(&r, branch->first_edge + k, block);
    }
    array_release(&r.todo);
  }
  free(printing);
}

// --- opening, closing, the end ----------------------------------------------

void follower_init(Follower *f, const Control *control, const char *actual,
                   size_t nactual, size_t wanted, uint64_t standard_out) {
  *f = (Follower){.program = control->program,
                  .control = control,
                  .branch = IR_NONE,
                  .place = IR_NONE,
                  .last_place = IR_NONE,
                  .end_place = IR_NONE,
                  .standard_out = standard_out,
                  .actual = actual,
                  .nactual = nactual,
                  .wanted = wanted};
  index_lines(f);
  index_printing(f);
  skipped_init(&f->skipped, control);
  line_sets_init(&f->sets, (uint32_t)f->lines.len);
}

void follower_release(Follower *f) {
  line_sets_release(&f->sets);
  watched_release(&f->memory);
  skipped_release(&f->skipped);
  array_release(&f->lines);
  array_release(&f->single);
  array_release(&f->frames);
  array_release(&f->regs);
  array_release(&f->moved);
  array_release(&f->passed);
  array_release(&f->open);
  array_release(&f->objects);
  hashmap_release(&f->given);
  hashmap_release(&f->right_index);
  array_release(&f->right);
  bitset_release(&f->executed);
  free(f->line_of);
  free(f->prints);
}

ReplayOptions follower_options(Follower *f, uint64_t most) {
  return (ReplayOptions){.max_instructions = most,
                         .observer = follow_branch,
                         .entered = follow_block,
                         .stepped = follow_step,
                         .written = follow_written,
                         .context = f};
}

// May it have printed more than was written out?
static bool loses_output(const Path *path) {
  return path->stop != STOP_END &&
         !(path->stop_callee && !strcmp(path->stop_callee, "exit"));
}

void follower_end(Follower *f, const Path *path, bool killed) {
  bool crashed = path->stop == STOP_CRASH || path->signal;
  bool missing = f->wanted == f->nactual &&
                 (f->offset == f->nactual || loses_output(path));
  bool cut = path->stop == STOP_LIMIT || path->stop == STOP_CUT;
  if (f->found || f->strange || !missing || (cut && !killed))
    return;
  bool ended = f->ended && !crashed;
  f->found = true;
  f->slice = ended ? f->end : f->last;
  f->place = ended ? f->end_place : f->last_place;
  if (path->signal == SIGFPE && f->divided) {
    f->slice = f->divided; // replay goes on to the end of the block
    f->place = f->division_place;
  }
  if (path->stop == STOP_CALL && crashed && f->frames.len)
    f->slice = follower_union(f, f->slice, array_last(&f->frames).outside);
  if (!crashed)
    f->slice = follower_union(f, f->slice, f->omitted);
}
