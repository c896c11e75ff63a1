// Post-dominators of the lowered code: see control.h.
//
// Blocks are numbered within their function; number n, one behind the last, is
// the end that all ways out lead to. The tree is built over the reversed graph:
// what is a predecessor there is a successor of the code.
#include "ir/control.h"

#include <stdlib.h>

#include "util/array.h"
#include "util/bitset.h"
#include "util/mem.h"

// One function while its joins are computed.
typedef struct {
  const Program *program;
  const IrFunction *function;
  uint32_t n;             // blocks
  uint32_t *first, *pred; // predecessors: pred[first[b] .. first[b + 1])
  bool *leaves;           // leads to the end directly
  uint32_t *number;       // in postorder of the reversed graph; IR_NONE: unseen
  uint32_t *order;        // blocks by that number
  uint32_t seen;
  uint32_t *join; // IR_NONE: not known yet
} JoinGraph;

// --- the graph --------------------------------------------------------------

static const IrInst *terminator(const Program *p, const IrBlock *b) {
  return b->n ? &p->insts.items[b->first + b->n - 1] : NULL;
}

static const IrBranch *branch_of(const Program *p, const IrBlock *b) {
  const IrInst *i = terminator(p, b);
  if (!i || i->op < IR_BR || i->op > IR_JUMP)
    return NULL;
  return &p->branches.items[i->b];
}

static const IrBlock *block_at(const JoinGraph *g, uint32_t b) {
  return &g->program->blocks.items[g->function->first_block + b];
}

static uint32_t successors(const JoinGraph *g, uint32_t b,
                           const IrEdge **edges) {
  const IrBranch *branch = branch_of(g->program, block_at(g, b));
  if (!branch)
    return 0;
  *edges = g->program->edges.items + branch->first_edge;
  return branch->nedges;
}

static void count_predecessors(JoinGraph *g) {
  const IrEdge *edges = NULL;
  for (uint32_t b = 0; b < g->n; b++) {
    uint32_t k = successors(g, b, &edges);
    g->leaves[b] = k == 0;
    for (uint32_t i = 0; i < k; i++)
      g->first[edges[i].target + 1]++;
  }
  for (uint32_t b = 0; b < g->n; b++)
    g->first[b + 1] += g->first[b];
}

static void fill_predecessors(JoinGraph *g) {
  const IrEdge *edges = NULL;
  uint32_t *at = mem_array(uint32_t, g->n + 1);
  for (uint32_t b = 0; b < g->n; b++) {
    uint32_t k = successors(g, b, &edges);
    for (uint32_t i = 0; i < k; i++) {
      uint32_t to = edges[i].target;
      g->pred[g->first[to] + at[to]++] = b;
    }
  }
  free(at);
}

static void graph_init(JoinGraph *g, const Program *p, const IrFunction *f) {
  *g = (JoinGraph){.program = p, .function = f, .n = f->nblocks};
  g->first = mem_array(uint32_t, g->n + 2);
  g->leaves = mem_array(bool, g->n + 1);
  g->number = mem_array(uint32_t, g->n + 1);
  g->order = mem_array(uint32_t, g->n + 1);
  g->join = mem_array(uint32_t, g->n + 1);
  for (uint32_t b = 0; b <= g->n; b++)
    g->number[b] = g->join[b] = IR_NONE;
  count_predecessors(g);
  g->pred = mem_array(uint32_t, g->first[g->n] + 1);
  fill_predecessors(g);
}

static void graph_release(JoinGraph *g) {
  free(g->first);
  free(g->pred);
  free(g->leaves);
  free(g->number);
  free(g->order);
  free(g->join);
}

// --- postorder --------------------------------------------------------------

typedef struct {
  uint32_t block, next; // predecessor to look at next
} Visit;

// Numbers everything that leads to `start` and has no number yet. While a
// block is being visited its number is that of the end, which comes last.
static void number_from(JoinGraph *g, uint32_t start) {
  ARRAY(Visit) stack = {0};
  g->number[start] = g->n;
  array_push(&stack, (Visit){start, g->first[start]});
  while (stack.len) {
    Visit *v = &array_last(&stack);
    if (v->next < g->first[v->block + 1]) {
      uint32_t b = g->pred[v->next++];
      if (g->number[b] == IR_NONE) {
        g->number[b] = g->n;
        array_push(&stack, (Visit){b, g->first[b]});
      }
      continue;
    }
    g->number[v->block] = g->seen;
    g->order[g->seen++] = v->block;
    stack.len--;
  }
  array_release(&stack);
}

static void number_all(JoinGraph *g) {
  for (uint32_t b = 0; b < g->n; b++)
    if (g->leaves[b] && g->number[b] == IR_NONE)
      number_from(g, b);
  for (uint32_t b = g->n; b-- > 0;) {
    if (g->number[b] != IR_NONE)
      continue;
    g->leaves[b] = true; // nothing leads out of here
    number_from(g, b);
  }
  g->number[g->n] = g->n;
  g->join[g->n] = g->n;
}

