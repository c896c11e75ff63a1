// The guest of a build for experiments (try_format.h): finds out which
// experiment this run is, and computes what a selected hook gives. One object,
// linked into the program.
//
// Rules of a guest: no libc, system calls made directly, no heap, no output.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "runtime/system.h"
#include "runtime/try_format.h"

#define HIDDEN __attribute__((visibility("hidden")))

// What the instrumenter puts into every unit (hook/hook_calls.c).
typedef struct {
  unsigned char id[16];
  uint32_t selected, unused;
} TryUnit;

extern TryUnit __start_culprit_try[] __attribute__((weak)) HIDDEN;
extern TryUnit __stop_culprit_try[] __attribute__((weak)) HIDDEN;

HIDDEN int64_t __culprit_try_values[TRY_NAMES_MOST];
HIDDEN int64_t __culprit_try_addresses[TRY_NAMES_MOST];
HIDDEN int64_t __culprit_try_steps = INT64_MAX;

static struct {
  bool started;
  bool limited; // something is changed
  TryChange change;
  int64_t a, b;
  int64_t steps; // that it began with
  TryReport *report;
} self;

// Before it is known where to report to, and if nobody asks.
static TryReport nowhere;

// --- the end ----------------------------------------------------------------

static void report_steps(void) {
  self.report->steps = (uint64_t)(self.steps - __culprit_try_steps);
}

static void stop(TryEnd end) {
  static const struct KernelAction usual;
  const uint64_t all = ~0ull;
  report_steps();
  self.report->end = end;
  set_action(SIGXCPU, &usual, NULL);
  call6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&all, 0, 8, 0, 0);
  CALL(SYS_kill, CALL(SYS_getpid, 0, 0, 0), SIGXCPU, 0);
  CALL(SYS_exit_group, 125, 0, 0);
}

HIDDEN void __culprit_try_stop(void) { stop(TRY_OUT_OF_STEPS); }

// The report is that of all processes: each of them stops here from then on.
HIDDEN void __culprit_try_fork(void) {
  uint64_t n = __atomic_add_fetch(&self.report->forks, 1, __ATOMIC_RELAXED);
  if (self.limited && n > TRY_FORKS_MOST)
    stop(TRY_OUT_OF_FORKS);
}

__attribute__((destructor(101))) static void finish(void) {
  if (self.started)
    report_steps();
}

// --- hooks ------------------------------------------------------------------

static int64_t executed(int64_t before, int64_t after) {
  self.report->executed++;
  self.report->changed += before != after;
  return after;
}

static double executed_real(double before, double after) {
  self.report->executed++;
  self.report->changed += before < after || before > after;
  return after;
}

HIDDEN int64_t __culprit_try_value(int64_t v) {
  switch (self.change) {
  case CHANGE_ADD:
    return executed(v, (int64_t)((uint64_t)v + (uint64_t)self.a));
  case CHANGE_SET:
    return executed(v, self.a);
  case CHANGE_MINUS:
    return executed(v, (int64_t)-(uint64_t)v);
  default:
    return executed(v, v);
  }
}

HIDDEN double __culprit_try_value_real(double v) {
  switch (self.change) {
  case CHANGE_ADD:
    return executed_real(v, v + (double)self.a);
  case CHANGE_SET:
    return executed_real(v, (double)self.a);
  case CHANGE_MINUS:
    return executed_real(v, -v);
  default:
    return executed_real(v, v);
  }
}

HIDDEN int64_t __culprit_try_store(int64_t v, int64_t old) {
  switch (self.change) {
  case CHANGE_SKIP:
    return executed(v, old);
  case CHANGE_PLUS:
    return executed(v, (int64_t)((uint64_t)old + (uint64_t)v));
  case CHANGE_LESS:
    return executed(v, (int64_t)((uint64_t)old - (uint64_t)v));
  default:
    return __culprit_try_value(v);
  }
}

