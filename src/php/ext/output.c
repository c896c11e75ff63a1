// Which line wrote which byte of the page.
//
// Every output buffer has a level here: the pieces its bytes came in. A write
// makes its buffer longer; we compare what PHP has with what we know before and
// after each echo (zend_write) and each call of an internal function, so that
// there is never more than one writer to blame. Bytes move only in two ways,
// and both are seen:
//
//   - a buffer hands its bytes on (flush, end, full): the function of a plain
//     buffer is replaced by pass(), which sees what goes in and comes out; a
//     callback of the application is seen when it begins, by its argument.
//     What comes out is "in flight" until it arrives in the buffer below or
//     in sapi_module.ub_write, where the pieces become items of the record;
//   - ob_get_clean() and the like turn a buffer into a string. Its content is
//     remembered; an echo of a text that holds it restores the pieces.
//
// A callback that changes its text: what can be found again keeps its line, the
// rest gets the line that was there (OUTPUT_CHANGED).
//
//   ob_start();  echo "a";   level 1: a
//   ob_start('cb'); echo "b"; level 2: b        in flight   level 1
//   ob_end_flush();           level 2: -        b: "cb(b)"  a, cb(b)
//
// Memory: pieces and copies of texts lie outside of PHP's memory limit.
#include "php_culprit.h"

#include "SAPI.h"
#include "php_output.h"
#include "zend_stack.h"

// As OutputKind of php/record/php_record.h.
enum { PLAIN, TEMPLATE, CHANGED, UNKNOWN };

typedef struct {
  size_t length;
  uint32_t file, line, kind;
} piece;

typedef struct {
  piece *items;
  size_t n, room;
  size_t length; // sum
} pieces;

typedef struct {
  php_output_handler *handler;
  php_output_handler_context_func_t function; // PHP's, if pass() stands in
  pieces p;
} level;

// A text whose pieces are known.
typedef struct {
  char *text;
  size_t length;
  pieces p;
} known_text;

#define MAX_LEVELS 256
#define MAX_CAPTURED 32
#define LEAST_CAPTURED 16
#define LEAST_MIDDLE 64 // of a part from the middle of a captured text
#define MAX_TEXT ((size_t)16 << 20)
#define MAX_PIECES ((size_t)1 << 20)

static level levels[MAX_LEVELS];
static int nlevels;
static known_text captured[MAX_CAPTURED]; // a ring
static unsigned ncaptured;
static bool any_captured;
// What was written last ended in the middle of a captured text: texts are also
// printed in parts (a stream that is read 4096 bytes at a time).
static struct {
  unsigned number; // of that text, from 1; 0: none
  size_t at;       // its next byte
} rest;

static struct {
  bool full;        // some bytes are in flight
  known_text known; // text NULL: unchanged, only the pieces count
} flight;

static int depth; // of operations that may write
static bool in_headers;
static bool has_error; // the next unexplained bytes are a message of PHP
static uint32_t error_file, error_line;
static ItemPiece *last_item; // the piece written last
static size_t nitems;
static const php_output_handler *seen_callback;

static size_t (*next_write)(const char *text, size_t length);
static size_t (*next_ub_write)(const char *text, size_t length);
static int (*next_send_headers)(sapi_headers_struct *headers);

// --- pieces -----------------------------------------------------------------

static void pieces_clear(pieces *p) { p->n = p->length = 0; }

static void pieces_free(pieces *p) {
  free(p->items);
  memset(p, 0, sizeof *p);
}

static bool can_join(const piece *a, const piece *b) {
  return a->kind != TEMPLATE && a->kind == b->kind && a->file == b->file &&
         a->line == b->line;
}

static void pieces_add(pieces *p, piece x) {
  if (!x.length)
    return;
  p->length += x.length;
  if (p->n && (can_join(&p->items[p->n - 1], &x) || p->n == MAX_PIECES)) {
    p->items[p->n - 1].length += x.length;
    return;
  }
  if (p->n == p->room) {
    size_t room = p->room ? p->room * 2 : 16;
    piece *grown = realloc(p->items, room * sizeof *grown);
    if (!grown)
      return;
    p->items = grown;
    p->room = room;
  }
  p->items[p->n++] = x;
}

