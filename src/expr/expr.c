// The pool: nodes, their hash table, variables, constants, texts, tables.
#include "expr/expr.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "expr/expr_eval.h"
#include "expr/expr_make.h"

static const uint8_t arities[] = {
#define EXPR_OP(name, n) n,
#include "expr/expr_ops.def"
#undef EXPR_OP
};
static const char *const names[] = {
#define EXPR_OP(name, n) #name,
#include "expr/expr_ops.def"
#undef EXPR_OP
};

unsigned expr_arity(ExprOp op) { return arities[op]; }
const char *expr_op_name(ExprOp op) { return names[op]; }

// --- pool -------------------------------------------------------------------

static ExprNode *new_node(ExprPool *p) {
  assert(p->len < UINT32_MAX);
  size_t chunk = p->len >> EXPR_CHUNK_BITS;
  if (chunk == p->rest->nchunks) {
    if ((chunk & (chunk - 1)) == 0) // room for twice as many
      p->chunks =
          mem_realloc(p->chunks, (chunk ? chunk * 2 : 1) * sizeof *p->chunks);
    p->chunks[chunk] = mem_array(ExprNode, 1u << EXPR_CHUNK_BITS);
    p->rest->nchunks++;
  }
  return expr_node(p, p->len++);
}

ExprPool *expr_pool_new(void) {
  ExprPool *p = mem_new(ExprPool);
  ExprPoolRest *r = p->rest = mem_new(ExprPoolRest);
  r->simplify = true;
  r->nslots = 1u << 12;
  r->slots = mem_array(uint32_t, r->nslots);
  new_node(p); // id 0: none
  expr_text_id(p, "", 0);
  array_push(&r->supports, (SupportNode){0}); // 0: not computed
  array_push(&r->supports, (SupportNode){0}); // SUPPORT_EMPTY
  return p;
}

void expr_pool_free(ExprPool *p) {
  if (!p)
    return;
  ExprPoolRest *r = p->rest;
  for (size_t i = 0; i < r->nchunks; i++)
    free(p->chunks[i]);
  free(p->chunks);
  free(r->slots);
  array_release(&r->groups);
  array_release(&r->var_nodes);
  array_release(&r->texts);
  array_release(&r->tables);
  array_release(&r->supports);
  hashmap_release(&r->text_ids);
  hashmap_release(&r->table_ids);
  hashmap_release(&r->table_maps);
  free(r->support_slots);
  free(r->support_unions);
  arena_release(&r->arena);
  free(r);
  free(p);
}

size_t expr_pool_bytes(const ExprPool *p) {
  const ExprPoolRest *r = p->rest;
  return r->nchunks * (sizeof(ExprNode) << EXPR_CHUNK_BITS) +
         r->nslots * sizeof *r->slots +
         r->var_nodes.cap * sizeof *r->var_nodes.items +
         r->supports.cap * sizeof *r->supports.items;
}

bool expr_pool_has(const ExprPool *p, ExprKind kind) {
  return p->rest->kinds >> kind & 1;
}

// --- hash-consing -----------------------------------------------------------

static uint32_t hash_of(const ExprNode *n) {
  uint64_t h = n->op | (uint64_t)n->sort.kind << 8 | n->sort.width << 16;
  h = (h ^ n->arg[0]) * 0x9e3779b97f4a7c15ull;
  h = (h ^ h >> 29 ^ n->arg[1]) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ h >> 31 ^ n->arg[2]) * 0x94d049bb133111ebull;
  if (n->op == EXPR_CONST)
    h = (h ^ h >> 30 ^ n->value) * 0x9e3779b97f4a7c15ull;
  return (uint32_t)(h >> 32);
}

// A slot is a node's id and, above the bits ids need in a table of this size,
// bits of its hash: a slot of another node is passed over without looking at
// that node, which would cost a cache miss.
static uint32_t slot_for(const ExprPoolRest *r, Expr e, uint32_t hash) {
  return e | (hash & ~(r->nslots - 1));
}

static void put_slot(ExprPoolRest *r, Expr e, uint32_t hash) {
  uint32_t mask = r->nslots - 1, i = hash & mask;
  while (r->slots[i])
    i = (i + 1) & mask;
  r->slots[i] = slot_for(r, e, hash);
}

// Large tables in huge pages: nearly every look at one is a cache miss, and
// need not be a miss of the TLB as well.
static uint32_t *new_slots(uint32_t n) {
  const size_t page = 2u << 20;
  size_t size = (size_t)n * sizeof(uint32_t);
  void *slots = size < 4 * page ? NULL : aligned_alloc(page, size);
  if (!slots)
    return mem_array(uint32_t, n);
  madvise(slots, size, MADV_HUGEPAGE); // an advice: may fail
  memset(slots, 0, size);
  return slots;
}

