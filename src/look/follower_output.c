// What a followed run prints, byte by byte, with what each byte depends on: see
// follower.h. Formats are rendered again from the values of the run, so that it
// is known which argument a byte came from.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "look/follower.h"
#include "util/str.h"

enum { NO_ARG = 100, LONGEST = 1 << 20 };

typedef enum {
  PRINTS_FORMAT,
  PRINTS_LIST,
  PRINTS_TEXT,
  PRINTS_LINE,
  PRINTS_CHAR,
  PRINTS_ITEMS,
  PRINTS_BYTES
} PrintKind;

typedef struct {
  const char *name;
  PrintKind kind;
  uint32_t stream; // argument that says where; NO_ARG: standard output
  uint32_t what;   // argument: format, text, character, bytes
} PrintRow;

static const PrintRow rows[] = {
    {"printf", PRINTS_FORMAT, NO_ARG, 0},
    {"fprintf", PRINTS_FORMAT, 0, 1},
    {"dprintf", PRINTS_FORMAT, 0, 1},
    {"__printf_chk", PRINTS_FORMAT, NO_ARG, 1},
    {"__fprintf_chk", PRINTS_FORMAT, 0, 2},
    {"__dprintf_chk", PRINTS_FORMAT, 0, 2},
    {"vprintf", PRINTS_LIST, NO_ARG, 0},
    {"vfprintf", PRINTS_LIST, 0, 1},
    {"vdprintf", PRINTS_LIST, 0, 1},
    {"__vprintf_chk", PRINTS_LIST, NO_ARG, 1},
    {"__vfprintf_chk", PRINTS_LIST, 0, 2},
    {"puts", PRINTS_LINE, NO_ARG, 0},
    {"fputs", PRINTS_TEXT, 1, 0},
    {"fputs_unlocked", PRINTS_TEXT, 1, 0},
    {"putchar", PRINTS_CHAR, NO_ARG, 0},
    {"putchar_unlocked", PRINTS_CHAR, NO_ARG, 0},
    {"putc", PRINTS_CHAR, 1, 0},
    {"fputc", PRINTS_CHAR, 1, 0},
    {"_IO_putc", PRINTS_CHAR, 1, 0},
    {"putc_unlocked", PRINTS_CHAR, 1, 0},
    {"fputc_unlocked", PRINTS_CHAR, 1, 0},
    {"__overflow", PRINTS_CHAR, 0, 1},
    {"fwrite", PRINTS_ITEMS, 3, 0},
    {"fwrite_unlocked", PRINTS_ITEMS, 3, 0},
    {"write", PRINTS_BYTES, 0, 1},
};

static const PrintRow *find_row(const char *name) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, name))
      return &rows[i];
  return NULL;
}

bool follower_prints(const char *function) {
  return find_row(function) != NULL;
}

// --- bytes ------------------------------------------------------------------

// Where pieces go: to the output, or into memory.
typedef struct {
  Follower *follower;
  bool in_memory;
  uint64_t at, end; // in memory
  uint32_t place;   // of the call
  const char *by;
} Piece;

// Bytes one after the other that depend on the same are one piece.
static void count_right(Follower *f, uint32_t set) {
  if (f->nright && set == f->last_right)
    return;
  f->last_right = set;
  f->nright++;
  uint64_t i = hashmap_intern(&f->right_index, &set, sizeof set, f->right.len);
  if (i == f->right.len)
    array_push(&f->right, (RightPieces){.set = set});
  f->right.items[i].pieces++;
}

void follower_print(Follower *f, int byte, uint32_t set) {
  size_t at = f->offset++;
  if (at > f->wanted || at >= f->nactual)
    return;
  if (byte >= 0 && byte != (unsigned char)f->actual[at])
    f->strange = true;
  if (at == f->wanted && !f->strange) {
    f->found = true;
    f->slice = follower_union(f, set, f->omitted);
  }
  if (at < f->wanted)
    count_right(f, set);
  f->omitted = 0;
}

static void put_byte(Piece *p, int byte, uint32_t set) {
  Follower *f = p->follower;
  if (p->in_memory) {
    uint8_t known = (uint8_t)byte;
    if (p->at < p->end)
      watched_write(&f->memory, p->at, byte < 0 ? NULL : &known, 1, set);
    p->at++;
    return;
  }
  bool before = f->found;
  follower_print(f, byte, set);
  if (f->found && !before) {
    f->place = p->place;
    f->by = p->by;
  }
}