static void pieces_append(pieces *to, const pieces *from) {
  for (size_t i = 0; i < from->n; i++)
    pieces_add(to, from->items[i]);
}

static uint32_t count_lines(const char *text, size_t length) {
  uint32_t n = 0;
  for (const char *end = text + length;
       (text = memchr(text, '\n', (size_t)(end - text))); text++)
    n++;
  return n;
}

// Bytes [from, to) of a known text.
static void pieces_cut(pieces *out, const known_text *k, size_t from,
                       size_t to) {
  size_t at = 0;
  for (size_t i = 0; i < k->p.n && at < to; at += k->p.items[i++].length) {
    piece x = k->p.items[i];
    size_t lo = from > at ? from - at : 0;
    size_t hi = to - at < x.length ? to - at : x.length;
    if (lo >= hi)
      continue;
    if (x.kind == TEMPLATE && k->text)
      x.line += count_lines(k->text + at, lo);
    x.length = hi - lo;
    pieces_add(out, x);
  }
}

// --- texts that were changed ------------------------------------------------

static piece changed(piece x, size_t length) {
  x.length = length;
  if (x.kind != UNKNOWN)
    x.kind = CHANGED;
  return x;
}

// `length` bytes stand where bytes [from, to) of `k` were: each of its pieces
// gets its share of them.
static void blame(pieces *out, const known_text *k, size_t from, size_t to,
                  size_t length) {
  size_t at = 0, done = 0;
  piece last = {0, NO_FILE, 0, UNKNOWN};
  if (k->p.n)
    last = k->p.items[0];
  for (size_t i = 0; i < k->p.n && at < to; at += k->p.items[i++].length) {
    last = k->p.items[i];
    size_t end = at + last.length < to ? at + last.length : to;
    if (end <= from)
      continue;
    size_t upto =
        (size_t)((double)length * (double)(end - from) / (double)(to - from));
    if (upto > length)
      upto = length;
    pieces_add(out, changed(last, upto - done));
    done = upto;
  }
  if (done < length) // nothing was there: the piece before it
    pieces_add(out, changed(last, length - done));
}

static size_t common_start(const char *a, size_t n, const char *b, size_t m) {
  size_t most = n < m ? n : m, i = 0;
  while (i < most && a[i] == b[i])
    i++;
  return i;
}

#define LEAST_MATCH 8
#define MAX_TRIES 64
#define WINDOW ((size_t)1 << 16)
#define MAX_EFFORT ((size_t)1 << 28) // bytes looked at, per text

// Where a text and what became of it run together again.
typedef struct {
  size_t old, at;
} meeting;

// The next piece of `k` from `from.old` on that is found in `text` from
// `from.at` on; the ends of both if there is none near.
static meeting meet_again(const known_text *k, const char *text, size_t length,
                          meeting from, size_t *effort) {
  size_t start = 0, left = length - from.at;
  int tries = MAX_TRIES;
  if (left > WINDOW)
    left = WINDOW;
  for (size_t i = 0; i < k->p.n && tries && *effort < MAX_EFFORT; i++) {
    size_t first = start > from.old ? start : from.old;
    size_t end = start += k->p.items[i].length;
    if (end <= first || end - first < LEAST_MATCH)
      continue;
    const char *found =
        memmem(text + from.at, left, k->text + first, end - first);
    *effort += left;
    tries--;
    if (found)
      return (meeting){first, (size_t)(found - text)};
  }
  return (meeting){k->length, length};
}

// Maps `text` onto the pieces of `k`: both are read side by side; where they
// part, the next piece that is found again brings them back together.
static void map_changed(pieces *out, const known_text *k, const char *text,
                        size_t length) {
  meeting now = {0, 0};
  size_t effort = 0;
  while (now.at < length) {
    size_t same = common_start(k->text + now.old, k->length - now.old,
                               text + now.at, length - now.at);
    pieces_cut(out, k, now.old, now.old + same);
    now.old += same;
    now.at += same;
    if (now.at == length)
      return;
    meeting next = meet_again(k, text, length, now, &effort);
    blame(out, k, now.old, next.old, next.at - now.at);
    now = next;
  }
}

