// Models of reading: descriptors, streams, and what comes out of them. A stream
// is tied to a source of the input, by its path or because it is standard
// input, and remembers how far it was read. What the run really got is compared
// with the input; a stream that does not give it (a pipe, a file that was
// written) is no longer followed.
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/models.h"
#include "replay/models_text.h"

enum { NO_SOURCE = -1, END = -1, NOT_OURS = -2, LONGEST = 1 << 24 };

// --- streams ----------------------------------------------------------------

static int standard_input(const Replay *r) {
  for (size_t i = 0; i < r->inputs->sources.len; i++)
    if (r->inputs->sources.items[i].kind == INPUT_STDIN)
      return (int)i;
  return NO_SOURCE;
}

static Stream *add_stream(Replay *r, uint64_t file, bool is_fd, int source) {
  for (size_t i = 0; i < r->streams.len; i++) {
    Stream *s = &r->streams.items[i];
    if (s->file == file && s->is_fd == is_fd) {
      *s = (Stream){.file = file, .is_fd = is_fd, .source = source};
      return s;
    }
  }
  array_push(&r->streams,
             (Stream){.file = file, .is_fd = is_fd, .source = source});
  return &array_last(&r->streams);
}

Stream *stream_find(Replay *r, uint64_t file, bool is_fd) {
  for (size_t i = 0; i < r->streams.len; i++)
    if (r->streams.items[i].file == file && r->streams.items[i].is_fd == is_fd)
      return &r->streams.items[i];
  bool standard = is_fd ? file == 0 : true;
  return add_stream(r, file, is_fd, standard ? standard_input(r) : NO_SOURCE);
}

static const InputSource *source_of(const Replay *r, const Stream *s) {
  return s->source >= 0 ? &r->inputs->sources.items[s->source] : NULL;
}

static Expr byte_at(Replay *r, const Stream *s, uint64_t at) {
  return expr_input(r->pool, r->path->first_var.items[s->source] + (VarId)at);
}

// Does the input go on at this place? It did, or did not.
static void tell_end(Replay *r, const Stream *s, uint64_t at) {
  Expr size = expr_input(r->pool, r->path->size_var.items[s->source]);
  Expr more = expr_ult(r->pool, expr_const(r->pool, 64, at), size);
  replay_event(r, PATH_EOF, more, at < source_of(r, s)->size)->subject = size;
}

int stream_peek(Replay *r, Stream *s, Expr *e) {
  const InputSource *in = source_of(r, s);
  *e = 0;
  if (!in)
    return NOT_OURS;
  if (s->told != s->at + 1)
    tell_end(r, s, s->at);
  s->told = s->at + 1;
  if (s->at >= in->size)
    return END;
  *e = byte_at(r, s, s->at);
  return in->bytes[s->at];
}

// The stream is something else than we thought.
static bool lose(Replay *r, Stream *s, const char *name) {
  s->source = NO_SOURCE;
  replay_lost(r, name);
  return true;
}

// Which argument is the stream, by function.
static Stream *stream_of(Replay *r, ModelCall *c, uint32_t arg) {
  return stream_find(r, model_arg(c, arg).value, false);
}

// --- opening ----------------------------------------------------------------

static int source_named(Replay *r, uint64_t at) {
  for (size_t i = 0; i < r->inputs->sources.len; i++) {
    const InputSource *s = &r->inputs->sources.items[i];
    if (s->kind != INPUT_FILE)
      continue;
    size_t k = 0;
    for (uint8_t b = 1;
         shadow_byte(r->shadow, at + k, &b) && b == (uint8_t)s->key[k] && b;)
      k++;
    uint8_t last;
    if (!s->key[k] && shadow_byte(r->shadow, at + k, &last) && !last)
      return (int)i;
  }
  return NO_SOURCE;
}

// The name is not made concrete: another name would be another file, and is
// another run.
bool model_open(Replay *r, ModelCall *c) {
  bool is_fd = strstr(c->name, "fopen") == NULL;
  bool at = strstr(c->name, "openat") != NULL;
  if (is_fd ? (int32_t)c->result < 0 : !c->result)
    return true;
  if (!strcmp(c->name, "fdopen")) {
    Stream *from = stream_find(r, model_arg(c, 0).value, true);
    int source = from->source;
    add_stream(r, c->result, false, source);
    return true;
  }
  add_stream(r, c->result, is_fd, source_named(r, model_arg(c, at).value));
  return true;
}

