// One compiled script: numbers its entities, gives them counters in the record
// and bakes the numbers of the counters into the opcodes. See plan.h.
//
//   ZEND_EXT_STMT         op1: slot of the statement; op2: act, 0 for none;
//                         extended_value: where the frame's culprit_frame lies
//   JMPZ, JMPNZ           result: slot if true; extended_value: slot if false
//   JMPZ_EX, JMPNZ_EX,    extended_value: slot of outcome 0; that of outcome 1
//   COALESCE, JMP_SET     follows
//   BOOL                  op2: likewise
//   JMP_NULL, FE_FETCH_*, no room: culprit_function.branch
//   FE_RESET_*
//   DO_*CALL, STRLEN,     op2: call site
//   COUNT
//
// None of these fields means anything to the VM. A comparison that would jump
// by itself (a "smart branch") is told to leave that to the JMPZ behind it.
#include "plan.h"

#include "zend_vm.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct {
  const culprit_source *source;
  function_plan *functions;
  uint32_t n, nentities;
  map_statement *statements; // by line
  uint32_t nstatements, first_statement;
  uint32_t slot; // of entity 0
  uint32_t site; // number of the first call site
} script_plan;

// --- numbering --------------------------------------------------------------

static const char *function_name(const zend_op_array *code) {
  if (!code->function_name)
    return "{main}";
  if (!code->scope || !code->scope->name)
    return ZSTR_VAL(code->function_name);
  // Anonymous classes: their name goes on behind a zero byte.
  size_t size =
      strlen(ZSTR_VAL(code->scope->name)) + ZSTR_LEN(code->function_name) + 3;
  char *name = culprit_alloc(size);
  snprintf(name, size, "%s::%s", ZSTR_VAL(code->scope->name),
           ZSTR_VAL(code->function_name));
  return name;
}

static void number_function(script_plan *s, function_plan *f) {
  uint32_t n = f->entity = s->nentities;
  n += 1 + f->nblocks + f->edges.length;
  f->first_condition = n;
  for (uint32_t i = 0; i < f->conditions.length; i++) {
    f->conditions.items[i].first = n;
    n += f->conditions.items[i].outcomes;
  }
  f->first_call = n;
  for (uint32_t i = 0; i < f->calls.length; i++)
    n += count_classes(f->calls.items[i].classes);
  s->nentities = n;
}

// --- statements -------------------------------------------------------------

typedef struct {
  uint32_t line, function, block; // block: in the whole map
} standing;

static int by_line(const void *a, const void *b) {
  const standing *x = a, *y = b;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return (x->block > y->block) - (x->block < y->block);
}

typedef LIST(standing) standings;

static void stand(standings *all, const function_plan *f, uint32_t function,
                  uint32_t first_block) {
  for (uint32_t i = 0; i < f->points.length; i++) {
    const point *p = &f->points.items[i];
    standing s = {p->line, function, first_block + p->block};
    if (!p->lines)
      list_push(all, s);
    for (uint32_t k = 0; k < p->nlines; k++) {
      s.line = p->lines[k];
      list_push(all, s);
    }
  }
}

// A statement is a line, whichever functions have a part of it.
static void make_statements(script_plan *s) {
  standings all = {0};
  for (uint32_t i = 0, block = 0; i < s->n; i++) {
    stand(&all, &s->functions[i], i, block);
    block += s->functions[i].nblocks;
  }
  if (all.length)
    qsort(all.items, all.length, sizeof *all.items, by_line);
  s->statements = culprit_alloc(all.length * sizeof *s->statements);
  uint32_t *blocks = culprit_alloc(all.length * sizeof *blocks), nblocks = 0;
  for (uint32_t i = 0; i < all.length; i++) {
    const standing *x = &all.items[i];
    map_statement *m = &s->statements[s->nstatements];
    if (!i || x->line != x[-1].line) {
      *m = (map_statement){x->line, x->function, &blocks[nblocks], 0};
      s->nstatements++;
    } else {
      m--;
    }
    if (m->nblocks && blocks[nblocks - 1] == x->block)
      continue;
    blocks[nblocks++] = x->block;
    m->nblocks++;
  }
  s->first_statement = s->nentities;
  s->nentities += s->nstatements;
}