HIDDEN double __culprit_try_store_real(double v, double old) {
  switch (self.change) {
  case CHANGE_SKIP:
    return executed_real(v, old);
  case CHANGE_PLUS:
    return executed_real(v, old + v);
  case CHANGE_LESS:
    return executed_real(v, old - v);
  default:
    return __culprit_try_value_real(v);
  }
}

HIDDEN int64_t __culprit_try_swapped(int64_t unused) {
  return executed(unused, 1);
}

HIDDEN int64_t __culprit_try_skip(void) { return executed(0, 1), self.a; }
HIDDEN double __culprit_try_skip_real(void) {
  return executed(0, 1), (double)self.a;
}

// What malloc() or mmap() gave.
HIDDEN void __culprit_try_memory(const void *p, uint64_t size) {
  if (size && (!p || is_error(p)))
    self.report->refused = 1;
}

// --- arithmetic -------------------------------------------------------------

// A division that would trap gives what it gave before: 0.
static int64_t divide(int64_t a, int64_t b, bool is_unsigned, bool rest) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  if (!b || (a == INT64_MIN && b == -1))
    return 0;
  if (is_unsigned)
    return (int64_t)(rest ? x % y : x / y);
  return rest ? a % b : a / b;
}

static int64_t compute(TryArith op, int64_t a, int64_t b, bool is_unsigned) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  switch (op) {
  case OP_ADD:
    return (int64_t)(x + y);
  case OP_SUB:
    return (int64_t)(x - y);
  case OP_MUL:
    return (int64_t)(x * y);
  case OP_DIV:
  case OP_REM:
    return divide(a, b, is_unsigned, op == OP_REM);
  case OP_AND:
    return a & b;
  case OP_OR:
    return a | b;
  case OP_XOR:
    return a ^ b;
  case OP_SHL:
    return (int64_t)(x << (y & 63));
  default:
    return is_unsigned ? (int64_t)(x >> (y & 63)) : a >> (y & 63);
  }
}

HIDDEN int64_t __culprit_try_arith(int64_t v, int64_t a, int64_t b,
                                   int64_t is_unsigned) {
  switch (self.change) {
  case CHANGE_ARITH:
    return executed(v, compute((TryArith)self.a, a, b, is_unsigned));
  case CHANGE_LEFT:
    return executed(v, a);
  case CHANGE_RIGHT:
    return executed(v, b);
  default:
    return __culprit_try_value(v);
  }
}

static double compute_real(TryArith op, double a, double b) {
  return op == OP_ADD   ? a + b
         : op == OP_SUB ? a - b
         : op == OP_MUL ? a * b
                        : a / b;
}

HIDDEN double __culprit_try_arith_real(double v, double a, double b,
                                       int64_t is_unsigned) {
  (void)is_unsigned;
  switch (self.change) {
  case CHANGE_ARITH:
    return executed_real(v, compute_real((TryArith)self.a, a, b));
  case CHANGE_LEFT:
    return executed_real(v, a);
  case CHANGE_RIGHT:
    return executed_real(v, b);
  default:
    return __culprit_try_value_real(v);
  }
}

// --- truth values -----------------------------------------------------------

// From three outcomes, as a TryCompare names them.
static bool holds(int64_t op, bool less, bool equal, bool greater) {
  switch (op) {
  case OP_LT:
    return less;
  case OP_EQ:
    return equal;
  case OP_GT:
    return greater;
  case OP_GE:
    return !less;
  case OP_NE:
    return !equal;
  default:
    return !greater;
  }
}

static bool clause(int64_t n) {
  int64_t which = self.a & 0xff, op = self.a >> 8, other = self.b;
  if (which >= n)
    return false;
  if (self.change == CHANGE_AND_NAME || self.change == CHANGE_OR_NAME)
    other = self.b >= 0 && self.b < n ? __culprit_try_values[self.b] : 0;
  int64_t v = __culprit_try_values[which];
  return holds(op, v < other, v == other, v > other);
}