// The same for a text that kept its length: letters were replaced.
static void map_replaced(pieces *out, const known_text *k, const char *text) {
  size_t at = 0;
  for (size_t i = 0; i < k->p.n; i++) {
    piece x = k->p.items[i];
    bool same = !memcmp(k->text + at, text + at, x.length);
    pieces_add(out, same ? x : changed(x, x.length));
    at += x.length;
  }
}

// --- strings taken from buffers ---------------------------------------------

static void capture(const char *text, size_t length, const pieces *p) {
  if (length < LEAST_CAPTURED || length > MAX_TEXT || p->length != length)
    return;
  known_text *k = &captured[ncaptured++ % MAX_CAPTURED];
  free(k->text);
  pieces_clear(&k->p);
  k->text = malloc(length);
  k->length = k->text ? length : 0;
  if (!k->text)
    return;
  memcpy(k->text, text, length);
  pieces_append(&k->p, p);
  any_captured = true;
}

// The captured text found first in `text`, newest first if several begin there.
static const known_text *find_captured(const char *text, size_t length,
                                       const char **where) {
  const known_text *best = NULL;
  *where = text + length;
  for (unsigned i = 1; i <= MAX_CAPTURED && i <= ncaptured; i++) {
    const known_text *k = &captured[(ncaptured - i) % MAX_CAPTURED];
    if (!k->text || k->length > length)
      continue;
    const char *at = memmem(text, length, k->text, k->length);
    if (at &&
        (at < *where || (at == *where && best && k->length > best->length))) {
      best = k;
      *where = at;
    }
  }
  return best;
}

static const known_text *captured_number(unsigned number) {
  return number && ncaptured - number < MAX_CAPTURED
             ? &captured[(number - 1) % MAX_CAPTURED]
             : NULL;
}

// How far the text is what captured text `number` has from `at` on: to the end
// of either, or not at all.
static size_t take_part(pieces *out, unsigned number, size_t at,
                        const char *text, size_t length) {
  const known_text *k = captured_number(number);
  if (!k || !k->text || at >= k->length)
    return 0;
  size_t same = common_start(k->text + at, k->length - at, text, length);
  if (same < length && same < k->length - at)
    return 0;
  pieces_cut(out, k, at, at + same);
  rest.number = number;
  rest.at = at + same;
  return same;
}

// The text begins in the middle of a captured one.
static size_t take_middle(pieces *out, const char *text, size_t length) {
  size_t same = 0;
  for (unsigned i = 0;
       !same && i < MAX_CAPTURED && i < ncaptured && length >= LEAST_MIDDLE;
       i++) {
    const known_text *k = captured_number(ncaptured - i);
    const char *at =
        k->text ? memmem(k->text, k->length, text, LEAST_MIDDLE) : NULL;
    if (at)
      same =
          take_part(out, ncaptured - i, (size_t)(at - k->text), text, length);
  }
  return same;
}

// The text goes on where the last one ended, or elsewhere in a captured one:
// how many bytes of it do.
static size_t go_on(pieces *out, const char *text, size_t length) {
  unsigned number = rest.number;
  rest.number = 0;
  size_t same = take_part(out, number, rest.at, text, length);
  return same ? same : take_middle(out, text, length);
}

// Does `text`, somewhere, end with the beginning of this captured text? Where
// that begins; NULL: nowhere.
static const char *find_beginning(const known_text *k, const char *text,
                                  size_t length) {
  const char *end = text + length, *at = text;
  if (!k->text || k->length < LEAST_CAPTURED)
    return NULL;
  while ((at = memmem(at, (size_t)(end - at), k->text, LEAST_CAPTURED))) {
    size_t left = (size_t)(end - at);
    if (left < k->length && !memcmp(at, k->text, left))
      return at;
    at++;
  }
  return NULL;
}

