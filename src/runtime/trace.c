// The recorder of a trace build: linked once into a program whose units were
// compiled for tracing (cfront/trace_insert.h). Instrumented code appends to
// the stream by itself; here the stream is opened, grown and ended.
//
// CULPRIT_TRACE names the directory for the file PID-N.trace; without it the
// stream goes round in a small buffer and nothing is written.
// CULPRIT_TRACE_MAX: the largest stream, in bytes.
//
// The file grows piece by piece; each piece is allocated before it is mapped,
// so that a full disk ends the trace and not the program. A forked child gets a
// file of its own that begins with what its parent had recorded so far: every
// trace can be replayed from the start.
//
// Rules of a guest: no libc but weak references, system calls made directly,
// no heap, no output, no descriptor left open.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "trace_format.h"

#ifndef __x86_64__
#error "the runtime knows x86-64 only"
#endif

#define HIDDEN __attribute__((visibility("hidden")))

enum {
  PATH_ROOM = 4096,
  FILES_PER_PROCESS = 1000,
  SA_RESTORER_ = 0x04000000,
  FIRST_PIECE = 1 << 18,
  LARGEST_PIECE = 1 << 25,
};

extern const CulpritTraceUnit __start_culprit_trc[] __attribute__((weak))
HIDDEN;
extern const CulpritTraceUnit __stop_culprit_trc[] __attribute__((weak)) HIDDEN;
extern char **environ __attribute__((weak));
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void),
                             void *) __attribute__((weak));

// Where the stream goes while nothing is recorded.
static char sink[4 * TRACE_SLACK];

// One page, mapped over by the file's first.
typedef union {
  TraceHeader h;
  char room[TRACE_PAGE];
} Page;
HIDDEN __attribute__((aligned(4096))) Page __culprit_trace = {
    .h = {.cursor = (uint64_t)(uintptr_t)sink,
          .limit = (uint64_t)(uintptr_t)(sink + sizeof sink - TRACE_SLACK),
          .outside = 1}};

static struct {
  bool started, recording;
  uint64_t base;   // of the reserved addresses
  uint64_t mapped; // bytes of stream that are in the file and mapped
  uint64_t piece;  // size of the next one
  char path[PATH_ROOM + 64];
  char dir[PATH_ROOM];
} recorder;

// --- small things -----------------------------------------------------------

static long call6(long n, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#define CALL(n, a, b, c) call6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)

static void copy(void *to, const void *from, size_t n) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void clear(void *at, size_t n) {
  __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(0) : "memory");
}

static size_t length(const char *s) {
  size_t n = 0;
  while (s[n])
    n++;
  return n;
}

static const char *variable(const char *name) {
  size_t n = length(name);
  if (!&environ || !environ)
    return NULL;
  for (char **e = environ; *e; e++) {
    size_t i = 0;
    while (i < n && (*e)[i] == name[i])
      i++;
    if (i == n && (*e)[n] == '=')
      return *e + n + 1;
  }
  return NULL;
}

static uint64_t to_number(const char *s, uint64_t otherwise) {
  uint64_t v = 0;
  if (!s || *s < '0' || *s > '9')
    return otherwise;
  for (; *s >= '0' && *s <= '9' && v < UINT64_MAX / 100; s++)
    v = v * 10 + (uint64_t)(*s - '0');
  return v;
}

static char *put_number(char *p, uint64_t v) {
  char digits[20];
  int n = 0;
  do
    digits[n++] = (char)('0' + v % 10);
  while (v /= 10);
  while (n)
    *p++ = digits[--n];
  return p;
}

static bool is_error(long p) { return (unsigned long)p > -4096ul; }

static size_t unit_count(void) {
  return (size_t)(__stop_culprit_trc - __start_culprit_trc);
}

// --- the file ---------------------------------------------------------------

static int create(void) {
  size_t n = length(recorder.dir);
  char *p = recorder.path;
  copy(p, recorder.dir, n);
  p += n;
  *p++ = '/';
  p = put_number(p, (uint64_t)CALL(SYS_getpid, 0, 0, 0));
  *p++ = '-';
  for (unsigned i = 0; i < FILES_PER_PROCESS; i++) {
    char *q = put_number(p, i);
    copy(q, ".trace", 7);
    long fd = CALL(SYS_open, recorder.path,
                   O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd != -EEXIST)
      return (int)fd;
  }
  return -EEXIST;
}

static size_t units_size(void) {
  size_t size = TRACE_PAGE;
  for (size_t i = 0; i < unit_count(); i++)
    size += sizeof(TraceUnit) + __start_culprit_trc[i].nvalues * 8ul;
  return (size + TRACE_PAGE - 1) & ~(size_t)(TRACE_PAGE - 1);
}

static long write_all(int fd, const void *from, size_t n, uint64_t at) {
  while (n) {
    long got = call6(SYS_pwrite64, fd, (long)from, (long)n, (long)at, 0, 0);
    if (got <= 0)
      return -1;
    from = (const char *)from + got;
    n -= (size_t)got;
    at += (uint64_t)got;
  }
  return 0;
}