// A piece of varying length ends here: for `set` it is not longer.
static void put_end(Piece *p, uint32_t set) {
  if (!p->in_memory)
    p->follower->omitted =
        follower_union(p->follower, p->follower->omitted, set);
}

// n bytes of memory; -1 where they are not known.
static void put_memory(Piece *p, uint64_t at, uint64_t n, uint32_t set) {
  Follower *f = p->follower;
  for (uint64_t i = 0; i < n; i++) {
    uint8_t byte;
    bool known;
    uint32_t writer;
    watched_byte(&f->memory, at + i, &byte, &known, &writer);
    put_byte(p, known ? byte : -1, follower_union(f, set, writer));
  }
}

// --- formats ----------------------------------------------------------------

typedef struct {
  Follower *follower;
  const ReplayStep *step;
  const FollowFrame *frame;
  const IrCall *call;
  uint32_t next; // argument
  uint32_t base; // of the call and its format
  bool good;
  Piece *out; // NULL: lengths only
  uint64_t n; // bytes so far
} Formatting;

static const IrArg *take_arg(Formatting *x, uint64_t *value, uint32_t *set) {
  static const IrArg none;
  if (x->next >= x->call->nargs) {
    x->good = false;
    return &none;
  }
  const IrArg *a =
      &x->follower->program->args.items[x->call->first_arg + x->next++];
  x->good &= a->width != 0;
  *value = follower_value(x->follower, x->step, a->operand);
  *set = follower_union(x->follower, *set,
                        follower_set(x->follower, x->frame, a->operand));
  return a;
}

static void put_text(Formatting *x, const char *text, size_t n, uint32_t set) {
  x->n += n;
  for (size_t i = 0; x->out && i < n; i++)
    put_byte(x->out, (unsigned char)text[i], set);
}

static void put_varying(Formatting *x, const char *text, size_t n,
                        uint32_t set) {
  put_text(x, text, n, set);
  if (x->out)
    put_end(x->out, set);
}

// The string itself, or what surrounds it: padding.
static void put_string(Formatting *x, const char *spec, int width,
                       int precision, uint64_t at, uint32_t set) {
  Str text = {0};
  Follower *f = x->follower;
  uint64_t most = precision >= 0 ? (uint64_t)precision : LONGEST;
  if (!at || !follower_text(f, at, most, &text)) {
    x->good = false;
    str_release(&text);
    return;
  }
  size_t pad =
      width > 0 && (size_t)width > text.len ? (size_t)width - text.len : 0;
  bool is_left = strchr(spec, '-') != NULL;
  uint32_t whole = follower_union(f, set, follower_memory(f, at, text.len + 1));
  for (size_t i = 0; !is_left && i < pad; i++)
    put_text(x, " ", 1, whole);
  for (size_t i = 0; i < text.len; i++)
    put_text(x, text.data + i, 1,
             follower_union(f, set, follower_memory(f, at + i, 1)));
  uint32_t end = text.len < most ? follower_memory(f, at + text.len, 1) : 0;
  if (x->out && !pad)
    put_end(x->out, follower_union(f, set, end));
  for (size_t i = 0; is_left && i < pad; i++)
    put_text(x, " ", 1, whole);
  str_release(&text);
}

static uint64_t integer_of(uint64_t v, const char *length, bool is_signed) {
  unsigned bits = !strcmp(length, "hh")  ? 8
                  : !strcmp(length, "h") ? 16
                  : !*length             ? 32
                                         : 64;
  unsigned shift = 64 - bits;
  return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift)
                   : v << shift >> shift;
}

// A conversion as it stands in the format, its parts taken apart.
typedef struct {
  char flags[16], length[4], letter;
  int width, precision; // -1: none
} Conversion;

static const char *take_number(Formatting *x, const char *at, int *n,
                               uint32_t *set) {
  uint64_t v = 0;
  if (*at == '*') {
    take_arg(x, &v, set);
    *n = (int)(int32_t)v;
    return at + 1;
  }
  for (*n = isdigit((unsigned char)*at) ? 0 : -1;
       isdigit((unsigned char)*at) && *n < LONGEST; at++)
    *n = *n * 10 + (*at - '0');
  return at;
}