bool model_close(Replay *r, ModelCall *c) {
  bool is_fd = !strcmp(c->name, "close");
  Stream *s = stream_find(r, model_arg(c, 0).value, is_fd);
  s->source = NO_SOURCE;
  return true;
}

bool model_seek(Replay *r, ModelCall *c) {
  bool is_fd = !strncmp(c->name, "lseek", 5);
  Stream *s = stream_find(r, model_arg(c, 0).value, is_fd);
  const InputSource *in = source_of(r, s);
  if (!in)
    return true;
  bool tells = !strncmp(c->name, "ftell", 5);
  if (tells) {
    Expr size = expr_input(r->pool, r->path->size_var.items[s->source]);
    if (c->result != s->at)
      return lose(r, s, c->name);
    return !s->at_end || model_result(r, c, size);
  }
  uint64_t whence =
      strcmp(c->name, "rewind") ? model_arg(c, 2).value : SEEK_SET;
  uint64_t by = whence == SEEK_SET && !strcmp(c->name, "rewind")
                    ? 0
                    : model_fixed(r, c, 1);
  s->at_end = whence == SEEK_END && by == 0;
  s->at = by + (whence == SEEK_END ? in->size : whence == SEEK_CUR ? s->at : 0);
  return true;
}

// --- bytes ------------------------------------------------------------------

bool model_getc(Replay *r, ModelCall *c) {
  bool standard = !strncmp(c->name, "getchar", 7);
  Stream *s = standard ? NULL : stream_of(r, c, 0);
  for (size_t i = 0; standard && i < r->streams.len; i++)
    if (r->streams.items[i].source >= 0 && !r->streams.items[i].is_fd &&
        r->streams.items[i].source == standard_input(r))
      s = &r->streams.items[i];
  if (!s)
    s = stream_find(r, 0, false);
  Expr e;
  size_t before = r->path->events.len;
  int b = stream_peek(r, s, &e);
  if (b == NOT_OURS)
    return true;
  if (b != (int32_t)c->result) {
    r->path->events.len = before;
    return lose(r, s, c->name);
  }
  if (b == END)
    return true;
  s->at++;
  return model_result(r, c, expr_zext(r->pool, e, 32));
}

bool model_ungetc(Replay *r, ModelCall *c) {
  IrValue v = model_arg(c, 0);
  Stream *s = stream_of(r, c, 1);
  const InputSource *in = source_of(r, s);
  if (!in || (int32_t)v.value == EOF)
    return true;
  if (!s->at || in->bytes[s->at - 1] != (uint8_t)v.value)
    return lose(r, s, c->name);
  s->at--;
  return true;
}

// Bytes at..at+n of the stream have been put to memory at `to`. `text`: the
// trace tells what was written up to a NUL only.
static bool deliver(Replay *r, Stream *s, uint64_t to, uint64_t n, bool text) {
  const InputSource *in = source_of(r, s);
  if (n > in->size || s->at > in->size - n)
    return false;
  for (uint64_t i = 0; i < n; i++) {
    uint8_t b;
    if (!shadow_byte(r->shadow, to + i, &b) || b != in->bytes[s->at + i])
      return false;
    if (text && !b)
      break;
  }
  if (n)
    tell_end(r, s, s->at + n - 1);
  for (uint64_t i = 0; i < n; i++)
    shadow_store(r->shadow, to + i, 1, in->bytes[s->at + i],
                 byte_at(r, s, s->at + i));
  s->at += n;
  return true;
}

static bool read_bytes(Replay *r, ModelCall *c, Stream *s, uint64_t to,
                       uint64_t got, uint64_t wanted) {
  const InputSource *in = source_of(r, s);
  if (!in)
    return true;
  if (!deliver(r, s, to, got, false))
    return lose(r, s, c->name);
  if (got < wanted && s->at == in->size)
    tell_end(r, s, s->at);
  return true;
}

// How much came is the input's size, if all of it came.
static bool tell_amount(Replay *r, ModelCall *c, Stream *s, uint64_t before) {
  const InputSource *in = source_of(r, s);
  if (!in || before || s->at != in->size || !c->result)
    return true;
  Expr size = expr_input(r->pool, r->path->size_var.items[s->source]);
  model_result(r, c, expr_trunc(r->pool, size, c->width));
  return true;
}

