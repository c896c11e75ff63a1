// The state at a branch: what is compared, and the variables. See watch.h.
#include <string.h>

#include "near/watch.h"

static uint64_t mask(unsigned width) {
  return width < 64 ? (1ull << width) - 1 : UINT64_MAX;
}

// Pointers of two runs are the same if both are null, or none is.
bool watch_value_same(const WatchValue *a, const WatchValue *b) {
  if (a->known != b->known)
    return false;
  if (a->flags & IR_POINTER)
    return !a->bits == !b->bits;
  return !a->known || a->bits == b->bits;
}

static unsigned plain_flags(const IrVariable *v) {
  return v->flags & (IR_FP | IR_POINTER | IR_UNSIGNED);
}

// --- what is compared -------------------------------------------------------

typedef struct {
  const Watch *watch;
  const ReplayStep *step;
} WatchPlace;

static uint64_t value_of(const WatchPlace *p, uint32_t operand) {
  return operand & IR_CONST
             ? p->watch->program->values.items[operand & ~IR_CONST]
             : p->step->regs[operand];
}

static const bool sets[] = {
#define IR_OP(name, d, a, b, c) d,
#include "ir/ir_ops.def"
#undef IR_OP
};

// The instruction that sets a register; NULL: none, or an edge does.
static const IrInst *maker(const WatchPlace *p, uint32_t operand) {
  const Program *program = p->watch->program;
  const IrFunction *f = &program->functions.items[p->step->function];
  const IrBlock *last = &program->blocks.items[f->first_block + f->nblocks - 1];
  if (operand & IR_CONST)
    return NULL;
  for (uint32_t i = program->blocks.items[f->first_block].first;
       i < last->first + last->n; i++) {
    const IrInst *k = &program->insts.items[i];
    if (sets[k->op] && k->dst == operand)
      return k;
  }
  return NULL;
}

static bool is_comparison(const IrInst *i) {
  return i && ((i->op >= IR_EQ && i->op <= IR_SLE) || i->op == IR_FCMP);
}

static bool is_constant(const WatchPlace *p, uint32_t operand, uint64_t value) {
  return operand & IR_CONST && value_of(p, operand) == value;
}

// Behind `(a < b) != 0` and `!(a < b)`, as often as they occur; *negated says
// whether the outcome is the other one.
static const IrInst *find_comparison(const WatchPlace *p, uint32_t operand,
                                     bool *negated) {
  enum { DEEPEST = 8 };
  const IrInst *found = NULL, *i = maker(p, operand);
  bool other = *negated = false;
  for (int k = 0; i && k < DEEPEST; k++) {
    if (is_comparison(i)) {
      found = i;
      *negated = other;
    }
    bool widens = i->op == IR_ZEXT || i->op == IR_TRUNC || i->op == IR_MOVE;
    bool equals = i->op == IR_EQ && is_constant(p, i->b, 0);
    bool turns = equals || (i->op == IR_XOR && is_constant(p, i->b, 1));
    if (!widens && !turns && !(i->op == IR_NE && is_constant(p, i->b, 0)))
      break;
    other ^= turns;
    i = maker(p, i->a);
  }
  return found;
}

static const char *const orders[] = {"==", "!=", "<", "<=", ">", ">="};
enum { IS_EQ, IS_NE, IS_LT, IS_LE, IS_GT, IS_GE };

// -1: an operator that C does not have.
static int order_of(const IrInst *i) {
  if (i->op == IR_FCMP)
    switch (i->from & ~FCMP_UNORDERED) {
    case FCMP_EQ:
      return IS_EQ;
    case FCMP_GT:
      return IS_GT;
    case FCMP_LT:
      return IS_LT;
    case FCMP_EQ | FCMP_GT:
      return IS_GE;
    case FCMP_EQ | FCMP_LT:
      return IS_LE;
    case FCMP_GT | FCMP_LT:
      return IS_NE;
    default:
      return -1;
    }
  return i->op == IR_EQ                       ? IS_EQ
         : i->op == IR_NE                     ? IS_NE
         : i->op == IR_ULT || i->op == IR_SLT ? IS_LT
                                              : IS_LE;
}

static int mirrored(int order) {
  static const int of[] = {IS_EQ, IS_NE, IS_GT, IS_GE, IS_LT, IS_LE};
  return of[order];
}

static int opposite(int order) {
  static const int of[] = {IS_NE, IS_EQ, IS_GE, IS_GT, IS_LE, IS_LT};
  return of[order];
}

// Where the source says that a variable is: in this register, or at the address
// that was loaded from.
static const IrVariable *variable_of(const WatchPlace *p, uint32_t operand) {
  const Watch *w = p->watch;
  const IrInst *i = maker(p, operand);
  for (size_t k = array_last(&w->frames).first_binding; k < w->bindings.len;
       k++) {
    const IrVariable *v =
        &w->program->variables.items[w->bindings.items[k].entry];
    bool memory = v->flags & IR_IN_MEMORY;
    if (!(operand & IR_CONST) && !memory && v->operand == operand)
      return v;
    if (i && memory && i->op == IR_LOAD &&
        value_of(p, i->a) == value_of(p, v->operand))
      return v;
  }
  bool cast = i && (i->op == IR_SEXT || i->op == IR_ZEXT);
  return cast ? variable_of(p, i->a) : NULL;
}

static uint64_t address_of(const Program *p, const IrGlobal *g) {
  return p->links.items[p->units.items[g->unit].first_link + g->link];
}