static uint32_t statement_slot(const script_plan *s, uint32_t line) {
  uint32_t lo = 0, hi = s->nstatements;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->statements[mid].line < line)
      lo = mid + 1;
    else
      hi = mid;
  }
  return s->slot + s->first_statement + lo;
}

// --- the map ----------------------------------------------------------------

static uint32_t block_of(const function_plan *f, uint32_t owner) {
  return owner == CULPRIT_NONE ? CULPRIT_NONE : f->points.items[owner].block;
}

static void describe(const function_plan *f, map_function *m) {
  map_condition *conditions =
      culprit_alloc(f->conditions.length * sizeof *conditions);
  map_call *calls = culprit_alloc(f->calls.length * sizeof *calls);
  for (uint32_t i = 0; i < f->conditions.length; i++) {
    const condition *c = &f->conditions.items[i];
    conditions[i] =
        (map_condition){c->line, c->kind, c->outcomes, block_of(f, c->owner)};
  }
  for (uint32_t i = 0; i < f->calls.length; i++) {
    const call *c = &f->calls.items[i];
    calls[i] = (map_call){c->line, c->classes, block_of(f, c->owner), c->callee,
                          c->callee_length};
  }
  *m = (map_function){.name = function_name(f->code),
                      .line = f->code->line_start,
                      .nblocks = f->nblocks,
                      .block_lines = f->block_lines,
                      .edges = f->edges.items,
                      .nedges = f->edges.length,
                      .conditions = conditions,
                      .nconditions = f->conditions.length,
                      .calls = calls,
                      .ncalls = f->calls.length};
}

static void write_map(const script_plan *s, culprit_map *m) {
  if (s->source->changed || culprit_map_is_known(m))
    return;
  map_function *functions = culprit_alloc(s->n * sizeof *functions);
  for (uint32_t i = 0; i < s->n; i++)
    describe(&s->functions[i], &functions[i]);
  m->functions = functions;
  m->nfunctions = s->n;
  m->statements = s->statements;
  m->nstatements = s->nstatements;
  m->nentities = s->nentities;
  culprit_map_write(INI_STR("culprit.dir"), m);
}

// The same text may be compiled differently where a class constant is known
// beforehand: the number of entities is part of the identity.
static void identify(const script_plan *s, culprit_map *m) {
  const culprit_source *src = s->source;
  XXH64_hash_t seed =
      XXH3_64bits_withSeed(src->path, src->path_length, s->nentities);
  XXH128_canonical_t id;
  XXH128_canonicalFromHash(&id,
                           XXH3_128bits_withSeed(src->text, src->length, seed));
  *m = (culprit_map){.source_hash = src->hash,
                     .path = src->path,
                     .path_length = src->path_length};
  memcpy(m->id, &id, sizeof m->id);
}

// --- counters ---------------------------------------------------------------

const culprit_act *const *culprit_acts;
culprit_site *culprit_sites;
uint32_t culprit_nsites;

static LIST(const culprit_act *) acts;
static uint32_t sites_room;

// Scripts of this request, by id: one that is compiled twice counts once more.
typedef struct {
  uint32_t slot, site;
} loaded;

static HashTable scripts;
static bool has_scripts;

void culprit_plan_reset(void) {
  if (has_scripts)
    zend_hash_destroy(&scripts);
  has_scripts = false;
  memset(&acts, 0, sizeof acts);
  culprit_acts = NULL;
  culprit_nsites = 0;
  culprit_free_all();
}

static uint32_t add_act(const culprit_act *a) {
  if (!acts.length) // 0 is none
    list_push(&acts, NULL);
  list_push(&acts, a);
  culprit_acts = acts.items;
  return acts.length - 1;
}

static bool reserve_sites(uint32_t n) {
  if (culprit_nsites + n <= sites_room)
    return true;
  uint32_t room = (culprit_nsites + n) * 2;
  void *grown = realloc(culprit_sites, room * sizeof *culprit_sites);
  if (!grown)
    return false;
  culprit_sites = grown;
  sites_room = room;
  return true;
}

static culprit_site new_site(uint32_t slot, uint32_t classes) {
  culprit_site s = {.slot = slot, .classes = classes};
  for (unsigned c = 0, n = 0; c < CLASSES; c++) {
    s.at[c] = (unsigned char)n;
    n += classes >> c & 1;
  }
  return s;
}