bool model_read(Replay *r, ModelCall *c) {
  Stream *s = stream_find(r, model_arg(c, 0).value, true);
  uint64_t got = (int64_t)c->result > 0 ? c->result : 0, before = s->at;
  if (strstr(c->name, "pread"))
    s->at = model_arg(c, 3).value;
  read_bytes(r, c, s, model_arg(c, 1).value, got, model_arg(c, 2).value);
  if (strstr(c->name, "pread"))
    s->at = before;
  return true;
}

// readv(descriptor, pieces, number of pieces). The trace does not say what was
// written: a load that gets something else drops the expression.
bool model_readv(Replay *r, ModelCall *c) {
  Stream *s = stream_find(r, model_arg(c, 0).value, true);
  const InputSource *in = source_of(r, s);
  uint64_t list = model_arg(c, 1).value, count = model_arg(c, 2).value;
  uint64_t left = (int64_t)c->result > 0 ? c->result : 0, to, n;
  if (!in)
    return true;
  if (left > in->size || s->at > in->size - left)
    return lose(r, s, c->name);
  if (left)
    tell_end(r, s, s->at + left - 1);
  for (uint64_t i = 0; i < count && left; i++) {
    if (!shadow_word(r->shadow, list + 16 * i, &to) ||
        !shadow_word(r->shadow, list + 16 * i + 8, &n))
      return lose(r, s, c->name);
    for (uint64_t k = 0; k < n && left; k++, left--, s->at++)
      shadow_store(r->shadow, to + k, 1, in->bytes[s->at],
                   byte_at(r, s, s->at));
  }
  if (s->at == in->size)
    tell_end(r, s, s->at);
  return true;
}

bool model_fread(Replay *r, ModelCall *c) {
  uint32_t k = strstr(c->name, "_chk") ? 1 : 0;
  uint64_t size = model_arg(c, 1 + k).value, n = model_arg(c, 2 + k).value;
  Stream *s = stream_of(r, c, 3 + k);
  uint64_t before = s->at;
  if (!size || n > LONGEST || size > LONGEST)
    return true;
  read_bytes(r, c, s, model_arg(c, 0).value, c->result * size, n * size);
  return size == 1 && c->result < n ? tell_amount(r, c, s, before) : true;
}

// A file of the input in memory: mmap(address, size, ., ., descriptor, offset)
bool model_mmap(Replay *r, ModelCall *c) {
  uint64_t n = model_fixed(r, c, 1), from = model_arg(c, 5).value;
  if ((int32_t)model_arg(c, 4).value < 0 || c->result + 1 == 0)
    return true;
  Stream *s = stream_find(r, model_arg(c, 4).value, true);
  const InputSource *in = source_of(r, s);
  for (uint64_t i = 0; in && i < n && from + i < in->size; i++)
    shadow_store(r->shadow, c->result + i, 1, in->bytes[from + i],
                 byte_at(r, s, from + i));
  return true;
}

// Reads input in a way that is not followed: that must not go unseen.
bool model_unfollowed(Replay *r, ModelCall *c) {
  replay_lost(r, c->name);
  return true;
}

// What an option is, is decided by its bytes: those stay. All others are no
// options.
static bool fix_option(Replay *r, const InputText *t) {
  const InputSource *s = &r->inputs->sources.items[t->source];
  bool option = s->size > 1 && s->bytes[0] == '-';
  for (uint64_t k = 0; k <= (option ? s->size : 0); k++) {
    uint8_t b;
    Expr e;
    if (!model_byte(r, t->at + k, &b, &e) || !e)
      continue;
    if (option)
      replay_fix(r, PATH_LIBC, (IrValue){b, e});
    else
      replay_event(r, PATH_LIBC,
                   expr_eq(r->pool, e, expr_const(r->pool, 8, '-')), b == '-');
  }
  return option;
}

// getopt, getopt_long: the first call says it for all.
bool model_getopt(Replay *r, ModelCall *c) {
  bool any = false;
  for (size_t i = 0; i < r->texts.len && !r->options_fixed; i++)
    if (r->inputs->sources.items[r->texts.items[i].source].kind == INPUT_ARG)
      any |= fix_option(r, &r->texts.items[i]);
  if (any)
    replay_lost(r, c->name);
  r->options_fixed = true;
  return true;
}

// --- lines ------------------------------------------------------------------

