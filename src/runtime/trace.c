// The recorder of a trace build: linked once into a program whose units were
// compiled for tracing (trace/trace_insert.h). Instrumented code appends to
// the stream by itself; here the stream is opened, grown and ended.
//
// CULPRIT_TRACE names the directory for the file PID-N.trace; without it the
// stream goes round in a small buffer and nothing is written.
// CULPRIT_TRACE_MAX: the largest stream, in bytes.
//
// The window's space in the file is taken before it is mapped, and a full
// window is written to the end of the file: a full disk ends the trace and not
// the program. A forked child gets a file of its own that begins with what its
// parent had recorded so far: every trace can be replayed from the start.
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

#include "system.h"
#include "trace_format.h"

#define HIDDEN __attribute__((visibility("hidden")))

enum {
  PATH_ROOM = 4096,
  FILES_PER_PROCESS = 1000,
};

extern const CulpritTraceUnit __start_culprit_trc[]
    __attribute__((weak)) HIDDEN;
extern const CulpritTraceUnit __stop_culprit_trc[] __attribute__((weak)) HIDDEN;
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void),
                             void *) __attribute__((weak));

extern void *stdout __attribute__((weak)); // of the C library

// Where the stream goes while nothing is recorded.
static char sink[4 * TRACE_SLACK];

// One page, mapped over by the file's first.
typedef union {
  TraceHeader h;
  char room[TRACE_PAGE];
} TracePage;
HIDDEN __attribute__((aligned(4096))) TracePage __culprit_trace = {
    .h = {.cursor = (uint64_t)(uintptr_t)sink,
          .limit = (uint64_t)(uintptr_t)(sink + sizeof sink - TRACE_SLACK),
          .outside = 1}};

static struct {
  bool started, recording;
  char path[PATH_ROOM + 64];
  char dir[PATH_ROOM];
} recorder;

// --- small things -----------------------------------------------------------

