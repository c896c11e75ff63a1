// The path of a replayed run, the objects its addresses point into, and its
// input as variables.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay_internal.h"

enum { DROP_AT = 16 << 20 }; // bytes of the stream that stay in memory

// --- events -----------------------------------------------------------------

PathEvent *replay_event(Replay *r, PathKind kind, Expr cond, bool outcome) {
  ExprPool *p = r->pool;
  r->unused = (PathEvent){0};
  if (!cond || expr_is_const(p, cond))
    return &r->unused;
  if ((expr_value(p, cond) != 0) != outcome) {
    r->path->stats.false_conditions++;
    return &r->unused;
  }
  const ReplayFrame *f = r->frames.len ? top(r) : NULL;
  PathEvent e = {
      .kind = (uint32_t)kind & 15,
      .outcome = outcome,
      .violated = kind == PATH_DIVIDE || kind == PATH_BOUNDS ? !outcome : false,
      .branch = IR_NONE,
      .function = f ? f->function : IR_NONE,
      .place = f ? replay_place(r) : 0,
      .cond = cond};
  array_push(&r->path->events, e);
  if (r->pos - r->dropped > DROP_AT) {
    trace_drop(r->trace, r->dropped, r->pos);
    r->dropped = r->pos;
  }
  return &array_last(&r->path->events);
}

static Expr switch_condition(Replay *r, const IrBranch *b, uint32_t edge,
                             IrValue v, unsigned width, bool *outcome) {
  const Program *p = r->program;
  Expr x = replay_bits(r, v, width), any = 0;
  *outcome = edge != 0;
  for (uint32_t k = 0; k < b->ncases; k++) {
    if (edge && k + 1 != edge)
      continue;
    uint64_t value =
        p->values.items[p->cases.items[b->first_case + k] & ~IR_CONST];
    Expr eq = expr_eq(r->pool, x, expr_const(r->pool, width, value));
    any = any ? expr_or(r->pool, any, eq) : eq;
  }
  return any;
}

void replay_branch_event(Replay *r, const IrInst *i, uint32_t branch,
                         uint32_t edge, IrValue v) {
  const IrBranch *b = &r->program->branches.items[branch];
  PathEvent *e;
  if (i->op == IR_CONDBR) {
    e = replay_event(r, PATH_BRANCH, replay_bits(r, v, 1), edge == 0);
  } else if (i->op == IR_SWITCH) {
    bool outcome;
    Expr cond = switch_condition(r, b, edge, v, i->width, &outcome);
    e = replay_event(r, PATH_SWITCH, cond, outcome);
    e->subject = v.expr;
  } else {
    replay_fix(r, PATH_ADDRESS, v);
    return;
  }
  e->branch = branch;
  e->edge = edge;
  e->instance = r->instances[branch];
}

void replay_fix(Replay *r, PathKind kind, IrValue v) {
  if (!v.expr || !r->pool)
    return;
  Expr is = replay_bits(r, v, expr_width(r->pool, v.expr));
  Expr same =
      expr_const(r->pool, expr_width(r->pool, is), expr_value(r->pool, is));
  replay_event(r, kind, expr_eq(r->pool, is, same), true)->subject = v.expr;
}

void replay_pin(Replay *r, IrValue at, const Object *object) {
  if (object && at.expr && r->options.split_tables) {
    Expr start = expr_const(r->pool, 64, object->at);
    at.expr = expr_sub(r->pool, at.expr, start);
    at.value -= object->at;
  }
  replay_fix(r, PATH_ADDRESS, at);
}

void replay_lost(Replay *r, const char *name) {
  uint64_t fresh = r->path->stats.losses.len;
  uint64_t at = hashmap_intern(&r->losses, name, strlen(name), fresh);
  if (at == fresh)
    array_push(&r->path->stats.losses, (PathLoss){name, 0});
  r->path->stats.losses.items[at].count++;
}

// --- objects ----------------------------------------------------------------

// The last one that starts at or before the address; len if there is none.
static size_t object_before(const Object *items, size_t len, uint64_t at) {
  size_t lo = 0, hi = len;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (items[mid].at <= at)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo ? lo - 1 : len;
}

static bool holds(const Object *o, uint64_t at) { return at - o->at < o->size; }