// The global that was loaded, perhaps widened; NULL: something else.
static const char *global_name(const WatchPlace *p, const IrInst *i) {
  const Program *program = p->watch->program;
  if (i && (i->op == IR_SEXT || i->op == IR_ZEXT))
    i = maker(p, i->a);
  if (!i || i->op != IR_LOAD || !(i->a & IR_CONST))
    return NULL;
  for (size_t k = 0; k < program->globals.len; k++) {
    const IrGlobal *g = &program->globals.items[k];
    if (address_of(program, g) == value_of(p, i->a) &&
        g->size == (i->width + 7u) / 8)
      return program_name(program, g->name);
  }
  return NULL;
}

static void take_value(const WatchPlace *p, WatchMoment *m, uint32_t operand,
                       unsigned width, unsigned flags) {
  const IrVariable *v = variable_of(p, operand);
  const IrInst *i = maker(p, operand);
  unsigned more = v && v->width == width ? plain_flags(v) : 0;
  if (i && i->op == IR_LOAD)
    more |= i->flags & (IR_POINTER | IR_FP);
  m->names[m->nvalues] =
      v ? program_name(p->watch->program, v->name) : global_name(p, i);
  m->values[m->nvalues++] =
      (WatchValue){value_of(p, operand) & mask(width), (uint8_t)width,
                   (uint8_t)(flags | more), true, (operand & IR_CONST) != 0};
}

// A constant stands on the right, as people write it.
static void take_comparison(const WatchPlace *p, WatchMoment *m,
                            const IrInst *i, bool negated) {
  int order = order_of(i);
  if (negated && i->op != IR_FCMP) // for floats there is no such operator
    order = opposite(order);
  unsigned flags = i->op == IR_FCMP                     ? IR_FP
                   : i->op == IR_ULT || i->op == IR_ULE ? IR_UNSIGNED
                                                        : 0;
  if (order < 0)
    return;
  bool turned = i->a & IR_CONST && !(i->b & IR_CONST);
  m->op = orders[turned ? mirrored(order) : order];
  take_value(p, m, turned ? i->b : i->a, i->width, flags);
  take_value(p, m, turned ? i->a : i->b, i->width, flags);
  uint8_t pointer = (m->values[0].flags | m->values[1].flags) & IR_POINTER;
  for (int k = 0; k < 2; k++)
    m->values[k].flags = (uint8_t)(m->values[k].flags | pointer);
}

static void take_values(const WatchPlace *p, WatchMoment *m) {
  const IrInst *i = p->step->inst;
  bool negated;
  const IrInst *c =
      i->op == IR_CONDBR ? find_comparison(p, i->a, &negated) : NULL;
  if (c)
    take_comparison(p, m, c, negated);
  else if (i->op == IR_SWITCH)
    take_value(p, m, i->a, i->width, 0);
}

// --- variables --------------------------------------------------------------

static void add_variable(Watch *w, WatchMoment *m, uint32_t number,
                         uint32_t name, WatchValue v, uint32_t set) {
  array_push(&m->variables,
             (WatchVariable){number, program_name(w->program, name), v, set});
}

// A scalar in memory, and the event that wrote its first byte.
static WatchValue read_scalar(Watch *w, uint64_t at, unsigned width,
                              unsigned flags, uint32_t *writer) {
  WatchValue v = {.width = (uint8_t)width, .flags = (uint8_t)flags};
  uint8_t byte;
  bool known;
  watched_byte(&w->memory, at, &byte, &known, writer);
  v.known = watched_number(&w->memory, at, (width + 7) / 8, &v.bits);
  v.bits &= mask(width);
  return v;
}

static void take_locals(const WatchPlace *p, Watch *w, WatchMoment *m) {
  const WatchFrame *f = &array_last(&w->frames);
  for (size_t k = f->first_binding; k < w->bindings.len; k++) {
    const IrVariable *v =
        &w->program->variables.items[w->bindings.items[k].entry];
    unsigned flags = plain_flags(v);
    uint64_t bits = value_of(p, v->operand);
    uint32_t set =
        v->operand & IR_CONST ? 0 : w->sets.items[f->first_reg + v->operand];
    WatchValue value = {bits & mask(v->width), v->width, (uint8_t)flags, true,
                        false};
    if (v->flags & IR_IN_MEMORY)
      value = read_scalar(w, bits, v->width, flags, &set);
    if (value.known)
      add_variable(w, m, v->variable, v->name, value, set);
  }
}

// Globals have no type here: those of the size of a number are taken for one.
static void take_globals(Watch *w, WatchMoment *m) {
  const Program *p = w->program;
  for (size_t i = 0; i < p->globals.len; i++) {
    const IrGlobal *g = &p->globals.items[i];
    bool number = g->size == 1 || g->size == 2 || g->size == 4 || g->size == 8;
    const char *name = program_name(p, g->name);
    if (!number || g->flags & IR_READ_ONLY || *name == '.' || *name == '_')
      continue;
    uint64_t at = address_of(p, g);
    uint32_t set;
    WatchValue v = read_scalar(w, at, (unsigned)g->size * 8, 0, &set);
    if (v.known)
      add_variable(w, m, (uint32_t)(p->variables.len + i), g->name, v, set);
  }
}

void watch_moment(Watch *w, WatchMoment *m, const ReplayStep *s) {
  WatchPlace p = {w, s};
  m->seen = true;
  m->event = w->last;
  m->block = array_last(&w->frames).block;
  m->at = w->tracker.control->block_of[s->inst->b];
  m->execution = array_last(&w->frames).execution;
  take_values(&p, m);
  take_locals(&p, w, m);
  take_globals(w, m);
}