static void log_values(int64_t v, int64_t n) {
  TryReport *r = self.report;
  uint32_t at = r->words;
  if (at + (uint64_t)n + 1 > TRY_LOG_WORDS) {
    r->full = 1;
    return;
  }
  r->log[at] = v;
  for (int64_t i = 0; i < n; i++)
    r->log[at + 1 + (uint64_t)i] = __culprit_try_values[i];
  r->words = at + 1 + (uint32_t)n;
}

// Every time, or only this one.
static bool is_forced(void) {
  return !self.b || self.report->executed + 1 == (uint64_t)self.b;
}

HIDDEN int64_t __culprit_try_test(int64_t v, int64_t n) {
  switch (self.change) {
  case CHANGE_FORCE:
    return executed(v, is_forced() ? self.a : v);
  case CHANGE_NEGATE:
    return executed(v, !v);
  case CHANGE_AND:
  case CHANGE_AND_NAME:
    return executed(v, v && clause(n));
  case CHANGE_OR:
  case CHANGE_OR_NAME:
    return executed(v, v || clause(n));
  default:
    log_values(v, n);
    return executed(v, v);
  }
}

HIDDEN int64_t __culprit_try_compare(int64_t v, int64_t a, int64_t b,
                                     int64_t is_unsigned, int64_t n) {
  bool less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
  self.report->relations |= less ? 1 : a == b ? 2 : 4;
  if (self.change != CHANGE_COMPARE)
    return __culprit_try_test(v, n);
  return executed(v, holds(self.a, less, a == b, !less && a != b));
}

HIDDEN int64_t __culprit_try_compare_real(int64_t v, double a, double b,
                                          int64_t is_unsigned, int64_t n) {
  (void)is_unsigned;
  bool ordered = a <= b || a >= b;
  self.report->relations |= a < b ? 1 : a > b ? 4 : ordered ? 2 : 8;
  if (self.change != CHANGE_COMPARE)
    return __culprit_try_test(v, n);
  return executed(v,
                  holds(self.a, a < b, ordered && !(a < b) && !(a > b), a > b));
}

// --- && and || --------------------------------------------------------------

// Both lead to one place if either operand says so; changed, if both do. The
// second operand is always asked for.
static bool first_leads;

HIDDEN int64_t __culprit_try_first(int64_t leads) {
  first_leads = leads;
  return 0;
}

HIDDEN int64_t __culprit_try_second(int64_t leads) {
  return executed(first_leads || leads, first_leads && leads);
}

// --- names ------------------------------------------------------------------

HIDDEN int64_t __culprit_try_name(int64_t v, int64_t n) {
  if (self.change != CHANGE_NAME || self.a < 0 || self.a >= n)
    return __culprit_try_value(v);
  return executed(v, __culprit_try_values[self.a]);
}

HIDDEN double __culprit_try_name_real(double v, int64_t n) {
  if (self.change != CHANGE_NAME || self.a < 0 || self.a >= n)
    return __culprit_try_value_real(v);
  double other;
  copy(&other, &__culprit_try_values[self.a], sizeof other);
  return executed_real(v, other);
}

// --- in front of statements -------------------------------------------------

// What a pointer leads to may not be there: the kernel reads and writes it.
static bool move_memory(long call, int64_t address, int64_t *value,
                        int64_t size) {
  struct {
    void *base;
    size_t len;
  } own = {value, (size_t)size}, other = {(void *)address, (size_t)size};
  long pid = CALL(SYS_getpid, 0, 0, 0);
  return call6(call, pid, (long)&own, 1, (long)&other, 1, 0) == size;
}

static int64_t extended(int64_t v, int64_t size) {
  int unused = (int)(64 - 8 * size);
  return (int64_t)((uint64_t)v << unused) >> unused;
}