// A line of at most `most` bytes was put to memory: which bytes were no
// newline.
static bool read_line(Replay *r, ModelCall *c, Stream *s, uint64_t to,
                      uint64_t most, uint8_t delimiter) {
  const InputSource *in = source_of(r, s);
  uint64_t left = s->at <= in->size ? in->size - s->at : 0, n = 0;
  const uint8_t *from = in->bytes + s->at;
  while (n < left && n < most && (!n || from[n - 1] != delimiter))
    n++;
  uint64_t first = s->at;
  if (!deliver(r, s, to, n, true))
    return lose(r, s, c->name);
  for (uint64_t i = 0; i < n; i++) {
    Expr is = expr_eq(r->pool, byte_at(r, s, first + i),
                      expr_const(r->pool, 8, delimiter));
    if (i + 1 < most)
      replay_event(r, PATH_LIBC, is, from[i] == delimiter);
  }
  if (n < most && (!n || from[n - 1] != delimiter))
    tell_end(r, s, s->at);
  return true;
}

bool model_gets(Replay *r, ModelCall *c) {
  uint32_t k = strstr(c->name, "_chk") ? 1 : 0;
  uint64_t room = model_arg(c, 1 + k).value;
  Stream *s = stream_of(r, c, 2 + k);
  if (!source_of(r, s))
    return true;
  if (!c->result) {
    tell_end(r, s, s->at);
    return true;
  }
  return !room || read_line(r, c, s, c->result, room - 1, '\n');
}

bool model_getline(Replay *r, ModelCall *c) {
  bool delimited = strstr(c->name, "delim") != NULL;
  Stream *s = stream_of(r, c, delimited ? 3 : 2);
  uint64_t to;
  if (!source_of(r, s))
    return true;
  if ((int64_t)c->result < 0) {
    tell_end(r, s, s->at);
    return true;
  }
  if (!shadow_word(r->shadow, model_arg(c, 0).value, &to))
    return lose(r, s, c->name);
  uint64_t room;
  if (shadow_word(r->shadow, model_arg(c, 1).value, &room))
    replay_resized(r, to, room);
  uint8_t delimiter = delimited ? (uint8_t)model_arg(c, 2).value : '\n';
  return read_line(r, c, s, to, LONGEST, delimiter);
}

// --- scanf ------------------------------------------------------------------

typedef struct {
  TextReader text;
  ModelCall *call;
  uint64_t format;
  uint32_t arg;
  int32_t stored;
  bool failed; // the input does not match any more
} Scanner;

static uint8_t scan_byte(const Scanner *s, uint64_t i) {
  uint8_t b = 0;
  return shadow_byte(s->text.replay->shadow, s->format + i, &b) ? b : 0;
}

static void scan_integer(Scanner *s, unsigned base, unsigned width, bool keep,
                         uint64_t most) {
  Replay *r = s->text.replay;
  Expr e;
  s->text.any = false;
  bool good = text_integer(&s->text, base, most, &e);
  s->failed = !good || !s->text.any;
  if (s->failed || !keep)
    return;
  uint64_t to = model_arg(s->call, s->arg++).value;
  Expr v = expr_trunc(r->pool, e, width);
  shadow_store(r->shadow, to, width / 8, expr_value(r->pool, v), v);
  s->stored++;
}

static void scan_text(Scanner *s, const bool set[256], bool keep, uint64_t most,
                      bool terminate) {
  Replay *r = s->text.replay;
  uint64_t to = keep ? model_arg(s->call, s->arg++).value : 0, n = 0;
  for (; n < most && !s->text.unknown && text_is(&s->text, set); n++) {
    Expr e;
    int b = text_peek(&s->text, &e);
    if (keep)
      shadow_store(r->shadow, to + n, 1, (uint8_t)b, e);
    text_next(&s->text);
  }
  s->failed = n == 0;
  if (s->failed || !keep)
    return;
  if (terminate)
    shadow_store(r->shadow, to + n, 1, 0, 0);
  s->stored++;
}

// %[...]: *i is behind the bracket, and is moved behind the closing one.
static void read_set(const Scanner *s, uint64_t *i, bool set[256]) {
  bool not = scan_byte(s, *i) == '^';
  memset(set, not, 256);
  uint64_t first = *i += not;
  for (uint8_t b; (b = scan_byte(s, *i)) && (b != ']' || *i == first); ++*i) {
    uint8_t to = scan_byte(s, *i + 2);
    if (scan_byte(s, *i + 1) == '-' && to && to != ']') {
      for (int k = b; k <= to; k++)
        set[k] = !not;
      *i += 2;
    } else {
      set[b] = !not;
    }
  }
  set[0] = false;
  ++*i;
}

