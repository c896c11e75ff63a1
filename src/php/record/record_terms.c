// The items of shadows in a record: see record_terms.h.
#include "php/record/record_terms.h"

#include <stdatomic.h>
#include <string.h>

#include "model/entity.h"

// The bytes at `at` of the item, with a zero byte behind them.
static char *take_bytes(const unsigned char *item, size_t at, size_t n,
                        Arena *arena) {
  char *bytes = arena_alloc(arena, n + 1);
  if (n)
    memcpy(bytes, item + at, n);
  return bytes;
}

static bool has_value(TermOp op) {
  return op == TERM_VAR || op == TERM_CONST || op == TERM_OPAQUE;
}

static PhpValue read_value(const ItemTerm *x) {
  switch (x->type) {
  case VALUE_INT:
    return php_int((int64_t)x->value);
  case VALUE_FLOAT: {
    double d;
    memcpy(&d, &x->value, sizeof d);
    return php_float(d);
  }
  case VALUE_STRING:
    return php_string("", x->value > SIZE_MAX / 2 ? 0 : (size_t)x->value);
  default:
    return x->type == VALUE_NULL ? php_null() : php_bool(x->type == VALUE_TRUE);
  }
}

// How many arguments each may have; a list's first may be missing.
static bool has_arguments(const ItemTerm *x, size_t nterms) {
  static const struct {
    unsigned char least, most;
  } sizes[] = {
#define TERM(name, function, least, most) {least, most},
#include "php/record/term_ops.def"
#undef TERM
  };
  if (x->nargs < sizes[x->op].least || x->nargs > sizes[x->op].most)
    return false;
  for (unsigned i = 0; i < x->nargs; i++)
    if (x->args[i] >= nterms ||
        (!x->args[i] && !(x->op == TERM_LIST && i == 0)))
      return false;
  return true;
}

const char *term_list_add(TermList *l, const unsigned char *item, uint32_t size,
                          Arena *arena) {
  ItemTerm x;
  memcpy(&x, item, sizeof x);
  if (!l->terms.len)
    array_push(&l->terms, (PhpTerm){.name = ""});
  if (x.op == TERM_NONE || x.op >= TERM_OPS || x.type >= VALUE_TYPES)
    return "a term is of no known kind";
  if (!has_arguments(&x, l->terms.len))
    return "a term has impossible arguments";
  PhpTerm t = {.op = (TermOp)x.op, .nargs = x.nargs, .name = ""};
  memcpy(t.args, x.args, sizeof t.args);
  size_t room = size - sizeof x;
  t.value = read_value(&x);
  bool text = has_value(t.op) && x.type == VALUE_STRING;
  if (x.name_length > room || (text && t.value.n > room - x.name_length))
    return "a term is longer than its item";
  t.name = take_bytes(item, sizeof x, x.name_length, arena);
  if (text)
    t.value.s = take_bytes(item, sizeof x + x.name_length, t.value.n, arena);
  else if (x.type == VALUE_STRING)
    t.value.n = 0;
  array_push(&l->terms, t);
  return NULL;
}

const char *term_list_branch(TermList *l, const unsigned char *item,
                             uint32_t *counter, uint32_t *file) {
  ItemBranch x;
  memcpy(&x, item, sizeof x);
  if (!x.term || x.term >= l->terms.len)
    return "a decision has no term";
  *counter = x.counter;
  *file = x.file;
  array_push(&l->branches, (PhpBranch){.term = x.term,
                                       .outcome = x.outcome,
                                       .file = "",
                                       .line = x.line,
                                       .script = ENTITY_NONE,
                                       .entity = ENTITY_NONE});
  return NULL;
}

const char *term_list_named(TermList *l, const unsigned char *item,
                            uint32_t size, bool kept, Arena *arena) {
  ItemNamed x;
  memcpy(&x, item, sizeof x);
  if (x.length > size - sizeof x)
    return "a name is longer than its item";
  if (kept && (!x.number || x.number >= l->terms.len))
    return "the session keeps no term";
  PhpNamed n = {.name = take_bytes(item, sizeof x, x.length, arena),
                .number = x.number};
  if (kept)
    array_push(&l->kept, n);
  else
    array_push(&l->opaque, n);
  return NULL;
}

#define TAKE(arena, list)                                                      \
  ((list)->len                                                                 \
       ? memcpy(arena_alloc(arena, (list)->len * sizeof *(list)->items),       \
                (list)->items, (list)->len * sizeof *(list)->items)            \
       : NULL)

void term_list_fill(const TermList *l, PhpShadows *out, Arena *arena) {
  static atomic_uint_fast64_t serial;
  *out = (PhpShadows){.serial = ++serial,
                      .terms = TAKE(arena, &l->terms),
                      .nterms = l->terms.len,
                      .branches = TAKE(arena, &l->branches),
                      .nbranches = l->branches.len,
                      .kept = TAKE(arena, &l->kept),
                      .nkept = l->kept.len,
                      .opaque = TAKE(arena, &l->opaque),
                      .nopaque = l->opaque.len};
}

void term_list_release(TermList *l) {
  array_release(&l->terms);
  array_release(&l->branches);
  array_release(&l->kept);
  array_release(&l->opaque);
}
