// What memory the stream has had, so that loops over it need not record it
// again (trace/trace_loops.h). Part of trace.c, which it is included by.
//
// Memory is looked at in lines of 64 bytes. A line that was appended to the
// stream is known to replay: what instrumented code stores
// there, replay stores, too. Before code outside runs, instrumented code counts
// up `changes`, and no line is known any more. Tables are direct-mapped; a line
// that lost its place is appended again. Whole accesses that were shown are
// remembered, too: an inner loop often reads what it read before.
//
// The stack changes in other ways (registers are saved there), which only a
// read of something uninitialised or out of bounds can see: its lines are
// compared with what they were.
//
// Lines cost time and room, and pages are asked for before they are read (the
// loop may be about to crash): a loop must have earned them. Every value that a
// loop reads since the last change earns 1, a line costs PRICE.
#ifndef CULPRIT_RUNTIME_TRACE_SEEN_H
#define CULPRIT_RUNTIME_TRACE_SEEN_H

#include <sys/uio.h>

enum {
  LINE = 64,
  LINES = 1 << 18,
  PAGES = 1 << 12,
  STACK_LINES = 1 << 12,
  ACCESSES = 1 << 12,
  CHANGE_BITS = 22,
  START_CREDIT = -256,
  PRICE = 16,
  LONGEST_RUN = 16384
};

typedef struct {
  uint64_t line;
  char bytes[LINE];
} StackLine;

typedef struct {
  TraceAccess access;
  uint64_t changes;
} ShownAccess;

static struct {
  uint64_t changes; // of the header, when this was true
  int64_t credit;
  uint64_t stack; // begins here, at the latest
  char *run;      // in the window: the size of the last piece; NULL: none
  uint64_t run_end;
  uint64_t lines[LINES], pages[PAGES];
  StackLine on_stack[STACK_LINES];
  ShownAccess accesses[ACCESSES];
} seen;

static uint64_t tag(uint64_t number) {
  return number << CHANGE_BITS | (seen.changes & ((1 << CHANGE_BITS) - 1));
}

// Nothing but the stack lies above this (mm/mmap_base of the kernel).
static void find_stack(const void *top) {
  enum { GAP = 120 << 20 };
  uint64_t limits[2] = {0, 0};
  CALL(SYS_getrlimit, 3 /* RLIMIT_STACK */, limits, 0);
  uint64_t size = limits[0] > 1ull << 40 ? 1ull << 40 : limits[0];
  seen.stack = (uint64_t)(uintptr_t)top - (size < GAP ? GAP : size);
}

static void look_for_changes(void) {
  uint64_t now = __culprit_trace.h.changes;
  if (now == seen.changes)
    return;
  if ((now ^ seen.changes) >> CHANGE_BITS) {
    clear(seen.lines, sizeof seen.lines);
    clear(seen.pages, sizeof seen.pages);
  }
  seen.changes = now;
  seen.credit = START_CREDIT;
}

static bool is_readable(uint64_t at) {
  uint64_t page = at / TRACE_PAGE, *slot = &seen.pages[page % PAGES];
  char byte;
  struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)at, 1};
  if (*slot == tag(page))
    return true;
  if (call6(SYS_process_vm_readv, (long)__culprit_trace.h.pid, (long)&here, 1,
            (long)&there, 1, 0) != 1)
    return false;
  *slot = tag(page);
  return true;
}

// Appends a line, to the piece before it where they touch.
static void put_line(uint64_t at) {
  TraceHeader *h = &__culprit_trace.h;
  char *p = (char *)(uintptr_t)h->cursor;
  uint32_t size = LINE;
  if (seen.run && seen.run_end == at) {
    copy(&size, seen.run, sizeof size);
    size += LINE;
  } else {
    *p = TRACE_SEEN;
    copy(p + 1, &at, 8);
    seen.run = p + 9;
    p += 13;
  }
  copy(seen.run, &size, sizeof size);
  __builtin_memcpy(p, (const void *)(uintptr_t)at, LINE);
  seen.run_end = at + LINE;
  h->cursor = (uint64_t)(uintptr_t)(p + LINE);
  if (size >= LONGEST_RUN)
    seen.run = NULL;
  if (h->cursor > h->limit) {
    h->cursor = __culprit_trace_full(h->cursor);
    seen.run = NULL;
  }
  seen.credit -= PRICE;
}