static const char *parse(Formatting *x, const char *at, Conversion *c,
                         uint32_t *set) {
  size_t n = strspn(at, "-+ #0");
  *c = (Conversion){.width = -1, .precision = -1};
  x->good &= n < sizeof c->flags - 1;
  memcpy(c->flags, at, n < sizeof c->flags - 1 ? n : 0);
  at = take_number(x, at + n, &c->width, set);
  if (c->width < -1) {
    c->width = -c->width;
    c->flags[strlen(c->flags)] = '-';
  }
  if (*at == '.') {
    at = take_number(x, at + 1, &c->precision, set);
    if (c->precision < 0 && at[-1] == '.')
      c->precision = 0;
  }
  n = strspn(at, "hljztqL");
  x->good &= n < sizeof c->length;
  memcpy(c->length, at, n < sizeof c->length ? n : 0);
  at += n;
  c->letter = *at;
  return *at ? at + 1 : at;
}

static void put_number(Formatting *x, const Conversion *c, const IrArg *a,
                       uint64_t v, uint32_t set) {
  char spec[48], text[600], width[16] = "", precision[16] = "";
  double d;
  int n = -1;
  if (c->width >= 0)
    snprintf(width, sizeof width, "%d", c->width);
  if (c->precision >= 0)
    snprintf(precision, sizeof precision, ".%d", c->precision);
  bool is_float = strchr("fFeEgGaA", c->letter) != NULL;
  snprintf(spec, sizeof spec, "%%%s%s%s%s%c", c->flags, width, precision,
           is_float ? "" : "ll", c->letter);
  memcpy(&d, &v, sizeof d);
  bool is_signed = c->letter == 'd' || c->letter == 'i';
  if (is_float && a->flags & IR_FP && a->width == 64 && !strchr(c->length, 'L'))
    n = snprintf(text, sizeof text, spec, d);
  else if (!is_float)
    n = snprintf(text, sizeof text, spec,
                 (long long)integer_of(v, c->length, is_signed));
  x->good &= n >= 0 && n < (int)sizeof text;
  if (x->good)
    put_varying(x, text, (size_t)n, set);
}

static void put_conversion(Formatting *x, const Conversion *c, uint32_t set) {
  uint64_t v = 0;
  char text[40];
  if (c->letter == '%') {
    put_text(x, "%", 1, set);
    return;
  }
  const IrArg *a = take_arg(x, &v, &set);
  if (strchr("diouxXfFeEgGaA", c->letter)) {
    put_number(x, c, a, v, set);
  } else if (c->letter == 's' && !*c->length) {
    put_string(x, c->flags, c->width, c->precision, v, set);
  } else if (c->letter == 'c' && !*c->length && c->width <= 1) {
    char byte = (char)v;
    put_text(x, &byte, 1, set);
  } else if (c->letter == 'p' && c->width < 0) {
    snprintf(text, sizeof text, "%p", (void *)(uintptr_t)v);
    put_varying(x, text, strlen(text), set);
  } else {
    x->good = false;
  }
}

static void format(Formatting *x, const char *at) {
  while (*at && x->good) {
    size_t n = strcspn(at, "%");
    put_text(x, at, n, x->base);
    at += n;
    if (!*at)
      break;
    Conversion c;
    uint32_t set = x->base;
    at = parse(x, at + 1, &c, &set);
    if (!c.letter)
      x->good = false;
    if (x->good)
      put_conversion(x, &c, set);
  }
}

// The bytes of a formatting call, if they can be rendered and are as many as it
// says; else bytes that depend on everything.
static void put_formatted(Piece *out, const ReplayStep *s,
                          const FollowFrame *frame, const IrCall *c,
                          uint32_t index, uint64_t result) {
  Follower *f = out->follower;
  const IrArg *a = &f->program->args.items[c->first_arg + index];
  uint64_t at = follower_value(f, s, a->operand);
  Str text = {0};
  bool known = follower_text(f, at, LONGEST, &text);
  uint32_t base =
      follower_union(f, frame->called, follower_set(f, frame, a->operand));
  base = follower_union(f, base, follower_memory(f, at, text.len + known));
  Formatting x = {f, s, frame, c, index + 1, base, known, NULL, 0};
  if (x.good)
    format(&x, str_text(&text));
  if (x.good && x.n == (uint32_t)result) {
    x.next = index + 1;
    x.n = 0;
    x.out = out;
    format(&x, str_text(&text));
  } else {
    uint32_t all = follower_union(f, frame->outside, follower_varargs(f));
    for (uint32_t i = 0; i < (uint32_t)result; i++)
      put_byte(out, -1, all);
    put_end(out, all);
  }
  str_release(&text);
}

