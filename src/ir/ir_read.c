// Reads lowered units and links them into a program: see ir.h.
//
// The files come from our own cache but are treated as hostile: every index is
// checked once here, so that replay need not.
#include "ir/ir.h"

#include <stdio.h>
#include <string.h>

#include "ir/ir_format.h"
#include "util/fs.h"

static const struct {
  const char *name;
  bool d, a, b, c;
} ops[] = {
#define IR_OP(name, d, a, b, c) {#name, d, a, b, c},
#include "ir/ir_ops.def"
#undef IR_OP
};

const char *ir_op_name(IrOp op) {
  return op < IR_OP_COUNT ? ops[op].name : "?";
}

// --- reading ----------------------------------------------------------------

// Lengths of the program's arrays before this unit: what its indexes start
// from.
typedef struct {
#define BASE(member) uint32_t member;
  IR_ARRAYS(BASE)
#undef BASE
} Bases;

typedef struct {
  Program *p;
  Bases base;
  uint32_t unit, nlinks;
  uint32_t nregs; // of the function at hand
  uint32_t nblocks;
} Reader;

static bool in(uint64_t first, uint64_t n, uint64_t from, uint64_t len) {
  return first <= len - from && n <= len - from - first;
}

// Is [first, first + n) within what this unit has added to the array?
#define WITHIN(r, member, first, n)                                            \
  in((first), (n), (r)->base.member, (r)->p->member.len)

static int damaged(const char *path, const char *what, Err *err) {
  return err_set(err,
                 "%s: its %s are damaged; remove the file, it will be "
                 "made again",
                 path, what);
}

static bool fix_name(Reader *r, uint32_t *name) {
  if (!WITHIN(r, names, *name, 1))
    return false;
  *name += r->base.names;
  return true;
}

static bool fix_operand(Reader *r, uint32_t *o) {
  if (!(*o & IR_CONST))
    return *o < r->nregs;
  uint32_t k = *o & ~IR_CONST;
  if (!WITHIN(r, constants, k, 1) || k + r->base.constants >= IR_CONST)
    return false;
  *o = (k + r->base.constants) | IR_CONST;
  return true;
}

static bool fix_place(Reader *r, uint32_t *place) {
  if (!WITHIN(r, places, *place, 1))
    return false;
  *place += r->base.places;
  return true;
}

static bool fix_edge(Reader *r, uint32_t index) {
  IrEdge *e = &r->p->edges.items[index];
  if (e->target >= r->nblocks || !WITHIN(r, moves, e->first, e->n))
    return false;
  e->first += r->base.moves;
  for (uint32_t i = 0; i < e->n; i++) {
    IrMove *m = &r->p->moves.items[e->first + i];
    if (m->dst >= r->nregs || !fix_operand(r, &m->src))
      return false;
  }
  return true;
}

static bool fix_branch(Reader *r, IrInst *i) {
  if (!WITHIN(r, branches, i->b, 1))
    return false;
  i->b += r->base.branches;
  IrBranch *b = &r->p->branches.items[i->b];
  uint32_t fewest = i->op == IR_CONDBR ? 2 : 1;
  uint32_t extra = i->op == IR_SWITCH ? 1 : 0;
  if (b->nedges < fewest || !WITHIN(r, edges, b->first_edge, b->nedges) ||
      !WITHIN(r, cases, b->first_case, b->ncases) ||
      (b->ncases && b->ncases + extra != b->nedges) ||
      (b->text != IR_NONE && !fix_name(r, &b->text)))
    return false;
  b->first_edge += r->base.edges;
  b->first_case += r->base.cases;
  for (uint32_t k = 0; k < b->nedges; k++)
    if (!fix_edge(r, b->first_edge + k))
      return false;
  for (uint32_t k = 0; k < b->ncases; k++) {
    uint32_t *o = &r->p->cases.items[b->first_case + k];
    if (!(*o & IR_CONST) || !fix_operand(r, o))
      return false;
  }
  return true;
}

static bool fix_args(Reader *r, uint32_t *first, uint32_t n) {
  if (!WITHIN(r, args, *first, n))
    return false;
  *first += r->base.args;
  for (uint32_t i = 0; i < n; i++) {
    IrArg *a = &r->p->args.items[*first + i];
    if (a->width > 64 || !fix_operand(r, &a->operand))
      return false;
  }
  return true;
}

static bool fix_scalars(Reader *r, uint32_t *first, uint32_t n) {
  if (!WITHIN(r, scalars, *first, n))
    return false;
  *first += r->base.scalars;
  for (uint32_t i = 0; i < n; i++)
    if (r->p->scalars.items[*first + i].width > 64)
      return false;
  return true;
}

