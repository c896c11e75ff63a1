// Texts from the input that are compared with constant ones: what they would
// have to be, whatever their length is now.
//
//   word = "tru", from in[4..7); strcmp(word, "true") != 0
//   gives: in[4..7) was compared with "true"
#include <ctype.h>
#include <string.h>

#include "expr/support.h"
#include "replay/models.h"

enum { LONGEST = 32 };

// The bytes of the constant text at `at`. 0: it is none.
static uint32_t read_constant(Replay *r, uint64_t at, uint64_t most, bool text,
                              char *out) {
  uint32_t n = 0;
  for (; n < most; n++) {
    uint8_t b;
    Expr e;
    if (n == LONGEST || !model_byte(r, at + n, &b, &e) || e)
      return 0;
    if (text && !b)
      break;
    out[n] = (char)b;
  }
  return n;
}

// The source that the variable is a byte of, and which byte.
static bool find_source(const Replay *r, VarId var, PathText *out) {
  for (size_t i = 0; i < r->path->first_var.len; i++) {
    VarId first = r->path->first_var.items[i];
    if (var < first || var - first >= r->inputs->sources.items[i].size)
      continue;
    out->source = (uint32_t)i;
    out->at = var - first;
    return true;
  }
  return false;
}

// Which byte of the input the byte at `at` is; false: it is computed, or is
// none of the input's.
static bool find_byte(Replay *r, uint64_t at, PathText *out) {
  uint8_t b;
  Expr e;
  if (!model_byte(r, at, &b, &e) || !e || expr_op(r->pool, e) != EXPR_VAR)
    return false;
  return find_source(r, expr_arg(r->pool, e, 0), out);
}

// The bytes of the input that are the text at `at`: neighbours.
static bool find_range(Replay *r, uint64_t at, uint64_t most, PathText *out) {
  if (!most || !find_byte(r, at, out))
    return false;
  for (out->size = 1; out->size < most && out->size < 2 * LONGEST;
       out->size++) {
    PathText next;
    if (!find_byte(r, at + out->size, &next) || next.source != out->source ||
        next.at != out->at + out->size)
      break;
  }
  return true;
}

static bool is_known(const Path *p, const PathText *t) {
  for (size_t i = 0; i < p->texts.len; i++) {
    const PathText *k = &p->texts.items[i];
    if (k->source == t->source && k->at == t->at && k->size == t->size &&
        k->len == t->len && !memcmp(k->text, t->text, t->len))
      return true;
  }
  return false;
}

static void note(Replay *r, uint64_t input, uint64_t constant, uint64_t most,
                 bool text) {
  char bytes[LONGEST];
  PathText t = {.place = r->frames.len ? replay_place(r) : 0, .text = bytes};
  t.len = read_constant(r, constant, most, text, bytes);
  if (!t.len || !find_range(r, input, text ? LONGEST : t.len, &t) ||
      is_known(r->path, &t))
    return;
  t.text = mem_dup(bytes, t.len);
  array_push(&r->path->texts, t);
}

void replay_note_text(Replay *r, uint64_t a, uint64_t b, uint64_t most,
                      bool text) {
  uint8_t value;
  Expr x = 0, y = 0;
  if (!r->options.note_texts || r->path->texts.len >= PATH_TEXTS ||
      !model_byte(r, a, &value, &x) || !model_byte(r, b, &value, &y))
    return;
  if (x && !y)
    note(r, a, b, most, text);
  else if (y && !x)
    note(r, b, a, most, text);
}