static void add_sites(script_plan *s) {
  s->site = culprit_nsites;
  for (uint32_t i = 0; i < s->n; i++) {
    const function_plan *f = &s->functions[i];
    uint32_t slot = s->slot + f->first_call;
    if (!reserve_sites(f->calls.length))
      return;
    for (uint32_t k = 0; k < f->calls.length; k++) {
      uint32_t classes = f->calls.items[k].classes;
      culprit_sites[culprit_nsites++] = new_site(slot, classes);
      slot += count_classes(classes);
    }
  }
}

static bool add_script(script_plan *s, const culprit_map *m) {
  size_t size = sizeof(ItemScript) + 4 * (size_t)s->nentities;
  uint32_t file = culprit_file(m->path, m->path_length);
  ItemScript *item = culprit_item(ITEM_SCRIPT, size);
  if (!item)
    return false;
  memcpy(item->id, m->id, sizeof item->id);
  item->file = file;
  item->nentities = s->nentities;
  culprit_publish(item);
  s->slot = (uint32_t)((uint32_t *)(item + 1) - culprit.base);
  add_sites(s);
  return true;
}

// Code made up by eval() might never end.
#define MAX_SCRIPTS 10000

static bool load(script_plan *s, const culprit_map *m) {
  if (!has_scripts)
    zend_hash_init(&scripts, 16, NULL, NULL, 1);
  has_scripts = true;
  const char *id = (const char *)m->id;
  zval *known = zend_hash_str_find(&scripts, id, sizeof m->id);
  if (known) {
    s->slot = (uint32_t)Z_LVAL_P(known);
    s->site = (uint32_t)((uint64_t)Z_LVAL_P(known) >> 32);
    return true;
  }
  if (zend_hash_num_elements(&scripts) >= MAX_SCRIPTS || !add_script(s, m))
    return false;
  zval where;
  ZVAL_LONG(&where, (zend_long)((uint64_t)s->site << 32 | s->slot));
  zend_hash_str_add(&scripts, id, sizeof m->id, &where);
  return true;
}

// --- baking -----------------------------------------------------------------

static bool collects(unsigned what) { return culprit.collect & what; }

// The edges into each block, as its leader looks them up.
static void gather_edges(const script_plan *s, const function_plan *f,
                         culprit_act **leaders) {
  uint32_t first = s->slot + f->entity + 1 + f->nblocks;
  for (uint32_t i = 0; i < f->edges.length; i++)
    if (f->edges.items[i].to != CULPRIT_NONE)
      leaders[f->edges.items[i].to]->nedges++;
  for (uint32_t b = 0; b < f->nblocks; b++) {
    leaders[b]->edges =
        culprit_alloc(leaders[b]->nedges * sizeof(culprit_edge));
    leaders[b]->nedges = 0;
  }
  for (uint32_t i = 0; i < f->edges.length; i++) {
    const map_edge *e = &f->edges.items[i];
    if (e->to == CULPRIT_NONE)
      continue;
    culprit_act *a = leaders[e->to];
    ((culprit_edge *)a->edges)[a->nedges++] =
        (culprit_edge){e->from, first + i};
  }
}

static culprit_act *make_act(const script_plan *s, const function_plan *f,
                             const point *p) {
  bool leader = p && p->leader && collects(COLLECT_EDGES);
  bool entry = (p ? p->op : f->entry_op) == f->entry_op;
  bool template = p && p->lines;
  if (!leader && !entry && !template)
    return NULL;
  culprit_act *a = culprit_alloc(sizeof *a);
  if (entry) {
    a->flags |= ACT_ENTRY;
    a->function = s->slot + f->entity;
  }
  if (leader) {
    a->flags |= ACT_LEADER;
    a->block = p->block;
    a->block_slot = s->slot + f->entity + 1 + p->block;
  }
  if (template) {
    a->flags |= ACT_TEMPLATE;
    a->first = statement_slot(s, p->lines[0]);
    a->nlines = p->nlines;
  }
  return a;
}

