// The table of library functions that replay knows, and what it does with all
// others: see models.h.
#include "sym/models.h"

#include <stdlib.h>
#include <string.h>

// In alphabetical order: one row per function.
static const ModelRow models[] = {
    {"abort", model_none},
};

static int by_name(const void *name, const void *row) {
  return strcmp(name, ((const ModelRow *)row)->name);
}

const ModelRow *model_find(const char *name) {
  return bsearch(name, models, sizeof models / sizeof *models, sizeof *models,
                 by_name);
}

// --- for models -------------------------------------------------------------

Val model_arg(const ModelCall *c, uint32_t i) {
  return i < c->nargs ? c->args[i] : (Val){0, 0};
}

uint64_t model_fixed(Replay *r, const ModelCall *c, uint32_t i) {
  Val v = model_arg(c, i);
  if (v.expr)
    replay_fix(r, PATH_LIBC, v, 64);
  return v.value;
}

bool model_result(Replay *r, ModelCall *c, Expr e) {
  if (!e || expr_width(r->pool, e) != c->width ||
      expr_value(r->pool, e) != c->result)
    return false;
  c->expr = expr_is_const(r->pool, e) ? 0 : e;
  return true;
}

bool model_byte(Replay *r, uint64_t at, uint8_t *value, Expr *e) {
  if (!shadow_byte(r->shadow, at, value))
    return false;
  *e = shadow_byte_expr(r->shadow, at);
  return true;
}

bool model_string(Replay *r, uint64_t at, uint64_t most, uint64_t *n) {
  enum { LONGEST = 1 << 24 };
  for (*n = 0; *n < most; ++*n) {
    uint8_t b;
    Expr e;
    if (*n > LONGEST || !model_byte(r, at + *n, &b, &e))
      return false;
    if (e)
      replay_event(r, PATH_LIBC, expr_nonzero(r->pool, e), b != 0);
    if (!b)
      return true;
  }
  return true;
}

// --- functions that are not known -------------------------------------------

// May the function have looked at what the pointer leads to? As far as we can
// tell, it is bytes up to a NUL, or the rest of the object.
static bool fix_bytes(Replay *r, uint64_t at) {
  enum { MOST = 4096 };
  bool any = false;
  for (uint64_t i = 0; i < MOST; i++) {
    uint8_t b;
    Expr e;
    if (!model_byte(r, at + i, &b, &e))
      break;
    if (e) {
      replay_fix(r, PATH_LIBC, (Val){b, e}, 8);
      any = true;
    }
    if (!b)
      break;
  }
  return any;
}

static void run_unknown(Replay *r, ModelCall *c) {
  bool lost = false;
  for (uint32_t i = 0; i < c->nargs; i++) {
    if (!c->types[i].width)
      continue;
    if (c->args[i].expr) {
      replay_fix(r, PATH_LIBC, c->args[i], c->types[i].width);
      lost = true;
    }
    if (c->types[i].width == 64 && !(c->types[i].flags & IR_FP) &&
        c->args[i].value > 4096)
      lost |= fix_bytes(r, c->args[i].value);
  }
  if (lost)
    replay_lost(r, c->name);
}

// Nothing that depends on the input matters to it.
bool model_none(Replay *r, ModelCall *c) {
  (void)r;
  (void)c;
  return true;
}

void model_run(Replay *r, ModelCall *c) {
  const ModelRow *row = model_find(c->name);
  size_t before = r->path->events.len;
  if (row && row->model(r, c))
    return;
  if (row)
    r->path->events.len = before; // half of what it found is nothing
  c->expr = 0;
  run_unknown(r, c);
}

void model_written(Replay *r, uint64_t at, const uint8_t *bytes, uint64_t n) {
  shadow_write(r->shadow, at, bytes, n);
}