// Pages that could be read and written once: no need to ask the kernel again.
static bool is_known_page(int64_t address, int64_t size) {
  enum { PAGES = 64, SHIFT = 12 };
  static int64_t known[PAGES];
  int64_t page = address >> SHIFT, v = 0;
  if (page <= 0 || page != (address + size - 1) >> SHIFT)
    return false;
  if (known[page % PAGES] == page)
    return true;
  if (!move_memory(SYS_process_vm_readv, address, &v, size) ||
      !move_memory(SYS_process_vm_writev, address, &v, size))
    return false;
  known[page % PAGES] = page;
  return true;
}

static bool move_value(bool writes, int64_t address, int64_t *value,
                       int64_t size) {
  if (!is_known_page(address, size))
    return move_memory(writes ? SYS_process_vm_writev : SYS_process_vm_readv,
                       address, value, size);
  if (writes)
    copy((void *)address, value, (size_t)size);
  else
    copy(value, (void *)address, (size_t)size);
  return true;
}

// A name with an address has its size as value so far.
static void read_memory(int64_t i, int64_t *sizes) {
  int64_t v = 0;
  sizes[i] = __culprit_try_addresses[i] ? __culprit_try_values[i] : 0;
  if (!sizes[i])
    return;
  bool there = move_value(false, __culprit_try_addresses[i], &v, sizes[i]);
  __culprit_try_values[i] = there ? extended(v, sizes[i]) : 0;
}

// Reads what the change needs: all to be told, else what is compared or set.
static void read_names(int64_t n, int64_t *sizes) {
  int64_t which = self.a & 0xff;
  bool always = (self.a >> 8 & 0xff) == TRY_ALWAYS;
  for (int64_t i = 0; i < n && self.change == CHANGE_NONE; i++)
    if (!self.report->full)
      read_memory(i, sizes);
  if (self.change == CHANGE_NONE || (self.change == CHANGE_LEAVE && always))
    return;
  if (which < n)
    read_memory(which, sizes);
  if (self.a & TRY_NAMED && self.b >= 0 && self.b < n && self.b != which)
    read_memory(self.b, sizes);
}

// X, and whether the condition holds.
static bool applies(int64_t n, int64_t *other) {
  int64_t which = self.a & 0xff, op = self.a >> 8 & 0xff;
  *other = self.b;
  if (which >= n)
    return false;
  if (self.a & TRY_NAMED)
    *other = self.b >= 0 && self.b < n ? __culprit_try_values[self.b] : 0;
  int64_t v = __culprit_try_values[which];
  return op == TRY_ALWAYS || holds(op, v < *other, v == *other, v > *other);
}

// The program stores a name that it reads itself; 0: there is nothing to store.
static int64_t assign(int64_t which, int64_t value, const int64_t *sizes) {
  executed(__culprit_try_values[which], value);
  __culprit_try_values[which] = value;
  if (!sizes[which])
    return which + 1;
  move_value(true, __culprit_try_addresses[which], &value, sizes[which]);
  return 0;
}

// -1: the function is left; else 1 + the name that the program stores.
HIDDEN int64_t __culprit_try_before(int64_t n) {
  int64_t sizes[TRY_NAMES_MOST], other;
  read_names(n, sizes);
  bool always = (self.a >> 8 & 0xff) == TRY_ALWAYS;
  switch (self.change) {
  case CHANGE_LEAVE:
    return executed(0, always || applies(n, &other) ? -1 : 0);
  case CHANGE_ASSIGN:
    if (applies(n, &other))
      return assign(self.a & 0xff, other, sizes);
    return executed(0, 0);
  default:
    log_values(0, n);
    return executed(0, 0);
  }
}

HIDDEN int64_t __culprit_try_leave(void) { return self.a >> 32; }

// --- the start --------------------------------------------------------------

static int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

static const char *take_id(const char *p, unsigned char *id) {
  for (int i = 0; i < 16; i++, p += 2) {
    if (digit(p[0]) < 0 || digit(p[1]) < 0)
      return NULL;
    id[i] = (unsigned char)(digit(p[0]) << 4 | digit(p[1]));
  }
  return p;
}