static bool fix_call(Reader *r, IrInst *i) {
  if (!WITHIN(r, calls, i->a, 1))
    return false;
  i->a += r->base.calls;
  IrCall *c = &r->p->calls.items[i->a];
  if (c->symbol == IR_NONE) {
    if (i->op == IR_RECORDED || !fix_operand(r, &c->pointer))
      return false;
  } else {
    if (!WITHIN(r, symbols, c->symbol, 1))
      return false;
    c->symbol += r->base.symbols;
  }
  return fix_args(r, &c->first_arg, c->nargs) &&
         fix_scalars(r, &c->first_scalar, c->nscalars) &&
         in(c->dst, c->nscalars, 0, r->nregs);
}

static bool is_terminator(unsigned op) { return op >= IR_RET; }

static bool fix_inst(Reader *r, IrInst *i, bool last) {
  if (i->op >= IR_OP_COUNT || is_terminator(i->op) != last || i->width > 64 ||
      !fix_place(r, &i->place))
    return false;
  if ((ops[i->op].d && (i->dst >= r->nregs || !i->width)) ||
      (ops[i->op].a && !fix_operand(r, &i->a)) ||
      (ops[i->op].b && !fix_operand(r, &i->b)) ||
      (ops[i->op].c && !fix_operand(r, &i->c)))
    return false;
  bool fp = i->op >= IR_FADD && i->op <= IR_UINT_OF_FP;
  if (fp && (i->op == IR_SINT_OF_FP || i->op == IR_UINT_OF_FP
                 ? i->from != 32 && i->from != 64
                 : i->width != 32 && i->width != 64))
    return false;
  switch (i->op) {
  case IR_TRUNC:
    return i->from >= i->width && i->from <= 64;
  case IR_ZEXT:
  case IR_SEXT:
    return i->from && i->from <= i->width;
  case IR_FP_OF_FP:
    return i->from == 32 || i->from == 64;
  case IR_FP_OF_SINT:
  case IR_FP_OF_UINT:
    return i->from && i->from <= 64;
  case IR_BSWAP:
    return i->width % 16 == 0;
  case IR_STORE:
  case IR_CONDBR:
  case IR_SWITCH:
  case IR_JUMP:
    if (!i->width)
      return false;
    return i->op == IR_STORE || fix_branch(r, i);
  case IR_BR:
    return fix_branch(r, i);
  case IR_CALL:
  case IR_RECORDED:
    return fix_call(r, i);
  case IR_RET:
    return fix_args(r, &i->a, i->b);
  default:
    return true;
  }
}

static bool fix_block(Reader *r, IrBlock *b) {
  if (!b->n || !WITHIN(r, insts, b->first, b->n))
    return false;
  b->first += r->base.insts;
  for (uint32_t i = 0; i < b->n; i++)
    if (!fix_inst(r, &r->p->insts.items[b->first + i], i + 1 == b->n))
      return false;
  return true;
}

static bool fix_function(Reader *r, IrFunction *f) {
  enum { MOST_REGS = 1 << 24 };
  if (f->nregs > MOST_REGS || f->nparams > f->nregs || !f->nblocks ||
      !WITHIN(r, blocks, f->first_block, f->nblocks) ||
      !WITHIN(r, by_values, f->first_by_value, f->nby_value) ||
      !fix_scalars(r, &f->first_scalar, f->nparams) || !fix_name(r, &f->name) ||
      !fix_place(r, &f->place) ||
      (f->address != IR_NONE && f->address >= r->nlinks))
    return false;
  f->unit = r->unit;
  f->first_block += r->base.blocks;
  f->first_by_value += r->base.by_values;
  r->nregs = f->nregs;
  r->nblocks = f->nblocks;
  for (uint32_t i = 0; i < f->nby_value; i++)
    if (r->p->by_values.items[f->first_by_value + i].param >= f->nparams)
      return false;
  for (uint32_t i = 0; i < f->nblocks; i++)
    if (!fix_block(r, &r->p->blocks.items[f->first_block + i]))
      return false;
  return true;
}

static bool fix_tables(Reader *r) {
  Program *p = r->p;
  if (p->names.len == r->base.names || array_last(&p->names) != '\0' ||
      p->bytes.len != p->known.len)
    return false;
  for (size_t i = r->base.symbols; i < p->symbols.len; i++) {
    p->symbols.items[i].function = IR_NONE;
    p->symbols.items[i].unit = r->unit;
    if (!fix_name(r, &p->symbols.items[i].name))
      return false;
  }
  for (size_t i = r->base.constants; i < p->constants.len; i++) {
    IrConstant *c = &p->constants.items[i];
    c->unit = r->unit;
    if (c->link != IR_NONE && c->link >= r->nlinks)
      return false;
  }
  for (size_t i = r->base.globals; i < p->globals.len; i++) {
    IrGlobal *g = &p->globals.items[i];
    g->unit = r->unit;
    if (g->link >= r->nlinks || g->nbytes > g->size || !fix_name(r, &g->name) ||
        !WITHIN(r, bytes, g->first_byte, g->nbytes))
      return false;
    g->first_byte += r->base.bytes;
  }
  for (size_t i = r->base.sources; i < p->sources.len; i++)
    if (!fix_name(r, &p->sources.items[i]))
      return false;
  for (size_t i = r->base.places; i < p->places.len; i++) {
    IrPlace *at = &p->places.items[i];
    if (at->line && !WITHIN(r, sources, at->source, 1))
      return false;
    at->source += r->base.sources;
  }
  return true;
}