static void bake_point(const script_plan *s, const culprit_function *c,
                       zend_op *op, const point *p, const culprit_act *a) {
  bool counted = p && collects(COLLECT_STATEMENTS);
  uint32_t line = !p ? 0 : p->lines ? p->lines[0] : p->line;
  op->op1.num = counted ? statement_slot(s, line) : CULPRIT_NONE;
  op->op2.num = a ? add_act(a) : 0;
  op->extended_value = c->frame;
  if (p)
    op->lineno = p->line;
}

static void bake_points(const script_plan *s, const function_plan *f,
                        culprit_function *c) {
  zend_op *ops = f->code->opcodes;
  culprit_act **leaders = culprit_alloc(f->nblocks * sizeof *leaders);
  for (uint32_t i = 0; i < f->code->last; i++) {
    if (ops[i].opcode != ZEND_EXT_STMT)
      continue;
    uint32_t n = f->point_of[i];
    const point *p = n ? &f->points.items[n - 1] : NULL;
    if (!p && i != f->entry_op) {
      ops[i].opcode = ZEND_NOP;
      culprit_make_native(&ops[i]);
      continue;
    }
    culprit_act *a = make_act(s, f, p);
    if (a && a->flags & ACT_LEADER)
      leaders[p->block] = a;
    bake_point(s, c, &ops[i], p, a);
  }
  if (collects(COLLECT_EDGES))
    gather_edges(s, f, leaders);
}

static void split_smart_branch(zend_op *jump, const zend_op *first) {
  zend_op *op = jump - 1;
  if (jump == first ||
      !(op->result_type & (IS_SMART_BRANCH_JMPZ | IS_SMART_BRANCH_JMPNZ)))
    return;
  op->result_type &= ~(IS_SMART_BRANCH_JMPZ | IS_SMART_BRANCH_JMPNZ);
  zend_vm_set_opcode_handler(op);
}

// `yes` and `no`: slots.
static void bake_branch(zend_op_array *code, uint32_t n, uint32_t yes,
                        uint32_t no, uint32_t *branch) {
  zend_op *op = &code->opcodes[n];
  switch (op->opcode) {
  case ZEND_JMPZ:
  case ZEND_JMPNZ:
    split_smart_branch(op, code->opcodes);
    op->result.num = yes;
    op->extended_value = no;
    break;
  case ZEND_BOOL:
    op->op2.num = no;
    break;
  case ZEND_FE_FETCH_R:
  case ZEND_FE_FETCH_RW:
    if (n)
      branch[n - 1] = no;
    branch[n] = no;
    break;
  case ZEND_JMP_NULL:
    branch[n] = no;
    break;
  default:
    op->extended_value = no;
  }
}

static void bake_conditions(const script_plan *s, const function_plan *f,
                            culprit_function *c) {
  uint32_t *branch = culprit_alloc(f->code->last * sizeof *branch);
  memset(branch, 0xff, f->code->last * sizeof *branch);
  c->branch = branch;
  for (uint32_t i = 0; i < f->conditions.length; i++) {
    const condition *x = &f->conditions.items[i];
    uint32_t no = s->slot + x->first;
    for (uint32_t k = 0; k < x->nops; k++)
      bake_branch(f->code, x->ops[k], no + 1 + k,
                  k + 1 == x->nops ? no : CULPRIT_NONE, branch);
  }
}

static void bake_close(const script_plan *s, const function_plan *f,
                       culprit_function *c) {
  uint32_t *slots = culprit_alloc(f->points.length * sizeof *slots);
  for (uint32_t i = 0; i < f->points.length; i++) {
    const point *p = &f->points.items[i];
    slots[i] = statement_slot(s, p->lines ? p->lines[0] : p->line);
  }
  close_bake(f, c, slots, s->slot + f->entity);
}

// Which of the opcodes with a handler of ours have nothing to tell here?
static bool is_silent(const zend_op *op) {
  switch (op->opcode) {
  case ZEND_JMPZ:
  case ZEND_JMPNZ:
    return op->result.num == CULPRIT_NONE;
  case ZEND_JMPZ_EX:
  case ZEND_JMPNZ_EX:
  case ZEND_COALESCE:
  case ZEND_JMP_SET:
    return !op->extended_value;
  case ZEND_BOOL:
  case ZEND_STRLEN:
  case ZEND_COUNT:
    return op->op2.num == CULPRIT_NONE && !collects(COLLECT_SHADOWS);
  default:
    return false;
  }
}