enum { CTYPE_FIRST = -128, CTYPE_ENTRIES = 384 };

static uint64_t ctype_entry(int table, int i) {
  switch (table) {
  case 0:
    return (*__ctype_b_loc())[i];
  case 1:
    return (uint32_t)(*__ctype_tolower_loc())[i];
  default:
    return (uint32_t)(*__ctype_toupper_loc())[i];
  }
}

static void fill_ctype(Replay *r, int table, uint64_t at, unsigned size) {
  r->ctype[table] = (Object){at, CTYPE_ENTRIES * size};
  for (int i = 0; i < CTYPE_ENTRIES; i++)
    shadow_store(r->shadow, at + (uint64_t)i * size, size,
                 ctype_entry(table, CTYPE_FIRST + i), 0);
}

// The tables behind isdigit() and friends, if the program has asked for them.
static const Object *ctype_table(Replay *r, uint64_t at) {
  static const unsigned sizes[] = {2, 4, 4};
  const uint64_t holders[] = {r->ctype_b, r->ctype_lower, r->ctype_upper};
  for (int k = 0; k < 3; k++) {
    uint64_t middle;
    if (!holders[k] || !shadow_word(r->shadow, holders[k], &middle))
      continue;
    uint64_t first = middle - 128 * sizes[k];
    if (r->ctype[k].at != first)
      fill_ctype(r, k, first, sizes[k]);
    if (holds(&r->ctype[k], at))
      return &r->ctype[k];
  }
  return NULL;
}

const Object *replay_object(Replay *r, uint64_t at, bool *read_only) {
  enum { NEAREST = 4096 };
  *read_only = false;
  size_t k = object_before(r->globals.items, r->globals.len, at);
  if (k < r->globals.len && holds(&r->globals.items[k], at)) {
    *read_only = r->read_only.items[k];
    return &r->globals.items[k];
  }
  k = object_before(r->heap.items, r->heap.len, at);
  if (k < r->heap.len && holds(&r->heap.items[k], at))
    return &r->heap.items[k];
  for (size_t i = r->objects.len; i-- > 0 && r->objects.len - i < NEAREST;)
    if (holds(&r->objects.items[i], at))
      return &r->objects.items[i];
  const Object *table = ctype_table(r, at);
  *read_only = table != NULL;
  return table;
}

void replay_resized(Replay *r, uint64_t at, uint64_t size) {
  size_t k = object_before(r->heap.items, r->heap.len, at);
  if (k < r->heap.len && r->heap.items[k].at == at) {
    r->heap.items[k].size = size;
    return;
  }
  size_t place = k < r->heap.len ? k + 1 : 0;
  array_reserve(&r->heap, 1);
  memmove(r->heap.items + place + 1, r->heap.items + place,
          (r->heap.len - place) * sizeof(Object));
  r->heap.items[place] = (Object){at, size};
  r->heap.len++;
}

void replay_allocated(Replay *r, uint64_t at, uint64_t size) {
  enum { LARGEST = 1 << 30 };
  if (!at || size > LARGEST)
    return;
  shadow_forget(r->shadow, at, size);
  replay_resized(r, at, size);
}

uint64_t replay_allocated_size(Replay *r, uint64_t at) {
  size_t k = object_before(r->heap.items, r->heap.len, at);
  return k < r->heap.len && r->heap.items[k].at == at ? r->heap.items[k].size
                                                      : 0;
}

void replay_freed(Replay *r, uint64_t at) {
  size_t k = object_before(r->heap.items, r->heap.len, at);
  if (k < r->heap.len && r->heap.items[k].at == at)
    r->heap.items[k].size = 0;
}

// --- input ------------------------------------------------------------------

typedef struct {
  Object object;
  const IrGlobal *global;
} Placed;

static int by_address(const void *a, const void *b) {
  uint64_t x = ((const Placed *)a)->object.at,
           y = ((const Placed *)b)->object.at;
  return (x > y) - (x < y);
}

static void load_global(Replay *r, const IrGlobal *g, uint64_t at) {
  const Program *p = r->program;
  for (uint64_t i = 0; i < g->nbytes; i++)
    if (p->known.items[g->first_byte + i])
      shadow_store(r->shadow, at + i, 1, p->bytes.items[g->first_byte + i], 0);
  if (!g->nbytes)
    shadow_fill(r->shadow, at, g->size, 0, 0);
}

