// Statements of one compiled function and the control flow between them.
//
// A statement is a ZEND_EXT_STMT that has code of its own: PHP puts one in
// front of `use`, of every block in braces and of the return that ends a
// function without saying so, and these are none. Text outside <?php ?> is one
// statement of PHP, but each of its lines that holds anything is one of ours.
//
//   1  if ($a)          1 -> 2, 1 -> 3      blocks {1} {2} {3 4}
//   2    f();           2 -> 3
//   3  g();             3 -> 4
//   4  return;
//
// Every block may be left (an exception, exit), and every block in a `try` may
// go on in its `catch` or `finally`; only the rest decides where blocks begin.
// Opcodes are walked from each statement to the statements that may be next:
// linear in practice, as statements are dense.
#include "plan.h"

// --- jumps ------------------------------------------------------------------

bool is_jump(const zend_op *op) {
  switch (op->opcode) {
  case ZEND_JMP:
  case ZEND_FAST_CALL:
  case ZEND_JMPZ:
  case ZEND_JMPNZ:
  case ZEND_JMPZ_EX:
  case ZEND_JMPNZ_EX:
  case ZEND_JMP_SET:
  case ZEND_COALESCE:
  case ZEND_JMP_NULL:
  case ZEND_ASSERT_CHECK:
  case ZEND_FE_RESET_R:
  case ZEND_FE_RESET_RW:
  case ZEND_FE_FETCH_R:
  case ZEND_FE_FETCH_RW:
    return true;
  case ZEND_CATCH:
    return !(op->extended_value & ZEND_LAST_CATCH);
  default:
    return false;
  }
}

uint32_t jump_target(const zend_op_array *code, uint32_t n) {
  const zend_op *op = &code->opcodes[n], *to;
  switch (op->opcode) {
  case ZEND_JMP:
  case ZEND_FAST_CALL:
    to = OP_JMP_ADDR(op, op->op1);
    break;
  case ZEND_FE_FETCH_R:
  case ZEND_FE_FETCH_RW:
    to = ZEND_OFFSET_TO_OPLINE(op, op->extended_value);
    break;
  default:
    to = OP_JMP_ADDR(op, op->op2);
  }
  return (uint32_t)(to - code->opcodes);
}

static bool leaves(const zend_op *op) {
  switch (op->opcode) {
  case ZEND_RETURN:
  case ZEND_RETURN_BY_REF:
  case ZEND_GENERATOR_RETURN:
  case ZEND_THROW:
  case ZEND_EXIT:
  case ZEND_MATCH_ERROR:
  case ZEND_VERIFY_NEVER_TYPE:
    return true;
  default:
    return false;
  }
}

// --- statements -------------------------------------------------------------

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' ||
         c == '\f' || !c;
}

// Is this statement PHP's own return at the end of a function?
static bool is_implicit_return(const zend_op_array *code, uint32_t n) {
  for (n++; n < code->last; n++) {
    const zend_op *op = &code->opcodes[n];
    switch (op->opcode) {
    case ZEND_VERIFY_RETURN_TYPE:
    case ZEND_VERIFY_NEVER_TYPE:
      continue;
    case ZEND_RETURN:
    case ZEND_RETURN_BY_REF:
    case ZEND_GENERATOR_RETURN:
      return op->extended_value == (uint32_t)-1;
    default:
      return false;
    }
  }
  return true;
}