// Functions may share no block: each is fixed once.
static bool fix_functions(Reader *r) {
  Program *p = r->p;
  uint32_t next = 0;
  for (size_t i = r->base.functions; i < p->functions.len; i++) {
    IrFunction *f = &p->functions.items[i];
    if (f->first_block != next)
      return false;
    next += f->nblocks;
    if (!fix_function(r, f))
      return false;
  }
  return true;
}

// After the functions.
static bool fix_variable(Reader *r, size_t index) {
  Program *p = r->p;
  IrVariable *v = &p->variables.items[index];
  if (!WITHIN(r, functions, v->function, 1) || !WITHIN(r, insts, v->inst, 1) ||
      !v->width || v->width > 64 || !fix_name(r, &v->name) ||
      v->variable > index - r->base.variables)
    return false;
  v->function += r->base.functions;
  v->inst += r->base.insts;
  v->variable += r->base.variables;
  const IrFunction *f = &p->functions.items[v->function];
  const IrBlock *last = &p->blocks.items[f->first_block + f->nblocks - 1];
  r->nregs = f->nregs;
  return v->inst >= p->blocks.items[f->first_block].first &&
         v->inst < last->first + last->n && fix_operand(r, &v->operand) &&
         (index == r->base.variables || v[-1].inst <= v->inst);
}

static bool fix_variables(Reader *r) {
  for (size_t i = r->base.variables; i < r->p->variables.len; i++)
    if (!fix_variable(r, i))
      return false;
  return true;
}

// Blocks, and what they hold, must lie one behind the other as well: an index
// that is used twice would be fixed twice.
static bool is_dense(const Reader *r) {
  const Program *p = r->p;
  uint32_t inst = 0, branch = 0, call = 0, edge = 0, move = 0, arg = 0,
           item = 0;
  for (size_t i = r->base.blocks; i < p->blocks.len; i++) {
    const IrBlock *b = &p->blocks.items[i];
    if (b->first != inst || !WITHIN(r, insts, b->first, b->n))
      return false;
    inst += b->n;
  }
  for (size_t i = r->base.branches; i < p->branches.len; i++) {
    const IrBranch *b = &p->branches.items[i];
    if (b->first_edge != edge || b->first_case != item)
      return false;
    edge += b->nedges;
    item += b->ncases;
  }
  for (size_t i = r->base.edges; i < p->edges.len; i++) {
    if (p->edges.items[i].first != move)
      return false;
    move += p->edges.items[i].n;
  }
  for (size_t i = r->base.insts; i < p->insts.len; i++) {
    const IrInst *k = &p->insts.items[i];
    if (k->op >= IR_BR && k->op < IR_STOP && k->b != branch++)
      return false;
    if ((k->op == IR_CALL || k->op == IR_RECORDED) && k->a != call)
      return false;
    if (k->op == IR_RET) {
      if (k->a != arg)
        return false;
      arg += k->b;
    }
    if (k->op == IR_CALL || k->op == IR_RECORDED) {
      if (!WITHIN(r, calls, call, 1))
        return false;
      const IrCall *c = &p->calls.items[r->base.calls + call++];
      if (c->first_arg != arg)
        return false;
      arg += c->nargs;
    }
  }
  return true;
}

static bool read_array(const unsigned char **at, const unsigned char *end,
                       uint64_t n, size_t size, const void **items) {
  uint64_t left = (uint64_t)(end - *at);
  if (n > left / size || n >= UINT32_MAX / 2)
    return false;
  *items = *at;
  uint64_t bytes = (n * size + 7) & ~7ull;
  *at = bytes > left ? end : *at + bytes;
  return true;
}

static bool read_arrays(Program *p, const IrFileHeader *h,
                        const unsigned char *at, const unsigned char *end) {
  size_t k = 0;
  const void *items;
#define READ(member)                                                           \
  if (!read_array(&at, end, h->lengths[k], sizeof *p->member.items, &items) || \
      p->member.len + h->lengths[k] >= IR_CONST)                               \
    return false;                                                              \
  array_reserve(&p->member, h->lengths[k]);                                    \
  if (h->lengths[k])                                                           \
    memcpy(p->member.items + p->member.len, items,                             \
           h->lengths[k] * sizeof *p->member.items);                           \
  p->member.len += h->lengths[k++];
  IR_ARRAYS(READ)
#undef READ
  return true;
}