static bool is_same(const char *a, const char *b) {
  uint64_t x[LINE / 8], y[LINE / 8], different = 0;
  __builtin_memcpy(x, a, LINE);
  __builtin_memcpy(y, b, LINE);
  for (size_t i = 0; i < LINE / 8; i++)
    different |= x[i] ^ y[i];
  return !different;
}

static bool show_stack_line(uint64_t line) {
  StackLine *s = &seen.on_stack[line % STACK_LINES];
  const char *at = (const char *)(uintptr_t)(line * LINE);
  if (!is_readable(line * LINE))
    return false;
  if (s->line == line && is_same(s->bytes, at))
    return true;
  put_line(line * LINE);
  s->line = line;
  __builtin_memcpy(s->bytes, at, LINE);
  return true;
}

static inline bool show_line(uint64_t line) {
  uint64_t *slot = &seen.lines[line % LINES];
  if (*slot == tag(line))
    return true;
  if (line * LINE >= seen.stack)
    return show_stack_line(line);
  if (!is_readable(line * LINE))
    return false;
  put_line(line * LINE);
  *slot = tag(line);
  return true;
}

// Everything that an access of a loop will read. False: it cannot be read, or
// its address does not grow evenly.
static bool show(const TraceAccess *a, uint64_t n) {
  uint64_t step = a->second - a->first;
  if (a->last - a->first != step * (n - 1))
    return false;
  bool down = (int64_t)step < 0;
  uint64_t low = down ? a->last : a->first, high = down ? a->first : a->last;
  uint64_t wide = down ? 0 - step : step;
  if (low > high || high + a->size < high || high - low > 1ull << 40)
    return false;
  uint64_t end = (high + a->size - 1) / LINE;
  if (wide <= LINE) {
    for (uint64_t line = low / LINE; line <= end; line++)
      if (!show_line(line))
        return false;
    return true;
  }
  for (uint64_t k = 0, at = low; k < n; k++, at += wide) {
    uint64_t first = at / LINE, last = (at + a->size - 1) / LINE;
    if (!show_line(first) || (last != first && !show_line(last)))
      return false;
  }
  return true;
}

// The same, remembering what was shown; what lies on the stack must be looked
// at each time.
static bool show_once(const TraceAccess *a, uint64_t n) {
  uint64_t hash = (a->first * 31 + a->last) * 0x9e3779b97f4a7c15;
  ShownAccess *s = &seen.accesses[hash >> 32 & (ACCESSES - 1)];
  if (s->changes == seen.changes && s->access.first == a->first &&
      s->access.second == a->second && s->access.last == a->last &&
      s->access.size == a->size)
    return true;
  if (!show(a, n))
    return false;
  if (a->first < seen.stack && a->last < seen.stack) {
    s->access = *a;
    s->changes = seen.changes;
  }
  return true;
}

// A loop is about to go round n times. Returns whether it need not record its
// accesses; says so in the stream.
HIDDEN uint32_t __culprit_trace_range(uint64_t n, const TraceAccess *accesses,
                                      uint64_t count) {
  TraceHeader *h = &__culprit_trace.h;
  if (!recorder.recording)
    return 1;
  look_for_changes();
  seen.run = NULL;
  bool good = n <= 1ull << 32;
  if (good)
    seen.credit += (int64_t)(n * count);
  good = good && seen.credit >= 0;
  for (uint64_t i = 0; i < count && good; i++)
    good = show_once(&accesses[i], n);
  *(char *)(uintptr_t)h->cursor++ = good;
  return good;
}

#endif