// The first piece that begins on this line or behind it.
static size_t first_piece(const culprit_source *source, uint32_t line) {
  size_t lo = 0, hi = source->npieces;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (source->pieces[mid].line < line)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

// The text outside <?php ?> that the opcode prints, or NULL.
static const culprit_inline *find_inline(const zend_op_array *code, uint32_t n,
                                         const culprit_source *source) {
  const zend_op *op = &code->opcodes[n];
  if (n >= code->last || op->opcode != ZEND_ECHO || op->op1_type != IS_CONST)
    return NULL;
  const zval *text = RT_CONSTANT(op, op->op1);
  if (Z_TYPE_P(text) != IS_STRING)
    return NULL;
  for (size_t i = first_piece(source, op->lineno); i < source->npieces; i++) {
    const culprit_inline *p = &source->pieces[i];
    if (p->line != op->lineno)
      break;
    if (p->length == Z_STRLEN_P(text) &&
        !memcmp(p->text, Z_STRVAL_P(text), p->length))
      return p;
  }
  return NULL;
}

static void find_lines(point *p, const culprit_inline *piece) {
  LIST(uint32_t) lines = {0};
  uint32_t line = piece->line;
  for (size_t i = 0; i < piece->length; i++) {
    char c = piece->text[i];
    if (!is_blank(c) &&
        (!lines.length || lines.items[lines.length - 1] != line))
      list_push(&lines, line);
    line +=
        c == '\n' ||
        (c == '\r' && (i + 1 == piece->length || piece->text[i + 1] != '\n'));
  }
  p->lines = lines.items;
  p->nlines = lines.length;
}

static bool is_empty(const zend_op_array *code, uint32_t n) {
  uint32_t next = n + 1;
  while (next < code->last && code->opcodes[next].opcode == ZEND_NOP)
    next++;
  return next >= code->last || code->opcodes[next].opcode == ZEND_EXT_STMT ||
         is_implicit_return(code, n);
}

static void find_points(function_plan *f, const culprit_source *source) {
  const zend_op_array *code = f->code;
  f->entry_op = code->last;
  for (uint32_t i = 0; i < code->last; i++) {
    if (code->opcodes[i].opcode != ZEND_EXT_STMT)
      continue;
    if (f->entry_op == code->last)
      f->entry_op = i;
    if (is_empty(code, i))
      continue;
    point p = {.op = i, .line = code->opcodes[i].lineno};
    const culprit_inline *piece = find_inline(code, i + 1, source);
    if (piece) {
      find_lines(&p, piece);
      if (!p.nlines)
        continue;
    }
    list_push(&f->points, p);
    f->point_of[i] = f->points.length;
  }
}

// --- walking ----------------------------------------------------------------

typedef struct {
  function_plan *f;
  uint32_t *stamp; // per opcode: the last walk that came by
  uint32_t walk;
  LIST(uint32_t) todo;
  LIST(uint32_t) found; // points
  LIST(uint32_t) fast_calls;
  bool leaves;
} walker;

static void step(walker *w, uint32_t n) {
  const zend_op_array *code = w->f->code;
  const zend_op *op = &code->opcodes[n];
  if (leaves(op)) {
    w->leaves = true;
    return;
  }
  if (op->opcode == ZEND_FAST_RET) {
    w->leaves = true;
    for (uint32_t i = 0; i < w->fast_calls.length; i++)
      if (code->opcodes[w->fast_calls.items[i]].result.var == op->op1.var)
        list_push(&w->todo, w->fast_calls.items[i] + 1);
    return;
  }
  if (is_jump(op))
    list_push(&w->todo, jump_target(code, n));
  if (op->opcode != ZEND_JMP && op->opcode != ZEND_FAST_CALL)
    list_push(&w->todo, n + 1);
}

// Collects the points that come next from opcode `start` on. The opcodes in
// between belong to point `owner` (+ 1) unless they have an owner.
static void walk_from(walker *w, uint32_t start, uint32_t owner) {
  function_plan *f = w->f;
  list_push(&w->todo, start);
  while (w->todo.length) {
    uint32_t n = w->todo.items[--w->todo.length];
    if (n >= f->code->last || w->stamp[n] == w->walk)
      continue;
    w->stamp[n] = w->walk;
    if (f->point_of[n]) {
      list_push(&w->found, f->point_of[n] - 1);
      continue;
    }
    if (!f->owner[n])
      f->owner[n] = owner;
    step(w, n);
  }
}

static void begin_walk(walker *w) {
  w->walk++;
  w->leaves = false;
  w->found.length = 0;
}

// --- blocks -----------------------------------------------------------------

static void note_successors(walker *w, uint32_t p) {
  point *points = w->f->points.items;
  begin_walk(w);
  walk_from(w, points[p].op + 1, p + 1);
  points[p].nsuccs = w->found.length + w->leaves;
  for (uint32_t i = 0; i < w->found.length; i++) {
    points[w->found.items[i]].npreds++;
    points[p].next = w->found.items[i];
  }
}

// Where an exception may lead from this opcode: what is found begins a block.
static void walk_exceptions(walker *w, uint32_t op, uint32_t owner) {
  const zend_op_array *code = w->f->code;
  begin_walk(w);
  for (int i = 0; i < code->last_try_catch; i++) {
    const zend_try_catch_element *t = &code->try_catch_array[i];
    if (op < t->try_op)
      continue;
    if (t->catch_op && op < t->catch_op)
      walk_from(w, t->catch_op, owner);
    if (t->finally_op && op < t->finally_op)
      walk_from(w, t->finally_op, owner);
  }
}

static void mark_found(walker *w) {
  for (uint32_t i = 0; i < w->found.length; i++)
    w->f->points.items[w->found.items[i]].leader = true;
}

static void find_leaders(walker *w) {
  function_plan *f = w->f;
  begin_walk(w);
  walk_from(w, 0, 0);
  mark_found(w);
  for (uint32_t p = 0; p < f->points.length; p++)
    note_successors(w, p);
  for (uint32_t p = 0; p < f->points.length; p++) {
    point *x = &f->points.items[p];
    if (x->npreds != 1)
      x->leader = true;
    if (x->nsuccs > 1) {
      begin_walk(w);
      walk_from(w, x->op + 1, p + 1);
      mark_found(w);
    }
    if (f->code->last_try_catch) {
      walk_exceptions(w, x->op, p + 1);
      mark_found(w);
    }
  }
}

static void number_blocks(function_plan *f) {
  uint32_t n = f->points.length;
  f->block_lines = culprit_alloc(n * sizeof *f->block_lines);
  for (uint32_t p = 0; p < n; p++) {
    point *x = &f->points.items[p];
    if (!x->leader)
      continue;
    f->block_lines[f->nblocks] = x->lines ? x->lines[0] : x->line;
    for (;;) {
      x->block = f->nblocks;
      if (x->nsuccs != 1 || f->points.items[x->next].leader)
        break;
      x = &f->points.items[x->next];
    }
    f->nblocks++;
  }
}

// --- edges ------------------------------------------------------------------

typedef struct {
  walker *w;
  uint32_t *last_from; // per block: the block that had an edge to it last, + 2
} edge_finder;

static void add_edges(edge_finder *e, uint32_t from) {
  function_plan *f = e->w->f;
  for (uint32_t i = 0; i < e->w->found.length; i++) {
    const point *x = &f->points.items[e->w->found.items[i]];
    if (!x->leader || e->last_from[x->block] == from + 2)
      continue;
    e->last_from[x->block] = from + 2;
    map_edge edge = {from, x->block};
    list_push(&f->edges, edge);
  }
}

// The points of a block in turn, from its leader on.
static void add_block_edges(edge_finder *e, const point *x) {
  walker *w = e->w;
  const point *points = w->f->points.items;
  for (;; x = &points[x->next]) {
    if (w->f->code->last_try_catch) {
      walk_exceptions(w, x->op, 0);
      add_edges(e, x->block);
    }
    if (x->nsuccs != 1 || points[x->next].leader)
      break;
  }
  begin_walk(w);
  walk_from(w, x->op + 1, 0);
  add_edges(e, x->block);
}

static void find_edges(walker *w) {
  function_plan *f = w->f;
  edge_finder e = {
      .w = w, .last_from = culprit_alloc(f->nblocks * sizeof *e.last_from)};
  begin_walk(w);
  walk_from(w, 0, 0);
  add_edges(&e, CULPRIT_NONE);
  for (uint32_t p = 0; p < f->points.length; p++)
    if (f->points.items[p].leader)
      add_block_edges(&e, &f->points.items[p]);
  for (uint32_t b = 0; b < f->nblocks; b++) {
    map_edge edge = {b, CULPRIT_NONE};
    list_push(&f->edges, edge);
  }
}

void flow_find(function_plan *f, const culprit_source *source) {
  const zend_op_array *code = f->code;
  f->point_of = culprit_alloc(code->last * sizeof *f->point_of);
  f->owner = culprit_alloc(code->last * sizeof *f->owner);
  find_points(f, source);
  walker w = {.f = f, .stamp = culprit_alloc(code->last * sizeof *w.stamp)};
  for (uint32_t i = 0; i < code->last; i++)
    if (code->opcodes[i].opcode == ZEND_FAST_CALL)
      list_push(&w.fast_calls, i);
  find_leaders(&w);
  number_blocks(f);
  find_edges(&w);
}