static void scan_decimal(Scanner *s, bool keep) {
  Replay *r = s->text.replay;
  Expr e;
  s->failed = !text_decimal(&s->text, &e);
  s->text.unknown |= s->failed && s->text.any; // a form we do not follow
  if (s->failed || !keep)
    return;
  uint64_t to = model_arg(s->call, s->arg++).value;
  Expr bits = expr_bits_of_fp(r->pool, e);
  shadow_store(r->shadow, to, 8, expr_value(r->pool, bits), bits);
  s->stored++;
}

// One conversion; *i is behind the %. False: one that we do not know.
static bool scan_one(Scanner *s, uint64_t *i) {
  bool keep = true, set[256];
  uint64_t most = 0;
  unsigned width = 32;
  if (scan_byte(s, *i) == '*')
    keep = false, ++*i;
  while (isdigit(scan_byte(s, *i)) && most < LONGEST)
    most = most * 10 + scan_byte(s, (*i)++) - '0';
  for (uint8_t b; (b = scan_byte(s, *i)), strchr("hlzjt", b) && b; ++*i)
    width = b == 'h' ? width / 2 : 64;
  uint8_t b = scan_byte(s, (*i)++);
  memset(set, true, sizeof set);
  set[0] = false;
  switch (b) {
  case 'd':
  case 'u':
    scan_integer(s, 10, width, keep, most ? most : LONGEST);
    return true;
  case 'i':
    scan_integer(s, 0, width, keep, most ? most : LONGEST);
    return true;
  case 'x':
  case 'X':
    scan_integer(s, 16, width, keep, most ? most : LONGEST);
    return true;
  case 'c':
    set[0] = s->text.stream != NULL;
    scan_text(s, set, keep, most ? most : 1, false);
    return true;
  case 's':
    text_skip_space(&s->text);
    for (const char *space = " \t\n\v\f\r"; *space; space++)
      set[(uint8_t)*space] = false;
    scan_text(s, set, keep, most ? most : LONGEST, true);
    return true;
  case '[':
    read_set(s, i, set);
    scan_text(s, set, keep, most ? most : LONGEST, true);
    return true;
  case 'f':
  case 'g':
  case 'e':
    if (width != 64 || most)
      return false;
    scan_decimal(s, keep);
    return true;
  default:
    return false;
  }
}

static bool scan(Scanner *s) {
  for (uint64_t i = 0; !s->failed && !s->text.unknown;) {
    uint8_t b = scan_byte(s, i++);
    if (!b)
      return true;
    if (isspace(b)) {
      text_skip_space(&s->text);
    } else if (b == '%' && scan_byte(s, i) != '%') {
      if (!scan_one(s, &i))
        return false;
    } else {
      bool set[256] = {false};
      set[b] = true;
      i += b == '%';
      s->failed = !text_is(&s->text, set);
      text_next(&s->text);
    }
  }
  return !s->text.unknown;
}

// scanf, fscanf, sscanf and their __isoc99_ names
bool model_scanf(Replay *r, ModelCall *c) {
  bool memory = strstr(c->name, "sscanf"), file = strstr(c->name, "fscanf");
  Scanner s = {.text = {.replay = r}, .call = c};
  uint32_t at = memory || file;
  Stream saved = {0};
  if (memory) {
    s.text.at = model_fixed(r, c, 0);
  } else {
    s.text.stream = file ? stream_of(r, c, 0) : NULL;
    for (size_t i = 0; !file && i < r->streams.len; i++)
      if (!r->streams.items[i].is_fd &&
          r->streams.items[i].source == standard_input(r))
        s.text.stream = &r->streams.items[i];
    if (!s.text.stream)
      s.text.stream = stream_find(r, 0, false);
    if (!source_of(r, s.text.stream))
      return true;
    saved = *s.text.stream;
  }
  s.format = model_fixed(r, c, at);
  s.arg = at + 1;
  bool good = scan(&s);
  int32_t result = (int32_t)c->result;
  if (good && (s.stored == result || (result < 0 && !s.stored)))
    return true;
  if (memory)
    return false;
  *s.text.stream = saved;
  return lose(r, s.text.stream, c->name);
}
