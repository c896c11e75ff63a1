// Terms as text for people: see term.h.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "php/record/term.h"

typedef struct {
  const PhpShadows *sh;
  char *out;
  size_t size, used;
} Show;

static void add(Show *s, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(s->out + s->used, s->size - s->used, fmt, ap);
  va_end(ap);
  s->used += (size_t)n < s->size - s->used ? (size_t)n : s->size - s->used - 1;
}

static void put_bytes(Show *s, const char *text, size_t n) {
  size_t room = s->size - s->used - 1;
  n = n < room ? n : room;
  if (n)
    memcpy(s->out + s->used, text, n);
  s->used += n;
  s->out[s->used] = '\0';
}

// Most of the text, and decisions are shown by the thousand: no formatting.
static void put(Show *s, const char *text) { put_bytes(s, text, strlen(text)); }

static void show_value(Show *s, PhpValue v) {
  switch (v.type) {
  case VALUE_NULL:
    put(s, "null");
    break;
  case VALUE_FALSE:
  case VALUE_TRUE:
    put(s, v.type == VALUE_TRUE ? "true" : "false");
    break;
  case VALUE_INT:
    add(s, "%lld", (long long)v.i);
    break;
  case VALUE_FLOAT:
    add(s, "%.14g", v.d);
    break;
  case VALUE_STRING:
    put(s, "'");
    put_bytes(s, v.s, strnlen(v.s, v.n < 60 ? v.n : 60));
    put(s, "'");
    break;
  default:
    put(s, "?");
  }
}

static const char *sign_of(TermOp op) {
  static const char *const signs[TERM_OPS] = {
      [TERM_ADD] = "+",     [TERM_SUB] = "-",    [TERM_MUL] = "*",
      [TERM_DIV] = "/",     [TERM_MOD] = "%",    [TERM_POW] = "**",
      [TERM_BIT_AND] = "&", [TERM_BIT_OR] = "|", [TERM_BIT_XOR] = "^",
      [TERM_SHL] = "<<",    [TERM_SHR] = ">>",   [TERM_CONCAT] = ".",
      [TERM_EQ] = "==",     [TERM_SAME] = "===", [TERM_LT] = "<",
      [TERM_LE] = "<=",     [TERM_ORDER] = "<=>"};
  return signs[op];
}

static const char *name_of(const PhpTerm *t) {
  static const char *const names[TERM_OPS] = {
#define TERM(name, function, least, most) [TERM_##name] = function,
#include "php/record/term_ops.def"
#undef TERM
  };
  static const char *const others[TERM_OPS] = {
      [TERM_ISSET] = "isset",
      [TERM_NUMBERLIKE] = "numberlike",
      [TERM_LIST] = "list",
      [TERM_IN] = "in_array",
      [TERM_KEY_IN] = "array_key_exists",
      [TERM_CHAR_AT] = "char_at",
      [TERM_EXPLODE_AT] = "explode_at",
      [TERM_EXPLODE_COUNT] = "explode_count",
      [TERM_PREG] = "preg_match",
      [TERM_PREG_GROUP] = "preg_group"};
  if (t->op == TERM_OPAQUE)
    return t->name;
  return *names[t->op] ? names[t->op] : others[t->op] ? others[t->op] : "?";
}

static void show(Show *s, uint32_t n, int depth) {
  const PhpTerm *t = &s->sh->terms[n];
  const char *sign = sign_of(t->op);
  if (!n || !depth || s->used + 1 >= s->size) {
    put(s, "...");
  } else if (t->op == TERM_VAR) {
    put(s, t->name);
  } else if (t->op == TERM_CONST) {
    show_value(s, t->value);
  } else if (t->op == TERM_NOT) {
    put(s, "!");
    show(s, t->args[0], depth - 1);
  } else if (sign && t->nargs == 2) {
    put(s, "(");
    show(s, t->args[0], depth - 1);
    put(s, " ");
    put(s, sign);
    put(s, " ");
    show(s, t->args[1], depth - 1);
    put(s, ")");
  } else {
    put(s, name_of(t));
    put(s, "(");
    for (unsigned i = 0; i < t->nargs; i++) {
      put(s, i ? ", " : "");
      show(s, t->args[i], depth - 1);
    }
    put(s, ")");
  }
}

void term_show(const PhpShadows *shadows, uint32_t term, char *out,
               size_t size) {
  Show s = {.sh = shadows, .out = out, .size = size};
  if (!size)
    return;
  *out = '\0';
  show(&s, term, 12);
}