// --- the tree ---------------------------------------------------------------

static uint32_t meet(const JoinGraph *g, uint32_t a, uint32_t b) {
  while (a != b) {
    while (g->number[a] < g->number[b])
      a = g->join[a];
    while (g->number[b] < g->number[a])
      b = g->join[b];
  }
  return a;
}

static uint32_t find_join(const JoinGraph *g, uint32_t b) {
  const IrEdge *edges = NULL;
  uint32_t k = successors(g, b, &edges);
  uint32_t join = g->leaves[b] ? g->n : IR_NONE;
  for (uint32_t i = 0; i < k; i++) {
    uint32_t to = edges[i].target;
    if (g->join[to] == IR_NONE)
      continue; // later in this round
    join = join == IR_NONE ? to : meet(g, join, to);
  }
  return join;
}

static void find_joins(JoinGraph *g) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = g->seen; i-- > 0;) {
      uint32_t b = g->order[i], join = find_join(g, b);
      changed |= join != g->join[b];
      g->join[b] = join;
    }
  }
}

// --- loops ------------------------------------------------------------------

typedef struct {
  uint32_t head;
  Bitset body; // blocks, its head among them
  size_t size;
} Loop;
typedef ARRAY(Loop) Loops;

static Loop *loop_of(Loops *l, uint32_t head) {
  for (size_t i = 0; i < l->len; i++)
    if (l->items[i].head == head)
      return &l->items[i];
  array_push(l, (Loop){.head = head, .size = 1});
  bitset_add(&array_last(l).body, head);
  return &array_last(l);
}

// Everything that leads to block `from` without coming through the head.
static void add_body(const JoinGraph *g, Loop *l, uint32_t from) {
  ARRAY(uint32_t) todo = {0};
  array_push(&todo, from);
  while (todo.len) {
    uint32_t b = todo.items[--todo.len];
    if (bitset_has(&l->body, b))
      continue;
    bitset_add(&l->body, b);
    l->size++;
    for (uint32_t i = g->first[b]; i < g->first[b + 1]; i++)
      array_push(&todo, g->pred[i]);
  }
  array_release(&todo);
}

static void find_loops(const JoinGraph *g, Loops *out) {
  enum { UNSEEN, OPEN, DONE };
  uint8_t *state = mem_array(uint8_t, g->n);
  ARRAY(Visit) stack = {0};
  const IrEdge *edges = NULL;
  state[0] = OPEN;
  array_push(&stack, (Visit){0, 0});
  while (stack.len) {
    Visit *v = &array_last(&stack);
    if (v->next == successors(g, v->block, &edges)) {
      state[v->block] = DONE;
      stack.len--;
      continue;
    }
    uint32_t to = edges[v->next++].target;
    if (state[to] == OPEN)
      add_body(g, loop_of(out, to), v->block);
    if (state[to] != UNSEEN)
      continue;
    state[to] = OPEN;
    array_push(&stack, (Visit){to, 0});
  }
  array_release(&stack);
  free(state);
}

static const Loop *innermost(const Loops *l, uint32_t block) {
  const Loop *best = NULL;
  for (size_t i = 0; i < l->len; i++)
    if (bitset_has(&l->items[i].body, block) &&
        (!best || l->items[i].size < best->size))
      best = &l->items[i];
  return best;
}

// The operand's value, if the edge brings a constant.
static bool brings(const Program *p, const IrEdge *e, uint32_t operand,
                   uint64_t *value) {
  for (uint32_t i = 0; i < e->n; i++) {
    const IrMove *m = &p->moves.items[e->first + i];
    if (m->dst != operand || !(m->src & IR_CONST))
      continue;
    *value = p->constants.items[m->src & ~IR_CONST].value;
    return true;
  }
  return false;
}

// The edge that is taken behind `e` in any case: a block that only leads on, or
// whose condition is a constant (`while (a && b)` where a is false). NULL: that
// depends.
static const IrEdge *led_on(const JoinGraph *g, const IrEdge *e) {
  const IrBlock *b = block_at(g, e->target);
  const IrBranch *branch = b->n == 1 ? branch_of(g->program, b) : NULL;
  uint64_t value;
  if (!branch)
    return NULL;
  const IrEdge *first = &g->program->edges.items[branch->first_edge];
  const IrInst *i = terminator(g->program, b);
  if (i->op == IR_CONDBR && brings(g->program, e, i->a, &value))
    return first + !(value & 1);
  return branch->nedges == 1 ? first : NULL;
}

static bool leaves_loop(const JoinGraph *g, const Loop *l, const IrEdge *e) {
  enum { FARTHEST = 16 };
  for (int i = 0; e && i < FARTHEST; i++, e = led_on(g, e))
    if (!bitset_has(&l->body, e->target))
      return true;
  return false;
}