void follower_format(Follower *f, const ReplayStep *s, const FollowFrame *frame,
                     const IrCall *c, uint32_t index, uint64_t result) {
  uint64_t to =
      follower_value(f, s, f->program->args.items[c->first_arg].operand);
  uint64_t most = UINT64_MAX - to;
  const char *name = follower_callee(f, c);
  if ((int32_t)result < 0)
    return;
  if (strstr(name, "snprintf"))
    most =
        follower_value(f, s, f->program->args.items[c->first_arg + 1].operand);
  if (!most)
    return;
  Piece p = {.follower = f, .in_memory = true, .at = to, .end = to + most - 1};
  put_formatted(&p, s, frame, c, index, result);
  // The NUL is where it is for everything before it.
  uint8_t nul = 0;
  watched_write(&f->memory, p.at < p.end ? p.at : p.end, &nul, 1,
                frame->outside);
}

// --- calls ------------------------------------------------------------------

static uint64_t value_at(const Follower *f, const ReplayStep *s,
                         const IrCall *c, uint32_t i) {
  return follower_value(f, s, f->program->args.items[c->first_arg + i].operand);
}

static bool is_standard_out(const Follower *f, const ReplayStep *s,
                            const IrCall *c, const PrintRow *row) {
  if (row->stream == NO_ARG)
    return true;
  uint64_t to = value_at(f, s, c, row->stream);
  bool is_fd = row->kind == PRINTS_BYTES || strstr(row->name, "dprintf");
  return is_fd ? to == 1 : to == f->standard_out;
}

static uint32_t args_set(Follower *f, const FollowFrame *frame,
                         const IrCall *c) {
  uint32_t set = frame->called;
  for (uint32_t i = 0; i < c->nargs; i++)
    set = follower_union(
        f, set,
        follower_set(f, frame,
                     f->program->args.items[c->first_arg + i].operand));
  return set;
}

static void put_line(Piece *p, uint64_t at, bool newline, uint32_t set) {
  Follower *f = p->follower;
  Str text = {0};
  if (!follower_text(f, at, LONGEST, &text))
    f->strange = true; // how long it is, is not known
  put_memory(p, at, text.len, set);
  put_end(p, follower_union(f, set, follower_memory(f, at + text.len, 1)));
  if (newline)
    put_byte(p, '\n', set);
  str_release(&text);
}

bool follower_output(Follower *f, const ReplayStep *s, const FollowFrame *frame,
                     const IrCall *c, uint64_t result) {
  const PrintRow *row = find_row(follower_callee(f, c));
  if (!row || c->nargs <= row->what)
    return row != NULL;
  if (!is_standard_out(f, s, c, row))
    return true;
  Piece p = {.follower = f, .place = frame->inst->place, .by = row->name};
  uint64_t what = value_at(f, s, c, row->what);
  uint32_t set = args_set(f, frame, c), all;
  int32_t status = (int32_t)result;
  switch (row->kind) {
  case PRINTS_FORMAT:
    if (status > 0)
      put_formatted(&p, s, frame, c, row->what, result);
    break;
  case PRINTS_LIST:
    all = follower_union(f, frame->outside, follower_varargs(f));
    for (int32_t i = 0; i < status; i++)
      put_byte(&p, -1, all);
    put_end(&p, all);
    break;
  case PRINTS_TEXT:
  case PRINTS_LINE:
    if (status >= 0)
      put_line(&p, what, row->kind == PRINTS_LINE, set);
    break;
  case PRINTS_CHAR:
    if (status >= 0)
      put_byte(&p, (uint8_t)what, set);
    break;
  case PRINTS_ITEMS:
    put_memory(&p, what, result * value_at(f, s, c, 1), set);
    put_end(&p, set);
    break;
  case PRINTS_BYTES:
    if ((int64_t)result > 0)
      put_memory(&p, what, result, set);
    put_end(&p, set);
    break;
  }
  return true;
}