static void bake_calls(const function_plan *f, uint32_t *site) {
  for (uint32_t i = 0; i < f->calls.length; i++) {
    zend_op *op = &f->code->opcodes[f->calls.items[i].op];
    op->op2.num = *site + i < culprit_nsites ? *site + i : CULPRIT_NONE;
  }
  *site += f->calls.length;
}

// The frame has room for a culprit_frame behind its temporaries. Callers
// compiled before us know the size of the frame: tell them.
static void make_room(function_plan *f, culprit_function *c) {
  zend_op_array *code = f->code;
  c->frame = (uint32_t)((ZEND_CALL_FRAME_SLOT + code->last_var + code->T) *
                        sizeof(zval));
  if (collects(COLLECT_CLOSE)) // which tells callers as they call
    code->T +=
        (uint32_t)((close_cells(code) * 4 + sizeof(zval) - 1) / sizeof(zval));
  code->T++;
  for (uint32_t i = 0; i < code->last; i++)
    if (code->opcodes[i].opcode == ZEND_INIT_FCALL)
      code->opcodes[i].op1.num += sizeof(zval);
}

static void bake(const script_plan *s, function_plan *f, uint32_t file,
                 uint32_t *site) {
  culprit_function *c = culprit_alloc(sizeof *c);
  c->file = file;
  c->entry_op = f->entry_op;
  c->line = f->code->line_start;
  c->nblocks = f->nblocks;
  make_room(f, c);
  bake_points(s, f, c);
  if (collects(COLLECT_CONDITIONS))
    bake_conditions(s, f, c);
  if (collects(COLLECT_RETURNS))
    bake_calls(f, site);
  if (collects(COLLECT_CLOSE))
    bake_close(s, f, c);
  if (collects(COLLECT_EDGES)) {
    uint32_t first = s->slot + f->entity + 1 + f->edges.length;
    uint32_t *leave = culprit_alloc(f->nblocks * sizeof *leave);
    for (uint32_t b = 0; b < f->nblocks; b++)
      leave[b] = first + b;
    c->leave = leave;
  }
  for (uint32_t i = 0; i < f->code->last; i++) {
    bool silent = is_silent(&f->code->opcodes[i]);
    if (collects(COLLECT_CLOSE))
      close_settle(f, c, i, silent);
    else if (silent)
      culprit_make_native(&f->code->opcodes[i]);
  }
  f->code->reserved[culprit.handle] = c;
}

// A script that cannot be recorded still runs: its statements do nothing.
static void silence(function_plan *f) {
  f->code->reserved[culprit.handle] = NULL;
  for (uint32_t i = 0; i < f->code->last; i++) {
    zend_op *op = &f->code->opcodes[i];
    if (op->opcode == ZEND_EXT_STMT)
      op->opcode = ZEND_NOP;
    if (op->opcode == ZEND_NOP || is_silent(op))
      culprit_make_native(op);
  }
}

static void find(function_plan *f, const culprit_source *source,
                 uint32_t number) {
  uint64_t key =
      source->is_kept ? culprit_flow_key(source, f->code, number) : 0;
  if (source->is_kept && culprit_flow_find(key, f))
    return;
  flow_find(f, source);
  tuples_find(f, source);
  if (source->is_kept)
    culprit_flow_keep(key, f);
}

void culprit_plan(const culprit_source *source, zend_op_array **functions,
                  size_t n) {
  script_plan s = {.source = source, .n = (uint32_t)n};
  s.functions = culprit_alloc(n * sizeof *s.functions);
  for (uint32_t i = 0; i < s.n; i++) {
    function_plan *f = &s.functions[i];
    f->code = functions[i];
    find(f, source, i);
    number_function(&s, f);
  }
  make_statements(&s);
  culprit_map map;
  identify(&s, &map);
  if (s.nentities > PHP_MAX_ENTITIES || !load(&s, &map)) {
    culprit_note("too many or too large scripts, some are not recorded");
    for (uint32_t i = 0; i < s.n; i++)
      silence(&s.functions[i]);
    return;
  }
  write_map(&s, &map);
  uint32_t file = culprit_file(source->path, source->path_length);
  uint32_t site = s.site;
  for (uint32_t i = 0; i < s.n; i++)
    bake(&s, &s.functions[i], file, &site);
}
