// What planning found out about texts compiled in earlier requests. A worker
// compiles the same scripts again and again: what flow.c and tuples.c find in
// them, and what the scanner told of their text, stays the same as long as text
// and opcodes do.
//
// Memory: that of the process, KEPT_MOST bytes of it; what comes later is found
// out again each time.
#include "plan.h"

#include <unistd.h>

#include "zend_stream.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define KEPT_MOST ((size_t)64 << 20)

static HashTable texts, flows; // by hash
static bool has_kept;
static size_t nkept; // bytes

static void free_block(zval *block) { free(Z_PTR_P(block)); }

static void start(void) {
  if (has_kept)
    return;
  zend_hash_init(&texts, 64, NULL, free_block, 1);
  zend_hash_init(&flows, 256, NULL, free_block, 1);
  has_kept = true;
}

void culprit_kept_close(void) {
  if (!has_kept)
    return;
  zend_hash_destroy(&texts);
  zend_hash_destroy(&flows);
  has_kept = false;
}

// --- blocks -----------------------------------------------------------------

// All that is kept of one thing lies in one block: first its size is added up,
// then it is filled.
typedef struct {
  char *at; // NULL: only the size is wanted
  size_t size;
} block;

static size_t rounded(size_t size) { return (size + 7) & ~(size_t)7; }

static void *copy(block *b, const void *items, size_t size) {
  size_t step = rounded(size);
  void *to = b->at;
  b->size += step;
  if (!b->at)
    return NULL;
  if (size)
    memcpy(to, items, size);
  b->at += step;
  return to;
}

typedef void fill_block(block *b, void *to, const void *from);

// `head`: the size of the structure that comes first.
static void keep(HashTable *table, uint64_t hash, size_t head, fill_block *fill,
                 const void *from) {
  block b = {.size = rounded(head)};
  fill(&b, NULL, from);
  if (nkept + b.size > KEPT_MOST || !(b.at = malloc(b.size)))
    return;
  nkept += b.size;
  char *made = b.at;
  memcpy(made, from, head);
  b.at += rounded(head);
  fill(&b, made, from);
  if (!zend_hash_index_add_ptr(table, (zend_ulong)hash, made))
    free(made);
}

// --- texts ------------------------------------------------------------------

// Found without opening it: a file that is not there is PHP's to report.
static bool can_be_read(const zend_file_handle *file) {
  if (file->buf || file->type != ZEND_HANDLE_FILENAME)
    return true;
  const zend_string *name = file->filename;
  return name && ZSTR_VAL(name)[0] == '/' && !access(ZSTR_VAL(name), R_OK);
}

bool culprit_text_hash(zend_file_handle *file, uint64_t *hash) {
  char *text;
  size_t length;
  if (!can_be_read(file) || zend_stream_fixup(file, &text, &length) == FAILURE)
    return false;
  *hash = XXH3_64bits(text, length);
  return true;
}

uint64_t culprit_hash(const char *text, size_t length) {
  return XXH3_64bits(text, length);
}

static void fill_text(block *b, void *to, const void *from) {
  const culprit_text *t = from;
  culprit_text *made = to;
  culprit_inline *pieces = copy(b, t->pieces, t->npieces * sizeof *t->pieces);
  for (size_t i = 0; i < t->npieces; i++) {
    const char *text = copy(b, t->pieces[i].text, t->pieces[i].length);
    if (made)
      pieces[i].text = text;
  }
  const uint32_t *switches =
      copy(b, t->switches, t->nswitches * sizeof *t->switches);
  if (made) {
    made->pieces = pieces;
    made->switches = switches;
  }
}

const culprit_text *culprit_text_find(uint64_t hash) {
  start();
  return zend_hash_index_find_ptr(&texts, (zend_ulong)hash);
}

void culprit_text_keep(uint64_t hash, const culprit_text *text) {
  start();
  keep(&texts, hash, sizeof *text, fill_text, text);
}

// --- what was found in a function -------------------------------------------

typedef struct {
  uint32_t last; // opcodes
  function_plan plan;
} kept_flow;

static void fill_points(block *b, kept_flow *made, const function_plan *f) {
  point *points =
      copy(b, f->points.items, f->points.length * sizeof *f->points.items);
  for (uint32_t i = 0; i < f->points.length; i++) {
    const point *p = &f->points.items[i];
    uint32_t *lines =
        p->lines ? copy(b, p->lines, p->nlines * sizeof *p->lines) : NULL;
    if (made)
      points[i].lines = lines;
  }
  if (made)
    made->plan.points.items = points;
}

static void fill_conditions(block *b, kept_flow *made, const function_plan *f) {
  condition *conditions =
      copy(b, f->conditions.items,
           f->conditions.length * sizeof *f->conditions.items);
  for (uint32_t i = 0; i < f->conditions.length; i++) {
    const condition *c = &f->conditions.items[i];
    const uint32_t *ops = copy(b, c->ops, c->nops * sizeof *c->ops);
    if (made)
      conditions[i].ops = ops;
  }
  if (made)
    made->plan.conditions.items = conditions;
}

static void fill_calls(block *b, kept_flow *made, const function_plan *f) {
  call *calls =
      copy(b, f->calls.items, f->calls.length * sizeof *f->calls.items);
  for (uint32_t i = 0; i < f->calls.length; i++) {
    const call *c = &f->calls.items[i];
    const char *callee =
        c->callee ? copy(b, c->callee, c->callee_length) : NULL;
    if (made)
      calls[i].callee = callee;
  }
  if (made)
    made->plan.calls.items = calls;
}

static void fill_flow(block *b, void *to, const void *from) {
  kept_flow *made = to;
  const kept_flow *k = from;
  const function_plan *f = &k->plan;
  fill_points(b, made, f);
  fill_conditions(b, made, f);
  fill_calls(b, made, f);
  uint32_t *point_of = copy(b, f->point_of, k->last * sizeof *point_of);
  uint32_t *owner = copy(b, f->owner, k->last * sizeof *owner);
  uint32_t *lines = copy(b, f->block_lines, f->nblocks * sizeof *lines);
  map_edge *edges = copy(b, f->edges.items, f->edges.length * sizeof *edges);
  if (!made)
    return;
  made->plan.point_of = point_of;
  made->plan.owner = owner;
  made->plan.block_lines = lines;
  made->plan.edges.items = edges;
}

uint64_t culprit_flow_key(const culprit_source *source,
                          const zend_op_array *code, uint32_t number) {
  return XXH3_64bits_withSeed(code->opcodes, code->last * sizeof *code->opcodes,
                              source->hash + number);
}

bool culprit_flow_find(uint64_t key, function_plan *f) {
  start();
  const kept_flow *k = zend_hash_index_find_ptr(&flows, (zend_ulong)key);
  if (!k || k->last != f->code->last)
    return false;
  zend_op_array *code = f->code;
  *f = k->plan;
  f->code = code;
  return true;
}

void culprit_flow_keep(uint64_t key, const function_plan *f) {
  kept_flow k = {f->code->last, *f};
  start();
  keep(&flows, key, sizeof k, fill_flow, &k);
}