static void grow_slots(ExprPool *p) {
  ExprPoolRest *r = p->rest;
  assert(r->nslots <= UINT32_MAX / 2);
  free(r->slots);
  r->nslots *= 2;
  r->slots = new_slots(r->nslots);
  for (Expr e = 1; e < p->len; e++)
    put_slot(r, e, hash_of(expr_node(p, e)));
}

static bool same_node(const ExprNode *a, const ExprNode *b) {
  return a->op == b->op && same_sort(a->sort, b->sort) &&
         a->arg[0] == b->arg[0] && a->arg[1] == b->arg[1] &&
         a->arg[2] == b->arg[2] &&
         (a->op != EXPR_CONST || a->value == b->value);
}

static Expr find(const ExprPool *p, const ExprNode *n, uint32_t hash) {
  const ExprPoolRest *r = p->rest;
  uint32_t mask = r->nslots - 1, tag = hash & ~mask;
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    uint32_t slot = r->slots[i];
    if (!slot)
      return 0;
    if ((slot & ~mask) == tag && same_node(expr_node(p, slot & mask), n))
      return slot & mask;
  }
}

static Expr insert(ExprPool *p, const ExprNode *n, uint32_t hash) {
  ExprPoolRest *r = p->rest;
  if (p->len / 3 >= r->nslots / 4)
    grow_slots(p);
  r->kinds |= 1u << n->sort.kind;
  Expr e = p->len;
  ExprNode *made = new_node(p);
  *made = *n;
  put_slot(r, e, hash);
  return e;
}

// How many constants an ITE ends in, 0 if not in constants only.
static uint8_t count_leaves(const ExprPool *p, const ExprNode *n) {
  if (n->op == EXPR_CONST)
    return 1;
  if (n->op != EXPR_ITE)
    return 0;
  unsigned a = expr_node(p, n->arg[1])->leaves;
  unsigned b = expr_node(p, n->arg[2])->leaves;
  return a && b ? (uint8_t)(a + b < 255 ? a + b : 255) : 0;
}

static uint64_t run_value(ExprPool *p, const ExprNode *n) {
  uint64_t v[3] = {0};
  for (unsigned i = 0; i < arities[n->op]; i++)
    v[i] = expr_value(p, n->arg[i]);
  bool undefined = false;
  return expr_apply(p, n, expr_sort(p, n->arg[0]), v[0], v[1], v[2],
                    &undefined);
}

static bool all_const(const ExprPool *p, const ExprNode *n) {
  for (unsigned i = 0; i < arities[n->op]; i++)
    if (!expr_is_const(p, n->arg[i]))
      return false;
  return true;
}

Expr expr_make(ExprPool *p, ExprOp op, ExprSort sort, Expr a, Expr b, Expr c) {
  assert(arities[op] > 0 && a);
  ExprNode n = {.op = (uint8_t)op, .sort = sort, .arg = {a, b, c}};
  if (all_const(p, &n))
    return expr_const_of(p, sort, run_value(p, &n));
  uint32_t hash = hash_of(&n);
  Expr e = find(p, &n, hash);
  if (e)
    return e;
  n.value = run_value(p, &n);
  n.leaves = count_leaves(p, &n);
  return insert(p, &n, hash);
}

// --- constants --------------------------------------------------------------

// Where the latest constant like this one is remembered: constants are asked
// for all the time, and are few.
static Expr *recent_const(ExprPool *p, ExprSort sort, uint64_t value) {
  uint64_t h = (value ^ (uint64_t)sort.width << 56) * 0x9e3779b97f4a7c15ull;
  return &p->rest->recent[h >> 32 & (EXPR_RECENT - 1)];
}

Expr expr_const_of(ExprPool *p, ExprSort sort, uint64_t value) {
  if (sort.kind == SORT_BV || sort.kind == SORT_FP)
    value &= expr_mask(sort.width);
  Expr *recent = recent_const(p, sort, value);
  const ExprNode *r = expr_node(p, *recent);
  if (r->op == EXPR_CONST && r->value == value && same_sort(r->sort, sort))
    return *recent;
  ExprNode n = {.op = EXPR_CONST, .sort = sort, .value = value, .leaves = 1};
  uint32_t hash = hash_of(&n);
  Expr e = find(p, &n, hash);
  return *recent = e ? e : insert(p, &n, hash);
}

Expr expr_const(ExprPool *p, unsigned width, uint64_t value) {
  assert(width >= 1 && width <= 64);
  return expr_const_of(p, expr_bv(width), value);
}