static void find_leaving(Control *c, const JoinGraph *g) {
  Loops loops = {0};
  const IrEdge *edges = NULL;
  find_loops(g, &loops);
  for (uint32_t b = 0; b < g->n; b++) {
    const Loop *l = innermost(&loops, b);
    uint32_t k = l ? successors(g, b, &edges) : 0;
    for (uint32_t i = 0; i < k; i++)
      c->leaves[edges + i - c->program->edges.items] =
          leaves_loop(g, l, &edges[i]);
  }
  for (size_t i = 0; i < loops.len; i++)
    bitset_release(&loops.items[i].body);
  array_release(&loops);
}

LoopChange control_loop_change(const Control *c, uint32_t from, uint32_t to) {
  if (c->leaves[from] == c->leaves[to])
    return LOOP_SAME;
  return c->leaves[to] ? LOOP_FEWER : LOOP_MORE;
}

// --- the program ------------------------------------------------------------

static void add_function(Control *c, const IrFunction *f) {
  JoinGraph g;
  if (!f->nblocks)
    return;
  graph_init(&g, c->program, f);
  number_all(&g);
  find_joins(&g);
  for (uint32_t b = 0; b < g.n; b++)
    c->join[f->first_block + b] =
        g.join[b] == g.n ? IR_NONE : f->first_block + g.join[b];
  c->entry[f->first_block] = true;
  find_leaving(c, &g);
  graph_release(&g);
}

static void find_branches(Control *c) {
  const Program *p = c->program;
  for (uint32_t i = 0; i < p->branches.len; i++)
    c->block_of[i] = IR_NONE;
  for (uint32_t b = 0; b < p->blocks.len; b++) {
    const IrBranch *branch = branch_of(p, &p->blocks.items[b]);
    if (branch)
      c->block_of[branch - p->branches.items] = b;
  }
}

// The block an edge leads to, behind those that only lead on (edges from a
// branch to a join get one). Values that are chosen by the way count as code.
static uint32_t lands(const Program *p, const IrFunction *f, const IrEdge *e) {
  enum { FARTHEST = 16 };
  for (int i = 0; i < FARTHEST && !e->n; i++) {
    const IrBlock *b = &p->blocks.items[f->first_block + e->target];
    const IrBranch *next = b->n == 1 ? branch_of(p, b) : NULL;
    const IrEdge *on = next ? &p->edges.items[next->first_edge] : NULL;
    if (!on || next->nedges != 1 || on->n)
      break;
    e = on;
  }
  return e->target;
}

// `seen[block]`: 1 + the first edge of this branch to that block.
static void find_ways(Control *c, const IrFunction *f, const IrBranch *b,
                      uint32_t *seen) {
  const IrEdge *edges = c->program->edges.items;
  uint32_t end = b->first_edge + b->nedges;
  for (uint32_t i = b->first_edge; i < end; i++) {
    uint32_t *first = &seen[lands(c->program, f, &edges[i])];
    if (!*first || edges[i].n)
      *first = i + 1;
    c->way[i] = *first - 1;
    c->branch_of[i] = (uint32_t)(b - c->program->branches.items);
  }
  for (uint32_t i = b->first_edge; i < end; i++)
    seen[lands(c->program, f, &edges[i])] = 0;
}

static void find_all_ways(Control *c) {
  const Program *p = c->program;
  uint32_t *seen = mem_array(uint32_t, p->blocks.len + 1);
  for (size_t i = 0; i < p->functions.len; i++) {
    const IrFunction *f = &p->functions.items[i];
    for (uint32_t b = 0; b < f->nblocks; b++) {
      const IrBranch *branch =
          branch_of(p, &p->blocks.items[f->first_block + b]);
      if (branch)
        find_ways(c, f, branch, seen);
    }
  }
  free(seen);
}

void control_init(Control *c, const Program *p) {
  *c = (Control){.program = p};
  c->join = mem_array(uint32_t, p->blocks.len + 1);
  c->entry = mem_array(bool, p->blocks.len + 1);
  c->block_of = mem_array(uint32_t, p->branches.len + 1);
  c->branch_of = mem_array(uint32_t, p->edges.len + 1);
  c->way = mem_array(uint32_t, p->edges.len + 1);
  c->leaves = mem_array(bool, p->edges.len + 1);
  for (size_t i = 0; i < p->functions.len; i++)
    add_function(c, &p->functions.items[i]);
  find_branches(c);
  find_all_ways(c);
}

void control_release(Control *c) {
  free(c->join);
  free(c->entry);
  free(c->block_of);
  free(c->branch_of);
  free(c->way);
  free(c->leaves);
}

const char *control_place(const Control *c, uint32_t branch, uint32_t *line) {
  const Program *p = c->program;
  uint32_t block = c->block_of[branch];
  *line = 0;
  if (block == IR_NONE)
    return "";
  return program_place(p, terminator(p, &p->blocks.items[block])->place, line);
}