static uint64_t to_number(const char *s, uint64_t otherwise) {
  uint64_t v = 0;
  if (!s || *s < '0' || *s > '9')
    return otherwise;
  for (; *s >= '0' && *s <= '9' && v < UINT64_MAX / 100; s++)
    v = v * 10 + (uint64_t)(*s - '0');
  return v;
}

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
  p = put_number(p, (uint64_t)CALL(SYS_getpid, 0, 0, 0), 10);
  *p++ = '-';
  for (unsigned i = 0; i < FILES_PER_PROCESS; i++) {
    char *q = put_number(p, i, 10);
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

static uint64_t into_sink(void) {
  TraceHeader *h = &__culprit_trace.h;
  h->limit = (uint64_t)(uintptr_t)(sink + sizeof sink - TRACE_SLACK);
  return h->cursor = (uint64_t)(uintptr_t)sink;
}

// Appends the window to the stream and empties it. `more`: bytes behind the
// cursor to be written too.
static bool empty_window(uint64_t cursor, uint64_t more) {
  TraceHeader *h = &__culprit_trace.h;
  uint64_t n = cursor - h->base;
  long fd = CALL(SYS_open, recorder.path, O_RDWR | O_CLOEXEC, 0);
  bool good = fd >= 0 && !write_all((int)fd, (const void *)(uintptr_t)h->base,
                                    n + more, h->stream + h->end);
  if (fd >= 0)
    CALL(SYS_close, fd, 0, 0);
  h->cursor = h->base;
  if (good)
    h->end += n;
  return good;
}

// The stream ends here; the program goes on.
static uint64_t stop(uint32_t state, uint64_t cursor) {
  TraceHeader *h = &__culprit_trace.h;
  // Code that crashes may have written past the cursor.
  bool crashed = state == TRACE_DIED && !h->was_outside;
  if (!empty_window(cursor, crashed ? TRACE_PAGE : 0))
    h->flags |= TRACE_FLAG_DISK;
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
  if (h->end + (cursor - h->base) >= h->cap)
    return stop(TRACE_FULL, cursor);
  if (empty_window(cursor, 0))
    return h->cursor;
  h->flags |= TRACE_FLAG_DISK;
  h->state = TRACE_FULL;
  recorder.recording = false;
  return into_sink();
}

// Takes the space now: on a full disk a later store would be a SIGBUS.
static bool reserve(int fd, uint64_t from, uint64_t size) {
  long rc = call6(SYS_fallocate, fd, 0, (long)from, (long)size, 0, 0);
  if (rc != -EOPNOTSUPP && rc != -ENOSYS)
    return rc >= 0;
  for (uint64_t at = 0; at < size; at += sizeof sink)
    if (write_all(fd, sink, size - at < sizeof sink ? size - at : sizeof sink,
                  from + at))
      return false;
  return true;
}

#include "trace_seen.h"

// The stream of the parent, up to here.
static bool copy_stream(int fd, const char *from, const TraceHeader *h) {
  static char piece[65536];
  long in = CALL(SYS_open, from, O_RDONLY | O_CLOEXEC, 0);
  bool good = in >= 0;
  for (uint64_t at = 0; good && at < h->end;) {
    uint64_t want = h->end - at < sizeof piece ? h->end - at : sizeof piece;
    long got = call6(SYS_pread64, in, (long)piece, (long)want,
                     (long)(h->stream + at), 0, 0);
    good = got > 0 && !write_all(fd, piece, (size_t)got, h->stream + at);
    at += good ? (uint64_t)got : 0;
  }
  if (in >= 0)
    CALL(SYS_close, in, 0, 0);
  return good;
}

// Fills the file and maps its first page over the header, and the window (where
// the parent's was, in a forked child).
static bool fill_file(int fd, TracePage *page, const TracePage *parent,
                      const char *parent_path) {
  TraceHeader *h = &page->h;
  if (!reserve(fd, 0, h->stream) || write_units(fd))
    return false;
  void *where = NULL;
  if (parent) {
    where = (void *)(uintptr_t)parent->h.base;
    h->end = parent->h.end;
    if (!copy_stream(fd, parent_path, &parent->h))
      return false;
  }
  void *window =
      map_file(where, TRACE_WINDOW, parent ? MAP_FIXED : 0, fd, h->window);
  if (is_error(window))
    return false;
  h->base = (uint64_t)(uintptr_t)window;
  h->cursor = h->base; // the window of a parent was emptied
  h->limit = h->base + TRACE_WINDOW - TRACE_SLACK;
  return !write_all(fd, page, sizeof *page, 0) &&
         !is_error(map_file(&__culprit_trace, TRACE_PAGE, MAP_FIXED, fd, 0));
}

static bool open_file(uint64_t cap, const TracePage *parent) {
  static TracePage page; // what the first page will be
  static char parent_path[sizeof recorder.path];
  copy(parent_path, recorder.path, sizeof parent_path);
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
  h->outside = parent ? parent->h.outside : __culprit_trace.h.outside;
  h->window = units_size();
  h->stream = h->window + TRACE_WINDOW;
  h->cap = cap;
  h->nunits = (uint32_t)unit_count();
  h->changes = (parent ? parent->h.changes : __culprit_trace.h.changes) + 1;
  h->argc = parent ? parent->h.argc : 0;
  h->argv = parent ? parent->h.argv : 0;
  h->standard_out = &stdout ? (uint64_t)(uintptr_t)stdout : 0;
  CALL(SYS_readlink, "/proc/self/exe", h->module, sizeof h->module - 1);
  bool good = fill_file(fd, &page, parent, parent_path);
  CALL(SYS_close, fd, 0, 0);
  return good;
}

// --- ends -------------------------------------------------------------------

HIDDEN void __culprit_trace_restorer(void);
__asm__(".text\n"
        ".hidden __culprit_trace_restorer\n"
        ".type __culprit_trace_restorer,@function\n"
        ".globl __culprit_trace_restorer\n"
        "__culprit_trace_restorer:\n"
        "  movq $15, %rax\n"
        "  syscall\n"
        ".size __culprit_trace_restorer, .-__culprit_trace_restorer\n");

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

// Parent and child share page and window: what the child starts from is put
// aside before there is one.
static TracePage before_fork;

static void about_to_fork(void) {
  TraceHeader *h = &__culprit_trace.h;
  if (!recorder.recording)
    return;
  if (!empty_window(h->cursor, 0)) {
    h->flags |= TRACE_FLAG_DISK;
    stop(TRACE_FULL, h->cursor);
  }
  copy(&before_fork, &__culprit_trace, sizeof before_fork);
}

static void forked(void) {
  if (!recorder.recording)
    return;
  if (open_file(before_fork.h.cap, &before_fork))
    return;
  // The parent's page must not be touched any more.
  recorder.recording = false;
  call6(SYS_mmap, (long)&__culprit_trace, TRACE_PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  copy(&__culprit_trace, &before_fork, sizeof before_fork);
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

static uint64_t count(char **list) {
  uint64_t n = 0;
  while (list[n])
    n++;
  return n;
}

// Arguments and environment, as the kernel has put them: pointers, then one
// block of strings.
static void record_arguments(int argc, char **argv, char **envp) {
  find_stack(__builtin_frame_address(0));
  if (argc <= 0 || !argv || !argv[0] || !envp)
    return;
  uint64_t n = count(envp);
  __culprit_trace.h.argc = (uint64_t)argc;
  __culprit_trace.h.argv = (uint64_t)(uintptr_t)argv;
  const char *first = argv[0], *last = n ? envp[n - 1] : argv[argc - 1];
  __culprit_trace_wrote((const char *)argv, (uint64_t)(argc + 1) * 8);
  __culprit_trace_wrote((const char *)envp, (n + 1) * 8);
  for (int i = 0; i < argc; i++)
    if (argv[i] < first || argv[i] > last) // the program has moved them
      __culprit_trace_wrote_text(argv[i]);
  if (last >= first)
    __culprit_trace_wrote(first, (uint64_t)(last - first) + length(last) + 1);
}

// Before this the stream goes to the sink too: what runs then is not recorded,
// and TRACE_ENTER makes a beginning wherever one is needed.
__attribute__((constructor(101))) static void start(int argc, char **argv,
                                                    char **envp) {
  if (recorder.started)
    return;
  recorder.started = true;
  const char *dir = variable("CULPRIT_TRACE", 13);
  if (!dir || *dir != '/' || !unit_count() || length(dir) >= PATH_ROOM)
    return;
  if (!is_own_user())
    return;
  copy(recorder.dir, dir, length(dir) + 1);
  uint64_t cap =
      to_number(variable("CULPRIT_TRACE_MAX", 17), TRACE_DEFAULT_MAX);
  if (!open_file(cap, NULL))
    return;
  recorder.recording = true;
  hook_signals();
  if (__register_atfork)
    __register_atfork(about_to_fork, NULL, forked, NULL);
  record_arguments(argc, argv, envp);
}

// Destructors of higher priority and exit handlers have run by now.
__attribute__((destructor(101))) static void finish(void) {
  if (recorder.recording)
    stop(TRACE_ENDED, __culprit_trace.h.cursor);
}