// A captured text begins in `text` and is to go on in the next one.
static void add_tail(pieces *out, piece by, const char *text, size_t length) {
  const char *first = NULL;
  for (unsigned i = 0; any_captured && by.kind == PLAIN && i < MAX_CAPTURED &&
                       i < ncaptured && length >= LEAST_CAPTURED;
       i++) {
    const known_text *k = captured_number(ncaptured - i);
    const char *at = find_beginning(k, text, length);
    if (at && (!first || at < first)) {
      first = at;
      rest.number = ncaptured - i;
    }
  }
  by.length = first ? (size_t)(first - text) : length;
  pieces_add(out, by);
  if (first) {
    rest.at = length - by.length;
    pieces_cut(out, captured_number(rest.number), 0, rest.at);
  }
}

// Bytes written by `by`, perhaps out of captured ones.
static void add_written(pieces *out, piece by, const char *text,
                        size_t length) {
  if (any_captured && by.kind == PLAIN) {
    size_t n = go_on(out, text, length);
    text += n;
    length -= n;
  }
  while (any_captured && length >= LEAST_CAPTURED && by.kind == PLAIN) {
    const char *at;
    const known_text *k = find_captured(text, length, &at);
    if (!k)
      break;
    by.length = (size_t)(at - text);
    pieces_add(out, by);
    pieces_append(out, &k->p);
    length -= by.length + k->length;
    text = at + k->length;
  }
  add_tail(out, by, text, length);
}

// --- writers ----------------------------------------------------------------

static piece writer(void) {
  piece x = {0, NO_FILE, 0, UNKNOWN};
  if (has_error) {
    x.file = error_file;
    x.line = error_line;
  } else {
    culprit_place(&x.file, &x.line);
  }
  if (x.file != NO_FILE)
    x.kind = x.line & FRAME_TEMPLATE ? TEMPLATE : PLAIN;
  x.line &= ~FRAME_TEMPLATE;
  return x;
}

// Bytes that came from above or were written just now.
static void add_arrived(pieces *out, const char *text, size_t length) {
  if (!flight.full) {
    add_written(out, writer(), text, length);
    return;
  }
  known_text *k = &flight.known;
  if (k->text && k->length == length && k->p.length == length) {
    map_replaced(out, k, text);
  } else if (k->text && k->p.length == k->length) {
    map_changed(out, k, text, length);
  } else if (k->p.length <= length) {
    pieces_append(out, &k->p);
    if (k->p.length < length)
      add_written(out, writer(), text + k->p.length, length - k->p.length);
  } else {
    pieces_cut(out, k, 0, length);
  }
  flight.full = false;
}

static void set_flight(pieces *p, char *text, size_t length) {
  free(flight.known.text);
  pieces_clear(&flight.known.p);
  pieces_append(&flight.known.p, p);
  flight.known.text = text;
  flight.known.length = length;
  flight.full = true;
}

// --- levels -----------------------------------------------------------------

static int pass(void **context, php_output_context *output);

static bool is_wrapped(const php_output_handler *h) {
  return !(h->flags & PHP_OUTPUT_HANDLER_USER) && h->func.internal == pass;
}

static void push_level(php_output_handler *h) {
  level *l = &levels[nlevels++];
  l->handler = h;
  l->function = NULL;
  pieces_clear(&l->p);
  if (!(h->flags & PHP_OUTPUT_HANDLER_USER)) {
    l->function = h->func.internal;
    h->func.internal = pass;
  }
}

// Brings a level up to what its buffer holds.
static void update(level *l) {
  const php_output_buffer *b = &l->handler->buffer;
  if (b->used < l->p.length)
    pieces_clear(&l->p);
  if (b->used > l->p.length)
    add_arrived(&l->p, b->data + l->p.length, b->used - l->p.length);
}

static bool is_level(const php_output_handler *h, int i) {
  return i < nlevels && levels[i].handler == h &&
         (h->flags & PHP_OUTPUT_HANDLER_USER || is_wrapped(h));
}