static void place_globals(Replay *r) {
  enum { LARGEST = 1 << 24 };
  const Program *p = r->program;
  ARRAY(Placed) all = {0};
  for (size_t i = 0; i < p->globals.len; i++) {
    const IrGlobal *g = &p->globals.items[i];
    uint64_t at = p->links.items[p->units.items[g->unit].first_link + g->link];
    array_push(&all, (Placed){{at, g->size}, g});
    if (g->size <= LARGEST)
      load_global(r, g, at);
  }
  if (all.len)
    qsort(all.items, all.len, sizeof *all.items, by_address);
  for (size_t i = 0; i < all.len; i++) {
    array_push(&r->globals, all.items[i].object);
    array_push(&r->read_only, (all.items[i].global->flags & IR_READ_ONLY) != 0);
  }
  array_release(&all);
}

void replay_begin_input(Replay *r) {
  for (size_t i = 0; i < r->inputs->sources.len; i++) {
    const InputSource *s = &r->inputs->sources.items[i];
    bool text = s->kind == INPUT_ARG || s->kind == INPUT_ENV;
    char *size = mem_printf("%s.size", s->name);
    uint32_t more = text ? 1 + INPUT_SLACK : 0;
    VarId first =
        expr_new_bytes(r->pool, s->name, s->bytes, (uint32_t)s->size + more);
    array_push(&r->path->first_var, first);
    array_push(&r->path->size_var,
               expr_new_var(r->pool, size, expr_bv(64), s->size));
    free(size);
  }
  place_globals(r);
}

// The string's bytes and its end are variables, if it is what it should be.
static void mark_text(Replay *r, size_t source, uint64_t at) {
  const InputSource *s = &r->inputs->sources.items[source];
  for (uint64_t i = 0; i <= s->size; i++) {
    uint8_t b;
    if (!shadow_byte(r->shadow, at + i, &b) || b != s->bytes[i])
      return;
  }
  array_push(&r->texts, (InputText){at, s->size, (uint32_t)source});
  for (uint64_t i = 0; i <= s->size; i++) {
    VarId v = r->path->first_var.items[source] + (VarId)i;
    shadow_store(r->shadow, at + i, 1, s->bytes[i], expr_input(r->pool, v));
  }
}

Expr replay_slack(Replay *r, uint64_t base, uint64_t at) {
  for (size_t i = 0; i < r->texts.len; i++) {
    const InputText *t = &r->texts.items[i];
    if (base - t->at > t->size || at - t->at <= t->size ||
        at - t->at > t->size + INPUT_SLACK)
      continue;
    VarId v = r->path->first_var.items[t->source] + (VarId)(at - t->at);
    return expr_input(r->pool, v);
  }
  return 0;
}

static bool begins_with(Replay *r, uint64_t at, const char *name) {
  for (; *name; name++, at++) {
    uint8_t b;
    if (!shadow_byte(r->shadow, at, &b) || b != (uint8_t)*name)
      return false;
  }
  uint8_t b;
  return shadow_byte(r->shadow, at, &b) && b == '=';
}

// The environment stands behind the arguments.
static void mark_variable(Replay *r, size_t source, uint64_t envp) {
  enum { MOST = 4096 };
  const char *name = r->inputs->sources.items[source].key;
  for (int i = 0; i < MOST; i++) {
    uint64_t at;
    if (!shadow_word(r->shadow, envp + 8ul * (unsigned)i, &at) || !at)
      return;
    if (begins_with(r, at, name)) {
      mark_text(r, source, at + strlen(name) + 1);
      return;
    }
  }
}

void replay_found_arguments(Replay *r, uint64_t argc, uint64_t argv) {
  for (size_t i = 0; i < r->inputs->sources.len; i++) {
    const InputSource *s = &r->inputs->sources.items[i];
    uint64_t at;
    if (s->kind == INPUT_ARG && s->arg < argc &&
        shadow_word(r->shadow, argv + 8ull * s->arg, &at))
      mark_text(r, i, at);
    else if (s->kind == INPUT_ENV)
      mark_variable(r, i, argv + 8 * (argc + 1));
  }
}