static long write_units(int fd) {
  uint64_t at = TRACE_PAGE;
  for (size_t i = 0; i < unit_count(); i++) {
    const CulpritTraceUnit *u = &__start_culprit_trc[i];
    TraceUnit out = {.number = u->number, .nvalues = u->nvalues};
    copy(out.id, u->id, sizeof out.id);
    if (write_all(fd, &out, sizeof out, at) ||
        write_all(fd, u->values, u->nvalues * 8ul, at + sizeof out))
      return -1;
    at += sizeof out + u->nvalues * 8ul;
  }
  return 0;
}

// More of the file behind what is mapped. False: no space.
static bool grow(int fd) {
  TraceHeader *h = &__culprit_trace.h;
  uint64_t size = recorder.piece, at = recorder.mapped;
  if (size > h->cap + 2 * TRACE_SLACK - at)
    size = h->cap + 2 * TRACE_SLACK - at;
  size = (size + TRACE_PAGE - 1) & ~(uint64_t)(TRACE_PAGE - 1);
  long rc =
      call6(SYS_fallocate, fd, 0, (long)(h->stream + at), (long)size, 0, 0);
  if (rc < 0 && rc != -EOPNOTSUPP && rc != -ENOSYS)
    return false;
  if (rc < 0 && CALL(SYS_ftruncate, fd, h->stream + at + size, 0))
    return false;
  long p = call6(SYS_mmap, (long)(recorder.base + at), (long)size,
                 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
                 fd, (long)(h->stream + at));
  if (is_error(p))
    return false;
  recorder.mapped = at + size;
  if (recorder.piece < LARGEST_PIECE)
    recorder.piece *= 2;
  h->limit = recorder.base + recorder.mapped - TRACE_SLACK;
  return true;
}

static uint64_t into_sink(void) {
  TraceHeader *h = &__culprit_trace.h;
  h->limit = (uint64_t)(uintptr_t)(sink + sizeof sink - TRACE_SLACK);
  return h->cursor = (uint64_t)(uintptr_t)sink;
}

// The stream ends here; the program goes on.
static uint64_t stop(uint32_t state, uint64_t cursor) {
  TraceHeader *h = &__culprit_trace.h;
  h->end = cursor - recorder.base;
  h->state = state;
  recorder.recording = false;
  return into_sink();
}

// Called when the cursor is beyond the limit.
HIDDEN __attribute__((preserve_most)) uint64_t
__culprit_trace_full(uint64_t cursor) {
  TraceHeader *h = &__culprit_trace.h;
  if (!recorder.recording)
    return into_sink();
  if (cursor - recorder.base >= h->cap)
    return stop(TRACE_FULL, cursor);
  long fd = CALL(SYS_open, recorder.path, O_RDWR | O_CLOEXEC, 0);
  bool more = fd >= 0 && grow((int)fd);
  if (fd >= 0)
    CALL(SYS_close, fd, 0, 0);
  if (more)
    return cursor;
  h->flags |= TRACE_FLAG_DISK;
  return stop(TRACE_FULL, cursor);
}