static zend_never_inline void synchronize(void) {
  int n = OG(active) ? zend_stack_count(&OG(handlers)) : 0;
  php_output_handler **all = zend_stack_base(&OG(handlers));
  int same = 0;
  while (same < n && is_level(all[same], same))
    same++;
  nlevels = same;
  for (int i = 0; i < same; i++)
    update(&levels[i]);
  for (int i = same; i < n && i < MAX_LEVELS; i++) {
    push_level(all[i]);
    update(&levels[i]);
  }
  if (n > MAX_LEVELS)
    culprit_note("more than 256 output buffers, lines may be wrong");
}

static zend_always_inline bool is_current(void) {
  const php_output_handler *active = OG(active);
  if (!nlevels || !active)
    return !nlevels && !active;
  const level *top = &levels[nlevels - 1];
  return top->handler == active && top->p.length == active->buffer.used &&
         OG(handlers).top == nlevels;
}

static zend_always_inline void catch_up(void) {
  if (UNEXPECTED(!is_current()))
    synchronize();
  has_error = false;
}

static level *find_level(const php_output_handler *h) {
  for (int i = nlevels; i-- > 0;)
    if (levels[i].handler == h)
      return &levels[i];
  return NULL;
}

// Stands in for the function of a buffer without a callback.
static int pass(void **context, php_output_context *output) {
  level *l = find_level(OG(running));
  if (!l) { // cannot be: it was put there by push_level
    output->out = output->in;
    memset(&output->in, 0, sizeof output->in);
    return SUCCESS;
  }
  size_t length = output->in.used;
  if (length > l->p.length)
    add_arrived(&l->p, output->in.data + l->p.length, length - l->p.length);
  const char *data = output->in.data;
  bool plain =
      zend_string_equals_literal(l->handler->name, "default output handler");
  char *copy = NULL;
  if (!plain && length && length <= MAX_TEXT && (copy = malloc(length)))
    memcpy(copy, data, length);
  int op = output->op;
  int rc = l->function(context, output);
  flight.full = false;
  if (!(op & PHP_OUTPUT_HANDLER_CLEAN) && (output->out.used || rc != SUCCESS))
    set_flight(&l->p, copy, copy ? length : 0);
  else
    free(copy);
  pieces_clear(&l->p);
  return rc;
}

void culprit_output_callback(zend_execute_data *ex) {
  php_output_handler *h = OG(running);
  if (!(culprit.collect & COLLECT_OUTPUT) || !culprit.recording ||
      !(h->flags & PHP_OUTPUT_HANDLER_USER) || h == seen_callback)
    return;
  seen_callback = h;
  if (!find_level(h))
    synchronize();
  level *l = find_level(h);
  zval *mode = ZEND_CALL_NUM_ARGS(ex) > 1 ? ZEND_CALL_ARG(ex, 2) : NULL;
  if (!l)
    return;
  update(l);
  flight.full = false;
  if (mode && Z_TYPE_P(mode) == IS_LONG &&
      Z_LVAL_P(mode) & PHP_OUTPUT_HANDLER_CLEAN)
    return;
  size_t length = h->buffer.used;
  char *copy = length && length <= MAX_TEXT ? malloc(length) : NULL;
  if (copy)
    memcpy(copy, h->buffer.data, length);
  set_flight(&l->p, copy, copy ? length : 0);
}

// --- the body ---------------------------------------------------------------

static void write_piece(const piece *x) {
  if (last_item && nitems) {
    piece last = {last_item->length, last_item->file, last_item->line,
                  last_item->kind};
    if (can_join(&last, x) || nitems >= MAX_PIECES) {
      last_item->length += x->length;
      return;
    }
  }
  ItemPiece *item = culprit_item(ITEM_PIECE, sizeof *item);
  if (!item)
    return;
  item->length = x->length;
  item->file = x->file;
  item->line = x->line;
  item->kind = x->kind;
  culprit_publish(item);
  last_item = item;
  nitems++;
}

