// squeeze: packs data into a printable archive and unpacks it again.
//
//   squeeze pack [OPTION...] [FILE]     prints the archive as lines of hex
//   squeeze unpack [-x] [FILE]          prints the data of a hex archive
//   squeeze test [OPTION...] [FILE]     every method: sizes and round trip
//   squeeze tokens [OPTION...] [FILE]   prints the LZ77 tokens, one a line
//   squeeze codes [OPTION...] [FILE]    prints the two Huffman codes
//   squeeze info [FILE]                 prints the header of a hex archive
//
// Without FILE the standard input is read. Options:
//
//   -e TEXT     TEXT is the input; knows \n \t \0 \\ and \xHH
//   -n COUNT    the input COUNT times over
//   -m METHOD   store, rle, lz, huff or auto (the smallest; the default)
//   -w BITS     matches reach back 2^BITS bytes (4..15, default 12)
//   -c COUNT    how many earlier places are tried for a match (default 32)
//   -z          lazy: put a match off if the next byte starts a longer one
//   -f          filter the input by move-to-front first
//   -x          unpack as hex instead of raw bytes
//
// An archive is 'S' 'Q', one byte method and filter, one byte window bits, the
// size of the data as a varint, its Adler-32 (high byte first), the payload.
// Errors go to standard output; the status is 1 then, and 2 for bad usage.

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MIN_MATCH = 3,
  MAX_MATCH = 129,
  TOO_FAR = 512, // a match of MIN_MATCH bytes does not pay beyond this
  HASH_SIZE = 1 << 12,
  SHORT_LENGTHS = 15, // length field of method lz: this means "one byte more"
  MAX_SIZE = 1 << 20,

  END = 256, // symbols: 256 bytes, the end, the length slots
  FIRST_LENGTH = 257,
  SYMBOLS = FIRST_LENGTH + 7,
  DISTANCES = 16,
  MAX_CODE = 10, // longest Huffman code, in bits

  LINE_BYTES = 32,
  FILTERED = 0x10
};

typedef enum { STORE, RLE, LZ, HUFF, AUTO } Method;

static const char *const method_names[] = {"store", "rle", "lz", "huff",
                                           "auto"};

typedef struct {
  Method method;
  int window_bits, chain;
  bool lazy, filter, hex;
} Options;

static void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  printf("squeeze: ");
  vprintf(format, args);
  printf("\n");
  va_end(args);
  exit(1);
}

static void *allocate(size_t size) {
  void *p = malloc(size ? size : 1);
  if (!p)
    die("out of memory");
  return p;
}

// ---- Bytes: a growing buffer -------------------------------------------

typedef struct {
  unsigned char *at;
  size_t len, cap;
} Bytes;

static void bytes_put(Bytes *b, int byte) {
  if (b->len == b->cap) {
    b->cap = b->cap ? 2 * b->cap : 64;
    b->at = realloc(b->at, b->cap);
    if (!b->at)
      die("out of memory");
  }
  b->at[b->len++] = (unsigned char)byte;
}

static void bytes_append(Bytes *b, const unsigned char *from, size_t len) {
  for (size_t i = 0; i < len; i++)
    bytes_put(b, from[i]);
}

static bool bytes_equal(const Bytes *a, const Bytes *b) {
  if (a->len != b->len)
    return false;
  return a->len == 0 || memcmp(a->at, b->at, a->len) == 0;
}

static void bytes_release(Bytes *b) {
  free(b->at);
  *b = (Bytes){0};
}

// ---- Bits: most significant first, into or out of bytes -----------------

typedef struct {
  Bytes *out;
  unsigned held; // the bits not yet written
  int count;     // how many; less than 8 between calls
} BitWriter;

static void put_bits(BitWriter *w, unsigned value, int count) {
  for (int i = count - 1; i >= 0; i--) {
    w->held = w->held << 1 | (value >> i & 1);
    if (++w->count == 8) {
      bytes_put(w->out, (int)w->held);
      w->held = 0;
      w->count = 0;
    }
  }
}

static void flush_bits(BitWriter *w) {
  if (w->count > 0)
    put_bits(w, 0, 8 - w->count);
}

typedef struct {
  const unsigned char *at, *end;
  int used; // bits of *at already read
} BitReader;