// Makes a file and maps its first page over the header. `have` bytes at the
// start of the stream are there already, in the mapping of the parent.
static bool open_file(uint64_t cap, uint64_t have) {
  static Page page; // what the first page will be
  int fd = create();
  if (fd < 0)
    return false;
  clear(&page, sizeof page);
  TraceHeader *h = &page.h;
  h->magic = TRACE_MAGIC;
  h->version = TRACE_VERSION;
  h->flags = __start_culprit_trc[0].flags;
  h->pid = (uint32_t)CALL(SYS_getpid, 0, 0, 0);
  h->ppid = (uint32_t)CALL(SYS_getppid, 0, 0, 0);
  h->state = TRACE_RUNNING;
  h->outside = __culprit_trace.h.outside;
  h->base = recorder.base;
  h->cursor = recorder.base + have;
  h->stream = units_size();
  h->cap = cap;
  h->nunits = (uint32_t)unit_count();
  CALL(SYS_readlink, "/proc/self/exe", h->module, sizeof h->module - 1);
  bool ok =
      !write_all(fd, &page, sizeof page, 0) && !write_units(fd) &&
      !write_all(fd, (const void *)(uintptr_t)recorder.base, have, h->stream);
  ok = ok &&
       !is_error(call6(SYS_mmap, (long)&__culprit_trace, TRACE_PAGE,
                       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
  recorder.mapped = 0;
  recorder.piece = FIRST_PIECE;
  while (ok && recorder.mapped < have + TRACE_SLACK)
    ok = grow(fd);
  CALL(SYS_close, fd, 0, 0);
  return ok;
}

// --- ends -------------------------------------------------------------------

struct KernelAction {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};

HIDDEN void __culprit_trace_restorer(void);
__asm__(".text\n"
        ".hidden __culprit_trace_restorer\n"
        ".type __culprit_trace_restorer,@function\n"
        ".globl __culprit_trace_restorer\n"
        "__culprit_trace_restorer:\n"
        "  movq $15, %rax\n"
        "  syscall\n"
        ".size __culprit_trace_restorer, .-__culprit_trace_restorer\n");

static long set_action(int sig, const struct KernelAction *new,
                       struct KernelAction *old) {
  return call6(SYS_rt_sigaction, sig, (long)new, (long)old, 8, 0, 0);
}

static void fatal(int sig, siginfo_t *info, void *context) {
  TraceHeader *h = &__culprit_trace.h;
  if (recorder.recording) {
    h->signal = (uint32_t)sig;
    h->code = info->si_code;
    h->fault = (uint64_t)(uintptr_t)info->si_addr;
    h->pc = (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    h->was_outside = h->outside;
    stop(TRACE_DIED, h->cursor);
  }
  struct KernelAction standard;
  clear(&standard, sizeof standard);
  set_action(sig, &standard, NULL);
  // A fault happens again by itself; a signal that was sent must be sent again.
  if (info->si_code <= 0)
    CALL(SYS_tgkill, CALL(SYS_getpid, 0, 0, 0), CALL(SYS_gettid, 0, 0, 0), sig);
}

static void hook_signals(void) {
  static const unsigned char signals[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                                          SIGABRT, SIGTRAP, SIGSYS};
  struct KernelAction hook = {.handler = fatal,
                              .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER_,
                              .restorer = __culprit_trace_restorer};
  for (size_t i = 0; i < sizeof signals; i++) {
    struct KernelAction old;
    clear(&old, sizeof old);
    if (!set_action(signals[i], NULL, &old) && !old.handler)
      set_action(signals[i], &hook, NULL);
  }
}

static void forked(void) {
  if (!recorder.recording)
    return;
  TraceHeader *h = &__culprit_trace.h;
  uint64_t have = h->cursor - recorder.base, cap = h->cap;
  Page saved;
  copy(&saved, &__culprit_trace, sizeof saved);
  if (open_file(cap, have))
    return;
  // The parent's page must not be touched any more.
  recorder.recording = false;
  call6(SYS_mmap, (long)&__culprit_trace, TRACE_PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  copy(&__culprit_trace, &saved, sizeof saved);
  into_sink();
}

// A thread is about to be started: two would write to one stream.
HIDDEN void __culprit_trace_threads(void) {
  if (recorder.recording)
    stop(TRACE_THREADED, __culprit_trace.h.cursor);
}

// --- what a call has written ------------------------------------------------

HIDDEN void __culprit_trace_wrote(const char *at, uint64_t n) {
  enum { LARGEST = TRACE_SLACK / 2 };
  TraceHeader *h = &__culprit_trace.h;
  while (n && at) {
    uint32_t now = n > LARGEST ? LARGEST : (uint32_t)n;
    char *p = (char *)(uintptr_t)h->cursor;
    uint64_t address = (uint64_t)(uintptr_t)at;
    *p = (char)TRACE_WROTE;
    copy(p + 1, &address, 8);
    copy(p + 9, &now, 4);
    copy(p + 13, at, now);
    h->cursor += 13 + now;
    if (h->cursor > h->limit)
      h->cursor = __culprit_trace_full(h->cursor);
    at += now;
    n -= now;
  }
}

HIDDEN void __culprit_trace_wrote_text(const char *at) {
  if (at)
    __culprit_trace_wrote(at, length(at) + 1);
}

// --- start ------------------------------------------------------------------

// Before this the stream goes to the sink too: what runs then is not recorded,
// and TRACE_ENTER makes a beginning wherever one is needed.
__attribute__((constructor(101))) static void start(void) {
  if (recorder.started)
    return;
  recorder.started = true;
  const char *dir = variable("CULPRIT_TRACE");
  if (!dir || *dir != '/' || !unit_count() || length(dir) >= PATH_ROOM)
    return;
  if (CALL(SYS_getuid, 0, 0, 0) != CALL(SYS_geteuid, 0, 0, 0) ||
      CALL(SYS_getgid, 0, 0, 0) != CALL(SYS_getegid, 0, 0, 0))
    return; // a set-user-id program does not write where its caller says
  copy(recorder.dir, dir, length(dir) + 1);
  uint64_t cap = to_number(variable("CULPRIT_TRACE_MAX"), TRACE_DEFAULT_MAX);
  cap = (cap + TRACE_SLACK + TRACE_PAGE - 1) & ~(uint64_t)(TRACE_PAGE - 1);
  long base = call6(SYS_mmap, 0, (long)(cap + 4 * TRACE_SLACK), PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(base))
    return;
  recorder.base = (uint64_t)base;
  recorder.recording = true;
  if (!open_file(cap, 0)) {
    recorder.recording = false;
    __culprit_trace.h.outside = 1;
    into_sink();
    return;
  }
  hook_signals();
  if (__register_atfork)
    __register_atfork(NULL, NULL, forked, NULL);
}

// Destructors of higher priority and exit handlers have run by now.
__attribute__((destructor(101))) static void finish(void) {
  if (recorder.recording)
    stop(TRACE_ENDED, __culprit_trace.h.cursor);
}