// ":-12"; NULL: there is no number.
static const char *take_number(const char *p, int64_t *out) {
  if (!p || *p++ != ':')
    return NULL;
  bool minus = *p == '-';
  p += minus;
  uint64_t v = 0;
  if (*p < '0' || *p > '9')
    return NULL;
  while (*p >= '0' && *p <= '9')
    v = v * 10 + (uint64_t)(*p++ - '0');
  *out = (int64_t)(minus ? -v : v);
  return p;
}

static bool same(const unsigned char *a, const unsigned char *b) {
  for (int i = 0; i < 16; i++)
    if (a[i] != b[i])
      return false;
  return true;
}

static void map_report(void) {
  const char *path =
      variable(TRY_REPORT_VARIABLE, sizeof TRY_REPORT_VARIABLE - 1);
  if (!path)
    return;
  long fd = CALL(SYS_open, path, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0)
    return;
  void *p = map_file(NULL, TRY_REPORT_SIZE, 0, (int)fd, 0);
  CALL(SYS_close, fd, 0, 0);
  if (!is_error(p))
    self.report = p;
}

// Memory that the program may write to now, in bytes: the sixth number there.
static uint64_t data_size(void) {
  enum { DATA = 5, PAGE = 4096 };
  char text[128];
  long fd = CALL(SYS_open, "/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
  long n = fd < 0 ? 0 : CALL(SYS_read, fd, text, sizeof text - 1);
  CALL(SYS_close, fd, 0, 0);
  text[n > 0 ? n : 0] = '\0';
  const char *p = text;
  for (int i = 0; i < DATA; i++) {
    while (*p && *p != ' ')
      p++;
    p += *p == ' ';
  }
  uint64_t pages = 0;
  for (; *p >= '0' && *p <= '9'; p++)
    pages = pages * 10 + (uint64_t)(*p - '0');
  return pages * PAGE;
}

static void set_limit(int what, uint64_t most) {
  struct rlimit limit = {most, most};
  call6(SYS_prlimit64, 0, what, (long)&limit, 0, 0, 0);
}

// Files may become as large as the memory: what a changed program writes is
// thrown away.
static void set_limits(int64_t megabytes) {
  uint64_t bytes = (uint64_t)megabytes << 20;
  if (megabytes <= 0)
    return;
  set_limit(RLIMIT_DATA, data_size() + bytes);
  set_limit(RLIMIT_FSIZE, bytes);
  set_limit(RLIMIT_CORE, 0);
}

static void select_site(const unsigned char *id, int64_t site) {
  for (TryUnit *u = __start_culprit_try; u < __stop_culprit_try; u++)
    if (same(u->id, id)) {
      u->selected = (uint32_t)site;
      self.report->known = 1;
    }
}

__attribute__((constructor(101))) static void start(void) {
  if (self.started)
    return;
  self.started = true;
  self.report = &nowhere;
  self.steps = __culprit_try_steps;
  const char *text = variable(TRY_VARIABLE, sizeof TRY_VARIABLE - 1);
  unsigned char id[16];
  int64_t site, change, steps, memory;
  if (!text || !is_own_user() || !(text = take_id(text, id)) ||
      !(text = take_number(text, &site)) ||
      !(text = take_number(text, &change)) ||
      !(text = take_number(text, &self.a)) ||
      !(text = take_number(text, &self.b)) ||
      !(text = take_number(text, &steps)) || !take_number(text, &memory))
    return;
  map_report();
  __atomic_add_fetch(&self.report->starts, 1, __ATOMIC_RELAXED);
  self.change = (TryChange)change;
  if (steps > 0)
    self.steps = __culprit_try_steps = steps;
  self.limited = site > 0;
  if (site > 0)
    select_site(id, site);
  set_limits(memory);
}