int program_parse(Program *p, const void *data, size_t size, const char *path,
                  Err *err) {
  IrFileHeader h;
  if (size < sizeof h)
    return damaged(path, "bytes", err);
  memcpy(&h, data, sizeof h);
  if (h.magic != IR_MAGIC || h.version != IR_VERSION || h.size != size ||
      h.nlinks > size)
    return damaged(path, "first bytes", err);
  Reader r = {.p = p, .unit = (uint32_t)p->units.len, .nlinks = h.nlinks};
#define LEN(member) r.base.member = (uint32_t)p->member.len;
  IR_ARRAYS(LEN)
#undef LEN
  const unsigned char *at = (const unsigned char *)data + sizeof h;
  if (!read_arrays(p, &h, at, (const unsigned char *)data + size) ||
      !is_dense(&r) || !fix_tables(&r) || !fix_functions(&r) ||
      !fix_variables(&r))
    return damaged(path, "tables", err);
  IrUnit u = {.nlinks = h.nlinks,
              .first_function = r.base.functions,
              .nfunctions = (uint32_t)p->functions.len - r.base.functions,
              .first_source = r.base.sources};
  memcpy(u.id.bytes, h.id, sizeof h.id);
  array_push(&p->units, u);
  return 0;
}

int program_add(Program *p, const char *path, Err *err) {
  Str data = {0};
  int rc = fs_read(path, 0, &data, err);
  if (!rc)
    rc = program_parse(p, data.data, data.len, path, err);
  str_release(&data);
  return rc;
}

// --- linking ----------------------------------------------------------------

// A unit's own function first, then what others export: strong before weak.
void program_link(Program *p) {
  Hashmap exported = {0};
  for (int weak = 1; weak >= 0; weak--)
    for (size_t i = 0; i < p->functions.len; i++) {
      const IrFunction *f = &p->functions.items[i];
      const char *name = program_name(p, f->name);
      if (f->flags & IR_EXPORTED && !(f->flags & IR_WEAK) == !weak)
        hashmap_put(&exported, name, strlen(name), i);
    }
  size_t symbol = 0;
  for (size_t u = 0; u < p->units.len; u++) {
    Hashmap own = {0};
    const IrUnit *unit = &p->units.items[u];
    for (uint32_t i = 0; i < unit->nfunctions; i++) {
      uint32_t f = unit->first_function + i;
      const char *name = program_name(p, p->functions.items[f].name);
      if (!(p->functions.items[f].flags & IR_WEAK))
        hashmap_put(&own, name, strlen(name), f);
    }
    for (; symbol < p->symbols.len && p->symbols.items[symbol].unit == u;
         symbol++) {
      const char *name = program_name(p, p->symbols.items[symbol].name);
      uint64_t f = IR_NONE;
      if (!hashmap_get(&own, name, strlen(name), &f))
        hashmap_get(&exported, name, strlen(name), &f);
      p->symbols.items[symbol].function = (uint32_t)f;
    }
    hashmap_release(&own);
  }
  hashmap_release(&exported);
}

void program_release(Program *p) {
#define RELEASE(member) array_release(&p->member);
  IR_ARRAYS(RELEASE)
#undef RELEASE
  array_release(&p->units);
  array_release(&p->links);
  array_release(&p->values);
  hashmap_release(&p->by_address);
  *p = (Program){0};
}

void program_use_links(Program *p) {
  p->values.len = 0;
  hashmap_release(&p->by_address);
  array_reserve(&p->values, p->constants.len + 1);
  for (size_t i = 0; i < p->constants.len; i++) {
    const IrConstant *c = &p->constants.items[i];
    const IrUnit *u = &p->units.items[c->unit];
    array_push(&p->values, c->link == IR_NONE
                               ? c->value
                               : p->links.items[u->first_link + c->link]);
  }
  for (size_t i = 0; i < p->functions.len; i++) {
    const IrFunction *f = &p->functions.items[i];
    if (f->address == IR_NONE)
      continue;
    uint64_t at =
        p->links.items[p->units.items[f->unit].first_link + f->address];
    hashmap_put(&p->by_address, &at, sizeof at, i);
  }
  p->bound = true;
}

// --- looking ----------------------------------------------------------------

uint32_t program_function_at(const Program *p, uint64_t address) {
  uint64_t f = IR_NONE;
  hashmap_get(&p->by_address, &address, sizeof address, &f);
  return (uint32_t)f;
}

const char *program_place(const Program *p, uint32_t place, uint32_t *line) {
  IrPlace at = p->places.items[place];
  *line = at.line;
  return at.line ? program_name(p, p->sources.items[at.source]) : "";
}