static size_t on_ub_write(const char *text, size_t length) {
  if (!culprit.recording || in_headers || culprit.forked ||
      !(culprit.collect & COLLECT_OUTPUT))
    return next_ub_write(text, length);
  static pieces p;
  pieces_clear(&p);
  add_arrived(&p, text, length);
  for (size_t i = 0; i < p.n; i++)
    write_piece(&p.items[i]);
  return next_ub_write(text, length);
}

static int on_send_headers(sapi_headers_struct *headers) {
  in_headers = true;
  int rc = next_send_headers(headers);
  in_headers = false;
  return rc;
}

// --- operations that write --------------------------------------------------

static void end_operation(void) {
  if (!is_current())
    synchronize();
  if (--depth == 0) {
    flight.full = false;
    seen_callback = NULL;
  }
}

static size_t on_write(const char *text, size_t length) {
  if (!culprit.recording || !(culprit.collect & COLLECT_OUTPUT))
    return next_write(text, length);
  catch_up();
  depth++;
  size_t n = next_write(text, length);
  end_operation();
  return n;
}

// ob_get_clean and its like: their result is the content of the buffer.
static zif_handler capturers[3];

static bool captures(const zend_execute_data *ex) {
  zif_handler h = ex->func->internal_function.handler;
  return h == capturers[0] || h == capturers[1] || h == capturers[2];
}

static pieces taken;

void culprit_output_before(zend_execute_data *ex) {
  catch_up();
  depth++;
  if (UNEXPECTED(OG(running) != NULL))
    culprit_output_callback(ex);
  if (UNEXPECTED(nlevels && captures(ex))) {
    pieces_clear(&taken);
    pieces_append(&taken, &levels[nlevels - 1].p);
  }
}

void culprit_output_after(zend_execute_data *ex, zval *value) {
  end_operation();
  if (UNEXPECTED(taken.n && captures(ex))) {
    if (Z_TYPE_P(value) == IS_STRING)
      capture(Z_STRVAL_P(value), Z_STRLEN_P(value), &taken);
    pieces_clear(&taken);
  }
}

void culprit_output_error(const char *file, size_t length, uint32_t line) {
  catch_up();
  culprit_place(&error_file, &error_line);
  uint32_t named = length ? culprit_file(file, length) : NO_FILE;
  if (named != error_file) {
    error_file = named;
    error_line = line;
  }
  error_line &= ~FRAME_TEMPLATE;
  has_error = true;
}

// --- requests ---------------------------------------------------------------

static zif_handler find_handler(const char *name) {
  const zend_internal_function *fn =
      zend_hash_str_find_ptr(CG(function_table), name, strlen(name));
  return fn && fn->type == ZEND_INTERNAL_FUNCTION ? fn->handler : NULL;
}

void culprit_output_start(void) {
  next_write = zend_write;
  zend_write = on_write;
  next_ub_write = sapi_module.ub_write;
  sapi_module.ub_write = on_ub_write;
  next_send_headers = sapi_module.send_headers;
  if (next_send_headers)
    sapi_module.send_headers = on_send_headers;
}

void culprit_output_begin(void) {
  capturers[0] = find_handler("ob_get_clean");
  capturers[1] = find_handler("ob_get_contents");
  capturers[2] = find_handler("ob_get_flush");
  nlevels = depth = 0;
  ncaptured = 0;
  rest.number = 0;
  any_captured = has_error = in_headers = flight.full = false;
  last_item = NULL;
  nitems = 0;
  seen_callback = NULL;
  pieces_clear(&taken);
  synchronize();
}

// PHP has ended all buffers by now. Whatever is left is not ours to touch.
void culprit_output_end(void) {
  php_output_handler **all = zend_stack_base(&OG(handlers));
  int n = OG(active) ? zend_stack_count(&OG(handlers)) : 0;
  for (int i = 0; i < n && i < nlevels; i++)
    if (is_level(all[i], i) && levels[i].function)
      all[i]->func.internal = levels[i].function;
  for (int i = 0; i < MAX_CAPTURED; i++) {
    free(captured[i].text);
    captured[i].text = NULL;
    pieces_free(&captured[i].p);
  }
  free(flight.known.text);
  flight.known.text = NULL;
  nlevels = 0;
}