Expr expr_bool(ExprPool *p, bool value) { return expr_const(p, 1, value); }

Expr expr_const_fp(ExprPool *p, unsigned width, uint64_t bits) {
  assert(width == 32 || width == 64);
  return expr_const_of(p, expr_fp(width), bits);
}

Expr expr_const_double(ExprPool *p, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return expr_const_fp(p, 64, bits);
}

Expr expr_const_int(ExprPool *p, int64_t value) {
  return expr_const_of(p, expr_int_sort(), (uint64_t)value);
}

Expr expr_const_str(ExprPool *p, const char *s, size_t n) {
  return expr_const_of(p, expr_str_sort(), expr_text_id(p, s, n));
}

uint64_t expr_text_id(ExprPool *p, const char *s, size_t n) {
  ExprPoolRest *r = p->rest;
  uint64_t id = hashmap_intern(&r->text_ids, s, n, r->texts.len);
  if (id == r->texts.len)
    array_push(&r->texts, (ExprText){arena_strndup(&r->arena, s, n), n});
  return id;
}

const char *expr_text(const ExprPool *p, uint64_t id, size_t *n) {
  assert(id < p->rest->texts.len);
  *n = p->rest->texts.items[id].n;
  return p->rest->texts.items[id].data;
}

// --- variables --------------------------------------------------------------

static VarId add_group(ExprPool *p, VarGroup g, const char *name) {
  ExprPoolRest *r = p->rest;
  g.name = arena_strdup(&r->arena, name);
  g.first = (VarId)r->var_nodes.len;
  array_push(&r->groups, g);
  array_reserve(&r->var_nodes, g.n);
  for (uint32_t i = 0; i < g.n; i++)
    array_push(&r->var_nodes, 0);
  return g.first;
}

VarId expr_new_vars(ExprPool *p, const char *name, ExprSort sort, uint32_t n,
                    const uint64_t *values) {
  VarGroup g = {.sort = sort, .n = n, .indexed = true};
  g.values = arena_array(&p->rest->arena, uint64_t, n);
  for (uint32_t i = 0; values && i < n; i++)
    g.values[i] =
        sort.kind == SORT_BV ? values[i] & expr_mask(sort.width) : values[i];
  return add_group(p, g, name);
}

VarId expr_new_bytes(ExprPool *p, const char *name, const uint8_t *bytes,
                     uint32_t n) {
  VarGroup g = {.sort = expr_bv(8), .n = n, .indexed = true};
  g.bytes = arena_alloc(&p->rest->arena, n);
  if (bytes && n)
    memcpy(g.bytes, bytes, n);
  return add_group(p, g, name);
}

VarId expr_new_var(ExprPool *p, const char *name, ExprSort sort,
                   uint64_t value) {
  VarId v = expr_new_vars(p, name, sort, 1, &value);
  array_last(&p->rest->groups).indexed = false;
  return v;
}

VarId expr_new_str_var(ExprPool *p, const char *name, const char *value,
                       size_t n) {
  return expr_new_var(p, name, expr_str_sort(), expr_text_id(p, value, n));
}

uint32_t expr_var_count(const ExprPool *p) {
  return (uint32_t)p->rest->var_nodes.len;
}

// The group of `v`: the last one that begins at or before it.
static const VarGroup *group_of(const ExprPool *p, VarId v) {
  assert(v < expr_var_count(p));
  size_t low = 0, high = p->rest->groups.len;
  while (high - low > 1) {
    size_t mid = (low + high) / 2;
    if (p->rest->groups.items[mid].first <= v)
      low = mid;
    else
      high = mid;
  }
  // Empty groups begin where the next one does; the search ends at the last.
  return &p->rest->groups.items[low];
}

ExprSort expr_var_sort(const ExprPool *p, VarId v) {
  return group_of(p, v)->sort;
}

uint64_t expr_var_value(const ExprPool *p, VarId v) {
  const VarGroup *g = group_of(p, v);
  uint32_t i = v - g->first;
  return g->bytes ? g->bytes[i] : g->values[i];
}

void expr_var_name(const ExprPool *p, VarId v, Str *out) {
  const VarGroup *g = group_of(p, v);
  str_add(out, g->name);
  if (g->indexed)
    str_addf(out, "[%u]", v - g->first);
}

Expr expr_input(ExprPool *p, VarId v) {
  assert(v < expr_var_count(p));
  Expr *made = &p->rest->var_nodes.items[v];
  if (!*made) {
    ExprNode n = {.op = EXPR_VAR, .sort = expr_var_sort(p, v), .arg = {v}};
    n.value = expr_var_value(p, v);
    *made = insert(p, &n, hash_of(&n));
  }
  return *made;
}