static unsigned get_bits(BitReader *r, int count) {
  unsigned value = 0;
  while (count-- > 0) {
    if (r->at == r->end)
      die("archive is truncated");
    value = value << 1 | (*r->at >> (7 - r->used) & 1);
    if (++r->used == 8) {
      r->used = 0;
      r->at++;
    }
  }
  return value;
}

// ---- Checksum and filter ------------------------------------------------

static unsigned adler32(const unsigned char *data, size_t len) {
  unsigned a = 1, b = 0;
  for (size_t i = 0; i < len; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

// Moves entry `i` of the table to its front.
static void move_to_front(unsigned char table[256], int i) {
  unsigned char byte = table[i];
  memmove(table + 1, table, (size_t)i);
  table[0] = byte;
}

// Replaces every byte by the number of different bytes since it came last.
static void filter_encode(unsigned char *data, size_t len) {
  unsigned char table[256];
  for (int i = 0; i < 256; i++)
    table[i] = (unsigned char)i;
  for (size_t k = 0; k < len; k++) {
    int i = 0;
    while (table[i] != data[k])
      i++;
    move_to_front(table, i);
    data[k] = (unsigned char)i;
  }
}

static void filter_decode(unsigned char *data, size_t len) {
  unsigned char table[256];
  for (int i = 0; i < 256; i++)
    table[i] = (unsigned char)i;
  for (size_t k = 0; k < len; k++) {
    int i = data[k];
    data[k] = table[i];
    move_to_front(table, i);
  }
}

// ---- Method rle: a control byte, then one byte to repeat or some to copy ---
//
// Control 0..127: copy control + 1 bytes. 128..255: repeat the next byte
// control - 125 times (3..130).

static size_t run_length(const Bytes *in, size_t pos) {
  size_t n = 1;
  while (pos + n < in->len && n < 130 && in->at[pos + n] == in->at[pos])
    n++;
  return n;
}

static void rle_flush(Bytes *out, const unsigned char *from, size_t len) {
  if (len == 0)
    return;
  bytes_put(out, (int)len - 1);
  bytes_append(out, from, len);
}

static void rle_pack(const Bytes *in, Bytes *out) {
  size_t start = 0, pos = 0; // start: first byte of the pending copy
  while (pos < in->len) {
    size_t run = run_length(in, pos);
    if (run >= 3) {
      rle_flush(out, in->at + start, pos - start);
      bytes_put(out, (int)run + 125);
      bytes_put(out, in->at[pos]);
      pos += run;
      start = pos;
    } else {
      pos++;
      if (pos - start == 128) {
        rle_flush(out, in->at + start, 128);
        start = pos;
      }
    }
  }
  if (start < pos)
    rle_flush(out, in->at + start, pos - start);
}

static void rle_unpack(const unsigned char *at, const unsigned char *end,
                       Bytes *out) {
  while (at < end) {
    int control = *at++;
    if (control < 128) {
      if (end - at < control + 1)
        die("archive is truncated");
      bytes_append(out, at, (size_t)control + 1);
      at += control + 1;
    } else {
      if (at == end)
        die("archive is truncated");
      for (int i = 0; i < control - 125; i++)
        bytes_put(out, *at);
      at++;
    }
  }
}

// ---- LZ77: data to tokens -----------------------------------------------

// A literal (length 1) or "copy `length` bytes from `distance` back".
typedef struct {
  int length;
  int distance;
  unsigned char byte;
} Token;

typedef struct {
  Token *at;
  size_t len, cap;
} Tokens;

// Places with the same hash of three bytes form a chain, the latest first:
// head[hash], then prev[place], ended by -1.
typedef struct {
  const unsigned char *data;
  size_t len;
  int *head, *prev;
  int window, chain;
} Matcher;

static void tokens_put(Tokens *t, int length, int distance, int byte) {
  if (t->len == t->cap) {
    t->cap = t->cap ? 2 * t->cap : 16;
    t->at = realloc(t->at, t->cap * sizeof *t->at);
    if (!t->at)
      die("out of memory");
  }
  t->at[t->len++] = (Token){length, distance, (unsigned char)byte};
}

static int hash3(const unsigned char *p) {
  return (p[0] << 7 ^ p[1] << 4 ^ p[2]) & (HASH_SIZE - 1);
}

static void matcher_init(Matcher *m, const Bytes *in, const Options *o) {
  m->data = in->at;
  m->len = in->len;
  m->window = 1 << o->window_bits;
  m->chain = o->chain;
  m->head = allocate(HASH_SIZE * sizeof *m->head);
  m->prev = allocate(in->len * sizeof *m->prev);
  memset(m->head, -1, HASH_SIZE * sizeof *m->head);
}

static void matcher_release(Matcher *m) {
  free(m->head);
  free(m->prev);
}

// Makes the place known to later searches.
static void matcher_insert(Matcher *m, size_t pos) {
  if (pos + MIN_MATCH > m->len)
    return;
  int h = hash3(m->data + pos);
  m->prev[pos] = m->head[h];
  m->head[h] = (int)pos;
}

// The longest match for the bytes at `pos`; length 0 if none is worth it.
static Token matcher_find(const Matcher *m, size_t pos) {
  Token best = {0, 0, 0};
  int limit = MAX_MATCH;
  if (m->len - pos < MAX_MATCH)
    limit = (int)(m->len - pos);
  if (limit < MIN_MATCH)
    return best;
  int place = m->head[hash3(m->data + pos)];
  for (int tries = m->chain; place >= 0 && tries > 0; tries--) {
    int distance = (int)pos - place;
    if (distance > m->window)
      break;
    int length = 0;
    while (length < limit && m->data[place + length] == m->data[pos + length])
      length++;
    if (length > best.length) {
      best.length = length;
      best.distance = distance;
      if (length == limit)
        break;
    }
    place = m->prev[place];
  }
  if (best.length < MIN_MATCH ||
      (best.length == MIN_MATCH && best.distance > TOO_FAR))
    best.length = 0;
  return best;
}

static void tokenize(const Bytes *in, const Options *o, Tokens *out) {
  Matcher m;
  matcher_init(&m, in, o);
  size_t pos = 0;
  while (pos < in->len) {
    Token match = matcher_find(&m, pos);
    matcher_insert(&m, pos);
    if (o->lazy && match.length > 0 && pos + 1 < in->len) {
      Token next = matcher_find(&m, pos + 1);
      if (next.length > match.length)
        match.length = 0;
    }
    if (match.length == 0) {
      tokens_put(out, 1, 0, in->at[pos]);
      pos++;
      continue;
    }
    tokens_put(out, match.length, match.distance, 0);
    for (int i = 1; i < match.length; i++)
      matcher_insert(&m, pos + (size_t)i);
    pos += (size_t)match.length;
  }
  matcher_release(&m);
}

// Repeats `length` bytes from `distance` back; the two may overlap.
static void copy_match(Bytes *out, int distance, int length) {
  if ((size_t)distance > out->len)
    die("match reaches before the start");
  for (int i = 0; i < length; i++)
    bytes_put(out, out->at[out->len - (size_t)distance]);
}

// ---- Method lz: tokens as fixed bit fields -------------------------------

static void lz_pack(const Tokens *tokens, const Options *o, Bytes *out) {
  BitWriter w = {out, 0, 0};
  for (size_t i = 0; i < tokens->len; i++) {
    const Token *t = &tokens->at[i];
    if (t->length == 1) {
      put_bits(&w, 0, 1);
      put_bits(&w, t->byte, 8);
      continue;
    }
    int rest = t->length - MIN_MATCH;
    put_bits(&w, 1, 1);
    put_bits(&w, (unsigned)t->distance - 1, o->window_bits);
    if (rest < SHORT_LENGTHS) {
      put_bits(&w, (unsigned)rest, 4);
    } else {
      put_bits(&w, SHORT_LENGTHS, 4);
      put_bits(&w, (unsigned)(rest - SHORT_LENGTHS), 8);
    }
  }
  flush_bits(&w);
}

static void lz_unpack(BitReader *r, int window_bits, size_t size, Bytes *out) {
  while (out->len < size) {
    if (get_bits(r, 1) == 0) {
      bytes_put(out, (int)get_bits(r, 8));
      continue;
    }
    int distance = (int)get_bits(r, window_bits) + 1;
    int length = (int)get_bits(r, 4);
    if (length == SHORT_LENGTHS)
      length += (int)get_bits(r, 8);
    copy_match(out, distance, length + MIN_MATCH);
  }
}

// ---- Huffman codes --------------------------------------------------------

// A canonical code: shorter codes first, then by symbol. Length 0: unused.
typedef struct {
  int symbols;
  unsigned char length[SYMBOLS];
  unsigned short code[SYMBOLS];
} Code;

// The nodes of the tree under construction; `open` is a binary heap of those
// that have no parent yet, the rarest (then the oldest) first.
typedef struct {
  unsigned weight[2 * SYMBOLS];
  int parent[2 * SYMBOLS];
  int nodes;
  int open[SYMBOLS];
  int opened;
} Tree;

static bool tree_less(const Tree *t, int a, int b) {
  if (t->weight[a] != t->weight[b])
    return t->weight[a] < t->weight[b];
  return a < b;
}

static void tree_push(Tree *t, int node) {
  int i = t->opened++;
  while (i > 0 && tree_less(t, node, t->open[(i - 1) / 2])) {
    t->open[i] = t->open[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  t->open[i] = node;
}

static int tree_pop(Tree *t) {
  int top = t->open[0], last = t->open[--t->opened], i = 0;
  for (;;) {
    int child = 2 * i + 1;
    if (child >= t->opened)
      break;
    if (child + 1 < t->opened &&
        tree_less(t, t->open[child + 1], t->open[child]))
      child++;
    if (!tree_less(t, t->open[child], last))
      break;
    t->open[i] = t->open[child];
    i = child;
  }
  t->open[i] = last;
  return top;
}

// Sets the code lengths for the weights; returns the longest.
static int tree_lengths(const unsigned *weight, Code *c) {
  Tree t = {.nodes = c->symbols};
  for (int s = 0; s < c->symbols; s++) {
    c->length[s] = 0;
    t.weight[s] = weight[s];
    t.parent[s] = -1;
    if (weight[s] > 0)
      tree_push(&t, s);
  }
  if (t.opened == 1)
    c->length[t.open[0]] = 1;
  while (t.opened > 1) {
    int a = tree_pop(&t), b = tree_pop(&t);
    t.weight[t.nodes] = t.weight[a] + t.weight[b];
    t.parent[t.nodes] = -1;
    t.parent[a] = t.parent[b] = t.nodes;
    tree_push(&t, t.nodes++);
  }
  int longest = 0;
  for (int s = 0; s < c->symbols; s++) {
    int depth = c->length[s];
    for (int node = s; t.parent[node] >= 0; node = t.parent[node])
      depth++;
    c->length[s] = (unsigned char)depth;
    if (depth > longest)
      longest = depth;
  }
  return longest;
}

// Numbers the codes of each length, given the lengths.
static void code_assign(Code *c) {
  int count[MAX_CODE + 1] = {0};
  int next[MAX_CODE + 2] = {0};
  for (int s = 0; s < c->symbols; s++)
    count[c->length[s]]++;
  count[0] = 0;
  for (int bits = 1; bits <= MAX_CODE; bits++)
    next[bits + 1] = (next[bits] + count[bits]) << 1;
  for (int s = 0; s < c->symbols; s++) {
    c->code[s] = 0;
    if (c->length[s] > 0)
      c->code[s] = (unsigned short)next[c->length[s]]++;
  }
}

// The code for the weights; evens them out until no code is too long.
static void code_build(Code *c, const unsigned *weights, int symbols) {
  unsigned weight[SYMBOLS];
  memcpy(weight, weights, (size_t)symbols * sizeof *weight);
  c->symbols = symbols;
  while (tree_lengths(weight, c) > MAX_CODE) {
    for (int s = 0; s < symbols; s++)
      if (weight[s] > 0)
        weight[s] = weight[s] / 2 + 1;
  }
  code_assign(c);
}

static void put_symbol(BitWriter *w, const Code *c, int symbol) {
  put_bits(w, c->code[symbol], c->length[symbol]);
}

static int get_symbol(BitReader *r, const Code *c) {
  unsigned code = 0;
  for (int bits = 1; bits <= MAX_CODE; bits++) {
    code = code << 1 | get_bits(r, 1);
    for (int s = 0; s < c->symbols; s++)
      if (c->length[s] == bits && c->code[s] == code)
        return s;
  }
  die("bad code");
  return -1;
}

// The lengths as nibbles: 0..10 a length, 13 the last one 3..6 times again,
// 14 and 15 three or more and eleven or more zeros.
static void lengths_pack(BitWriter *w, const Code *c) {
  int last = -1;
  for (int s = 0; s < c->symbols;) {
    int length = c->length[s], run = 1;
    while (s + run < c->symbols && c->length[s + run] == length && run < 138)
      run++;
    if (length == 0 && run >= 11) {
      put_bits(w, 15, 4);
      put_bits(w, (unsigned)run - 11, 7);
    } else if (length == 0 && run >= 3) {
      put_bits(w, 14, 4);
      put_bits(w, (unsigned)run - 3, 3);
    } else if (length == last && run >= 3) {
      if (run > 6)
        run = 6;
      put_bits(w, 13, 4);
      put_bits(w, (unsigned)run - 3, 2);
    } else {
      run = 1;
      put_bits(w, (unsigned)length, 4);
    }
    last = length;
    s += run;
  }
}

static void lengths_unpack(BitReader *r, Code *c, int symbols) {
  int last = 0, s = 0;
  c->symbols = symbols;
  while (s < symbols) {
    int length = (int)get_bits(r, 4), run = 1;
    if (length == 15) {
      run = 11 + (int)get_bits(r, 7);
      length = 0;
    } else if (length == 14) {
      run = 3 + (int)get_bits(r, 3);
      length = 0;
    } else if (length == 13) {
      run = 3 + (int)get_bits(r, 2);
      length = last;
    }
    if (length > MAX_CODE || s + run > symbols)
      die("bad table of codes");
    for (; run > 0; run--)
      c->length[s++] = (unsigned char)length;
    last = length;
  }
  code_assign(c);
}

// ---- Method huff: tokens as Huffman codes ---------------------------------
//
// A number n is written as a slot, the index of the highest bit of n + 1, and
// as many bits of the rest: 0 -> 0, 1 2 -> 1, 3 4 5 6 -> 2, ...

static int slot_of(int n) {
  int slot = 0;
  while ((n + 1) >> (slot + 1))
    slot++;
  return slot;
}

static void put_rest(BitWriter *w, int n, int slot) {
  put_bits(w, (unsigned)(n + 1 - (1 << slot)), slot);
}

static int get_rest(BitReader *r, int slot) {
  return (1 << slot) - 1 + (int)get_bits(r, slot);
}

static void codes_of(const Tokens *tokens, Code *symbols, Code *distances) {
  unsigned symbol_weight[SYMBOLS] = {0}, distance_weight[DISTANCES] = {0};
  for (size_t i = 0; i < tokens->len; i++) {
    const Token *t = &tokens->at[i];
    if (t->length == 1) {
      symbol_weight[t->byte]++;
    } else {
      symbol_weight[FIRST_LENGTH + slot_of(t->length - MIN_MATCH)]++;
      distance_weight[slot_of(t->distance - 1)]++;
    }
  }
  symbol_weight[END]++;
  code_build(symbols, symbol_weight, SYMBOLS);
  code_build(distances, distance_weight, DISTANCES);
}

static void huff_pack(const Tokens *tokens, Bytes *out) {
  Code symbols, distances;
  BitWriter w = {out, 0, 0};
  codes_of(tokens, &symbols, &distances);
  lengths_pack(&w, &symbols);
  lengths_pack(&w, &distances);
  for (size_t i = 0; i < tokens->len; i++) {
    const Token *t = &tokens->at[i];
    if (t->length == 1) {
      put_symbol(&w, &symbols, t->byte);
      continue;
    }
    int slot = slot_of(t->length - MIN_MATCH);
    put_symbol(&w, &symbols, FIRST_LENGTH + slot);
    put_rest(&w, t->length - MIN_MATCH, slot);
    slot = slot_of(t->distance - 1);
    put_symbol(&w, &distances, slot);
    put_rest(&w, t->distance - 1, slot);
  }
  put_symbol(&w, &symbols, END);
  flush_bits(&w);
}

static void huff_unpack(BitReader *r, size_t size, Bytes *out) {
  Code symbols, distances;
  lengths_unpack(r, &symbols, SYMBOLS);
  lengths_unpack(r, &distances, DISTANCES);
  for (;;) {
    int symbol = get_symbol(r, &symbols);
    if (symbol == END)
      break;
    if (out->len >= size)
      die("more data than the header says");
    if (symbol < END) {
      bytes_put(out, symbol);
      continue;
    }
    int length = get_rest(r, symbol - FIRST_LENGTH) + MIN_MATCH;
    int distance = get_rest(r, get_symbol(r, &distances)) + 1;
    copy_match(out, distance, length);
  }
}

// ---- Archives ---------------------------------------------------------------

typedef struct {
  Method method;
  bool filter;
  int window_bits;
  size_t size;
  unsigned checksum;
  const unsigned char *payload, *end;
} Header;

static void payload_pack(const Bytes *in, Method method, const Options *o,
                         Bytes *out) {
  Tokens tokens = {0};
  switch (method) {
  case STORE:
    bytes_append(out, in->at, in->len);
    break;
  case RLE:
    rle_pack(in, out);
    break;
  case LZ:
    tokenize(in, o, &tokens);
    lz_pack(&tokens, o, out);
    break;
  default:
    tokenize(in, o, &tokens);
    huff_pack(&tokens, out);
    break;
  }
  free(tokens.at);
}

// Packs by the method asked for; of equally small payloads the first wins.
static Method payload_best(const Bytes *in, const Options *o, Bytes *out) {
  if (o->method != AUTO) {
    payload_pack(in, o->method, o, out);
    return o->method;
  }
  Method best = STORE;
  payload_pack(in, STORE, o, out);
  for (Method m = RLE; m <= HUFF; m++) {
    Bytes next = {0};
    payload_pack(in, m, o, &next);
    if (next.len < out->len) {
      bytes_release(out);
      *out = next;
      best = m;
    } else {
      bytes_release(&next);
    }
  }
  return best;
}

static void put_varint(Bytes *out, size_t n) {
  while (n >= 128) {
    bytes_put(out, (int)(n & 127) | 128);
    n >>= 7;
  }
  bytes_put(out, (int)n);
}

static void archive_pack(const Bytes *in, const Options *o, Bytes *out) {
  Bytes data = {0}, payload = {0};
  bytes_append(&data, in->at, in->len);
  if (o->filter)
    filter_encode(data.at, data.len);
  Method method = payload_best(&data, o, &payload);
  unsigned checksum = adler32(in->at, in->len);
  bytes_put(out, 'S');
  bytes_put(out, 'Q');
  bytes_put(out, (int)method | (o->filter ? FILTERED : 0));
  bytes_put(out, o->window_bits);
  put_varint(out, in->len);
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes_put(out, (int)(checksum >> shift & 255));
  bytes_append(out, payload.at, payload.len);
  bytes_release(&payload);
  bytes_release(&data);
}

static void header_parse(const Bytes *in, Header *h) {
  if (in->len < 9)
    die("archive is truncated");
  const unsigned char *at = in->at, *end = in->at + in->len;
  if (at[0] != 'S' || at[1] != 'Q')
    die("not an archive");
  h->filter = (at[2] & FILTERED) != 0;
  h->method = (Method)(at[2] & ~FILTERED);
  h->window_bits = at[3];
  if (h->method >= AUTO)
    die("unknown method %d", (int)h->method);
  if (h->window_bits < 4 || h->window_bits > 15)
    die("bad window of %d bits", h->window_bits);
  at += 4;
  h->size = 0;
  for (int shift = 0;; shift += 7) {
    h->size |= (size_t)(*at & 127) << shift;
    if (*at++ < 128)
      break;
    if (shift == 21 || at == end)
      die("bad size");
  }
  if (h->size > MAX_SIZE)
    die("bad size");
  if (end - at < 4)
    die("archive is truncated");
  h->checksum = 0;
  for (int i = 0; i < 4; i++)
    h->checksum = h->checksum << 8 | *at++;
  h->payload = at;
  h->end = end;
}

static void archive_unpack(const Bytes *in, Bytes *out) {
  Header h;
  header_parse(in, &h);
  BitReader r = {h.payload, h.end, 0};
  switch (h.method) {
  case STORE:
    bytes_append(out, h.payload, (size_t)(h.end - h.payload));
    break;
  case RLE:
    rle_unpack(h.payload, h.end, out);
    break;
  case LZ:
    lz_unpack(&r, h.window_bits, h.size, out);
    break;
  default:
    huff_unpack(&r, h.size, out);
    break;
  }
  if (out->len != h.size)
    die("%zu bytes instead of %zu", out->len, h.size);
  if (h.filter)
    filter_decode(out->at, out->len);
  if (adler32(out->at, out->len) != h.checksum)
    die("checksum differs");
}

// ---- Commands ---------------------------------------------------------------

static void print_hex(const Bytes *b) {
  for (size_t i = 0; i < b->len; i++) {
    printf("%02x", b->at[i]);
    if ((i + 1) % LINE_BYTES == 0 || i + 1 == b->len)
      printf("\n");
  }
}

static int hex_value(int c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

// Hex digits to bytes; space and the rest of a line after # do not count.
static void parse_hex(const Bytes *text, Bytes *out) {
  int high = -1;
  for (size_t i = 0; i < text->len; i++) {
    int c = text->at[i];
    if (c == '#') {
      while (i + 1 < text->len && text->at[i + 1] != '\n')
        i++;
      continue;
    }
    if (isspace(c))
      continue;
    int digit = hex_value(c);
    if (digit < 0)
      die("bad hex digit at byte %zu", i);
    if (high < 0) {
      high = digit;
    } else {
      bytes_put(out, high << 4 | digit);
      high = -1;
    }
  }
  if (high >= 0)
    die("odd number of hex digits");
}

static void print_symbol(int symbol) {
  if (symbol == END)
    printf("end");
  else if (symbol > END)
    printf("length%d", symbol - FIRST_LENGTH);
  else if (symbol > ' ' && symbol < 127)
    printf("'%c'", symbol);
  else
    printf("0x%02x", (unsigned)symbol);
}

static void print_code(const Code *c, bool distances) {
  for (int s = 0; s < c->symbols; s++) {
    if (c->length[s] == 0)
      continue;
    if (distances)
      printf("distance%d", s);
    else
      print_symbol(s);
    printf(" ");
    for (int i = c->length[s] - 1; i >= 0; i--)
      printf("%d", c->code[s] >> i & 1);
    printf("\n");
  }
}

static void command_tokens(const Bytes *in, const Options *o, bool codes) {
  Tokens tokens = {0};
  tokenize(in, o, &tokens);
  if (codes) {
    Code symbols, distances;
    codes_of(&tokens, &symbols, &distances);
    print_code(&symbols, false);
    print_code(&distances, true);
  }
  for (size_t i = 0; !codes && i < tokens.len; i++) {
    const Token *t = &tokens.at[i];
    if (t->length > 1) {
      printf("copy %d from %d\n", t->length, t->distance);
    } else {
      print_symbol(t->byte);
      printf("\n");
    }
  }
  free(tokens.at);
}

// Packs and unpacks by every method (or the one asked for).
static int command_test(const Bytes *in, const Options *o) {
  int status = 0;
  for (Method m = STORE; m <= AUTO; m++) {
    if (o->method != AUTO && o->method != m)
      continue;
    Options with = *o;
    Bytes packed = {0}, again = {0};
    with.method = m;
    archive_pack(in, &with, &packed);
    archive_unpack(&packed, &again);
    bool same = bytes_equal(in, &again);
    size_t permille = in->len ? packed.len * 1000 / in->len : 0;
    printf("%-5s %zu -> %zu (%zu.%zu%%) %s\n", method_names[m], in->len,
           packed.len, permille / 10, permille % 10, same ? "ok" : "DIFFERS");
    if (!same)
      status = 1;
    bytes_release(&packed);
    bytes_release(&again);
  }
  return status;
}

static void command_info(const Bytes *archive) {
  Header h;
  header_parse(archive, &h);
  printf("method   %s%s\n", method_names[h.method],
         h.filter ? " after move-to-front" : "");
  printf("window   %d\n", 1 << h.window_bits);
  printf("size     %zu\n", h.size);
  printf("checksum %08x\n", h.checksum);
  printf("payload  %zu\n", (size_t)(h.end - h.payload));
}

// ---- Input and command line
// ---------------------------------------------------

static int usage(const char *why, const char *what) {
  printf("squeeze: %s%s%s\n", why, what ? ": " : "", what ? what : "");
  return 2;
}

// TEXT of -e with its escapes replaced.
static void parse_text(const char *text, Bytes *out) {
  for (const char *p = text; *p; p++) {
    if (*p != '\\' || p[1] == '\0') {
      bytes_put(out, (unsigned char)*p);
      continue;
    }
    p++;
    if (*p == 'n') {
      bytes_put(out, '\n');
    } else if (*p == 't') {
      bytes_put(out, '\t');
    } else if (*p == '0') {
      bytes_put(out, 0);
    } else if (*p == 'x' && hex_value(p[1]) >= 0 && hex_value(p[2]) >= 0) {
      bytes_put(out, hex_value(p[1]) << 4 | hex_value(p[2]));
      p += 2;
    } else {
      bytes_put(out, (unsigned char)*p);
    }
  }
}

static void read_input(const char *path, Bytes *out) {
  FILE *f = path ? fopen(path, "rb") : stdin;
  if (!f)
    die("cannot read %s", path);
  for (int c = getc(f); c != EOF; c = getc(f)) {
    if (out->len == MAX_SIZE)
      die("input is too large");
    bytes_put(out, c);
  }
  if (path)
    fclose(f);
}

static void repeat(Bytes *b, int count) {
  size_t len = b->len;
  if (len * (size_t)count > MAX_SIZE)
    die("input is too large");
  if (count == 0)
    b->len = 0;
  for (int i = 1; i < count; i++)
    for (size_t k = 0; k < len; k++)
      bytes_put(b, b->at[k]);
}

// A number in [low, high], or -1.
static int parse_number(const char *text, int low, int high) {
  char *end;
  long n = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || n < low || n > high)
    return -1;
  return (int)n;
}

static bool parse_method(const char *text, Method *out) {
  for (Method m = STORE; m <= AUTO; m++) {
    if (strcmp(text, method_names[m]) == 0) {
      *out = m;
      return true;
    }
  }
  return false;
}

// What the command line says apart from the options of packing.
typedef struct {
  const char *text, *path;
  int count;
} Source;

// Takes the option with a value argv[i] argv[i + 1]; false if it is none.
static bool parse_option(const char *option, const char *value, Options *o,
                         Source *s) {
  switch (option[1]) {
  case 'e':
    s->text = value;
    return true;
  case 'n':
    s->count = parse_number(value, 0, 100000);
    return s->count >= 0;
  case 'm':
    return parse_method(value, &o->method);
  case 'w':
    o->window_bits = parse_number(value, 4, 15);
    return o->window_bits >= 0;
  case 'c':
    o->chain = parse_number(value, 1, 4096);
    return o->chain >= 0;
  default:
    return false;
  }
}

static int parse_arguments(int argc, char **argv, Options *o, Source *s) {
  for (int i = 2; i < argc; i++) {
    const char *arg = argv[i];
    if (arg[0] != '-') {
      if (s->path)
        return usage("one file only", arg);
      s->path = arg;
    } else if (strcmp(arg, "-z") == 0) {
      o->lazy = true;
    } else if (strcmp(arg, "-f") == 0) {
      o->filter = true;
    } else if (strcmp(arg, "-x") == 0) {
      o->hex = true;
    } else if (arg[1] == '\0' || arg[2] != '\0' || !strchr("enmwc", arg[1])) {
      return usage("unknown option", arg);
    } else if (i + 1 == argc) {
      return usage("option needs a value", arg);
    } else if (!parse_option(arg, argv[++i], o, s)) {
      return usage("bad value", argv[i]);
    }
  }
  return 0;
}

static int run(const char *command, const Bytes *in, const Options *o) {
  int status = 0;
  Bytes archive = {0}, out = {0};
  if (strcmp(command, "pack") == 0) {
    archive_pack(in, o, &archive);
    print_hex(&archive);
  } else if (strcmp(command, "unpack") == 0) {
    parse_hex(in, &archive);
    archive_unpack(&archive, &out);
    if (o->hex)
      print_hex(&out);
    else if (out.len > 0)
      fwrite(out.at, 1, out.len, stdout);
  } else if (strcmp(command, "test") == 0) {
    status = command_test(in, o);
  } else if (strcmp(command, "tokens") == 0) {
    command_tokens(in, o, false);
  } else if (strcmp(command, "codes") == 0) {
    command_tokens(in, o, true);
  } else if (strcmp(command, "info") == 0) {
    parse_hex(in, &archive);
    command_info(&archive);
  } else {
    status = usage("unknown command", command);
  }
  bytes_release(&archive);
  bytes_release(&out);
  return status;
}

int main(int argc, char **argv) {
  Options o = {.method = AUTO, .window_bits = 12, .chain = 32};
  Source s = {.count = 1};
  if (argc < 2)
    return usage("no command", NULL);
  int status = parse_arguments(argc, argv, &o, &s);
  if (status != 0)
    return status;
  Bytes in = {0};
  if (s.text)
    parse_text(s.text, &in);
  else
    read_input(s.path, &in);
  repeat(&in, s.count);
  status = run(argv[1], &in, &o);
  bytes_release(&in);
  return status;
}
