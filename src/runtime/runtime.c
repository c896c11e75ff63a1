// The part of culprit that runs inside the tested program. culprit-cc puts it,
// as assembly, into every object file; the linker keeps one copy per program or
// shared library, whichever linker is used.
//
// At start, if CULPRIT_RUN names a directory, it makes a run file there and
// maps it over the counters (see format.h). From then on counting is a store to
// memory, and nothing needs to be saved at the end: exit, _exit, abort, a
// crash, SIGKILL all leave the same file. (At exit the runtime only checks
// whether the program has mapped something else over the counters.) A forked
// child gets a file of its own. Where that fails (chroot, no space), it goes on
// counting in its parent's file, and nothing is lost; vfork children always do
// so.
//
// Rules of a guest: no libc but weak references, system calls made directly
// (errno stays untouched), no heap, no output, no descriptor left open, nothing
// at all when the variable is absent. If anything fails, the program runs on
// and its counters go nowhere.
//
// If CULPRIT_CLOSE names a directory in which there is another build of this
// program, made for a closer look (close_name.h), the process becomes that
// one before anything else.
//
// Fatal signals whose action the program left at its default get a hook that
// saves what the tool needs to unwind: of registers and stack the addresses of
// code and stack, of the memory map the modules. Nothing else is kept: what the
// program works on never gets into a run file. Then the signal does what it
// would have done. Sanitizers end a process in their own way: they offer a call
// for that.
//
// CULPRIT_SAMPLE=N records one start in N, chosen at random.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>

#include "close_name.h"
#include "format.h"
#include "segment_format.h"
#include "system.h"

enum {
  PATH_MAX_ = 4096,
  FILES_PER_PROCESS = 100,
  SEGMENT_BUFFER = 65536,
  SEGMENT_NAME = 1024, // longer names are cut
};

// From the linker; hidden, so each module sees its own.
extern char __start_culprit_cnt[] __attribute__((weak, visibility("hidden")));
extern char __stop_culprit_cnt[] __attribute__((weak, visibility("hidden")));
extern const CulpritUnit __start_culprit_units[]
    __attribute__((weak, visibility("hidden")));
extern const CulpritUnit __stop_culprit_units[]
    __attribute__((weak, visibility("hidden")));
extern const Elf64_Ehdr __ehdr_start
    __attribute__((weak, visibility("hidden")));
extern void *__dso_handle __attribute__((weak, visibility("hidden")));
// Of a close build (pair_recorder.c): what it recorded begins anew.
extern void __culprit_close_begin(void)
    __attribute__((weak, visibility("hidden")));

// From libc, where there is one.
extern unsigned long getauxval(unsigned long) __attribute__((weak));
extern int __cxa_atexit(void (*)(void *), void *, void *) __attribute__((weak));
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void),
                             void *) __attribute__((weak));
extern void __sanitizer_set_death_callback(void (*)(void))
    __attribute__((weak));
extern const char *gnu_get_libc_version(void) __attribute__((weak));
typedef struct {
  const char *file;
  void *base;
  const char *symbol;
  void *address;
} DlInfo;
extern int dladdr(const void *, DlInfo *) __attribute__((weak));

bool __culprit_started;
RunHeader *__culprit_header; // the mapped file; NULL: nothing is recorded
char __culprit_dir[PATH_MAX_];
uint64_t __culprit_page[RUNFILE_PAGE / 8];
bool __culprit_checking;
char __culprit_buffer[SEGMENT_BUFFER];

INLINE size_t counters_size(void) {
  return (size_t)(__stop_culprit_cnt - __start_culprit_cnt);
}

INLINE size_t unit_count(void) {
  return (size_t)(__stop_culprit_units - __start_culprit_units);
}

INLINE size_t to_page(size_t n) {
  return (n + RUNFILE_PAGE - 1) & ~(size_t)(RUNFILE_PAGE - 1);
}

// DIR/PID-UNIT. Returns the end of it.
INLINE char *put_path(char *path) {
  size_t n = length(__culprit_dir);
  copy(path, __culprit_dir, n);
  char *p = path + n;
  *p++ = '/';
  p = put_number(p, (uint64_t)CALL(SYS_getpid, 0, 0, 0), 10);
  *p++ = '-';
  uint64_t id;
  copy(&id, __start_culprit_units[0].id, sizeof id);
  return put_number(p, id, 16);
}

// DIR/PID-UNIT-N.run, N the first that is free: after exec the process has the
// same number, and the unit distinguishes a program from its libraries.
__attribute__((noinline)) int __culprit_create(void) {
  char path[PATH_MAX_ + 64];
  char *p = put_path(path);
  *p++ = '-';
  for (unsigned i = 0; i < FILES_PER_PROCESS; i++) {
    char *q = put_number(p, i, 10);
    copy(q, ".run", 5);
    long fd = CALL(SYS_open, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd != -EEXIST)
      return (int)fd;
  }
  return -EEXIST;
}

// Takes the space now: on a full disk a later store would be a SIGBUS.
INLINE bool reserve(int fd, size_t size) {
  long rc = call6(SYS_fallocate, fd, 0, 0, (long)size, 0, 0);
  if (rc != -EOPNOTSUPP && rc != -ENOSYS)
    return rc >= 0;
  char zero = 0;
  for (size_t at = 0; at < size; at += RUNFILE_PAGE)
    if (call6(SYS_pwrite64, fd, (long)&zero, 1, (long)at, 0, 0) != 1)
      return false;
  return true;
}

// Is this module the program itself? (If we cannot tell: yes.)
INLINE bool is_program(void) {
  if (!getauxval || !&__ehdr_start)
    return true;
  uintptr_t headers = (uintptr_t)getauxval(3 /* AT_PHDR */);
  return headers == (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff;
}

// The loader looks for libraries relative to the directory the program starts
// in (LD_LIBRARY_PATH=.).
INLINE size_t put_directory(char *module) {
  long n = CALL(SYS_getcwd, module, sizeof((RunHeader *)0)->module - 1, 0);
  if (n <= 0)
    return 0;
  module[n - 1] = '/'; // n counts the NUL
  return (size_t)n;
}

INLINE void name_module(RunHeader *h) {
  DlInfo info;
  clear(&info, sizeof info);
  if (!is_program() && dladdr && dladdr(&__culprit_started, &info) &&
      info.file) {
    size_t at = *info.file == '/' ? 0 : put_directory(h->module);
    size_t n = length(info.file);
    if (at + n < sizeof h->module)
      copy(h->module + at, info.file, n);
    return;
  }
  // Cut if too long: the reader finds the unit unknown and says so.
  CALL(SYS_readlink, "/proc/self/exe", h->module, sizeof h->module - 1);
}

INLINE void list_units(RunHeader *h) {
  RunUnit *out = (RunUnit *)(h + 1);
  for (size_t i = 0; i < h->nunits; i++) {
    const CulpritUnit *u = &__start_culprit_units[i];
    const char *counters = (const char *)&u->counters + u->counters;
    copy(out[i].id, u->id, sizeof u->id);
    out[i].offset = h->counters + (uint64_t)(counters - __start_culprit_cnt);
    out[i].ncounters = u->ncounters;
    out[i].counter_size = u->counter_size;
  }
}

// What was counted before we started (constructors of other priority, ifunc
// resolvers) goes into the file too.
INLINE void keep_early_counts(char *to) {
  const uint64_t *from = (const uint64_t *)__start_culprit_cnt;
  for (size_t i = 0; i < counters_size() / sizeof *from; i++)
    if (from[i])
      ((uint64_t *)to)[i] = from[i];
}

// The size of the file that the variable names; -1: not known.
INLINE int64_t size_of_output(const char *name, size_t n) {
  const char *path = variable(name, n);
  struct stat s;
  clear(&s, sizeof s);
  return path && !CALL(SYS_stat, path, &s, 0) ? s.st_size : -1;
}

INLINE uint64_t clock_now(void) {
  struct timespec now = {0};
  CALL(SYS_clock_gettime, CLOCK_MONOTONIC, &now, 0);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Makes a run file and maps it over the counters. `early`: counts made so far
// belong to this process (not to the parent it was forked from).
__attribute__((noinline)) void __culprit_open(bool early) {
  size_t head = to_page(sizeof(RunHeader) + unit_count() * sizeof(RunUnit));
  size_t death = head + counters_size();
  size_t size = death + RUNFILE_STACK + RUNFILE_MAPS;
  int fd = __culprit_create();
  if (fd < 0)
    return;
  RunHeader *h = (void *)-1l;
  if (reserve(fd, death) && !CALL(SYS_ftruncate, fd, size, 0))
    h = map_file(NULL, size, 0, fd, 0);
  if (is_error(h)) {
    CALL(SYS_ftruncate, fd, 0, 0); // an empty file tells that we were here
    CALL(SYS_close, fd, 0, 0);
    return;
  }
  h->version = RUNFILE_VERSION;
  h->state = RUN_STARTED;
  h->pid = (uint32_t)CALL(SYS_getpid, 0, 0, 0);
  h->ppid = (uint32_t)CALL(SYS_getppid, 0, 0, 0);
  h->nunits = (uint32_t)unit_count();
  h->counters = head;
  h->counters_size = counters_size();
  h->death = death;
  h->ehdr = (uint64_t)(uintptr_t)&__ehdr_start;
  h->started = clock_now();
  h->session = (uint32_t)CALL(SYS_getsid, 0, 0, 0);
  h->out = size_of_output("CULPRIT_STDOUT", 14);
  h->err = size_of_output("CULPRIT_STDERR", 14);
  name_module(h);
  list_units(h);
  if (early)
    keep_early_counts((char *)h + head);
  h->magic = RUNFILE_MAGIC; // last: a file without it is not finished
  void *at =
      map_file(__start_culprit_cnt, counters_size(), MAP_FIXED, fd, head);
  CALL(SYS_close, fd, 0, 0);
  if (is_error(at))
    return;
  __culprit_header = h;
}

void __culprit_forked(void) {
  if (!__culprit_header)
    return;
  __culprit_open(false);
  if (&__culprit_close_begin)
    __culprit_close_begin();
}

// --- are the counters still ours? -------------------------------------------

// Copies between two places of this process by a system call: what is not
// mapped, or not to be written, is an error and no signal.
INLINE long copy_checked(long call, void *to, const void *from, size_t n) {
  bool reads = call == SYS_process_vm_readv;
  struct iovec local = {reads ? to : (void *)from, n};
  struct iovec remote = {reads ? (void *)from : to, n};
  return call6(call, CALL(SYS_getpid, 0, 0, 0), (long)&local, 1, (long)&remote,
               1, 0);
}

// Counters only grow. Two views of the same memory, read one after the other,
// differ by what was counted in between; those of different memory otherwise.
INLINE bool same_page(const uint64_t *counters, const volatile uint64_t *file) {
  for (size_t i = 0; i < RUNFILE_PAGE / 8; i++) {
    uint64_t before = __culprit_page[i], in_file = file[i], after;
    if (before == in_file)
      continue;
    long got = copy_checked(SYS_process_vm_readv, &after, counters + i, 8);
    if (got != 8 || before > in_file || in_file > after)
      return false;
  }
  return true;
}

INLINE bool is_remapped(const RunHeader *h) {
  const char *file = (const char *)h + h->counters;
  for (size_t at = 0; at < counters_size(); at += RUNFILE_PAGE) {
    long got = copy_checked(SYS_process_vm_readv, __culprit_page,
                            __start_culprit_cnt + at, RUNFILE_PAGE);
    if (got < 0 && got != -EFAULT)
      return false; // the system does not let us look
    if (got != RUNFILE_PAGE ||
        !same_page((const uint64_t *)(__start_culprit_cnt + at),
                   (const volatile uint64_t *)(file + at)))
      return true;
  }
  return false;
}

// A program may map memory over its own data, or unmap it: what it counts there
// goes nowhere. The file is mapped a second time, with its header, and tells.
// Looked at when the process ends by exit or a fatal signal; who ends otherwise
// is not asked.
__attribute__((noinline)) void __culprit_check(void *unused) {
  (void)unused;
  RunHeader *h = __culprit_header;
  uint64_t magic = 0;
  uint32_t flags = RUN_REMAPPED;
  if (!h || __atomic_exchange_n(&__culprit_checking, true, __ATOMIC_SEQ_CST))
    return;
  copy_checked(SYS_process_vm_readv, &magic, &h->magic, sizeof magic);
  uint64_t now = clock_now();
  if (magic == RUNFILE_MAGIC)
    copy_checked(SYS_process_vm_writev, &h->ended, &now, sizeof now);
  if (magic == RUNFILE_MAGIC && is_remapped(h))
    copy_checked(SYS_process_vm_writev, &h->flags, &flags, sizeof flags);
  __atomic_store_n(&__culprit_checking, false, __ATOMIC_SEQ_CST);
}

// --- segments ---------------------------------------------------------------

// Other modules of the process find __culprit_cut by this note.
__asm__(".pushsection .note.culprit,\"aG\",@note,__culprit_cut,comdat\n"
        "  .balign 4\n"
        "  .long 8, 8, 1\n"
        "  .asciz \"culprit\"\n"
        "  .quad __culprit_cut - .\n"
        ".popsection\n");

INLINE bool append(const void *data, size_t n) {
  char path[PATH_MAX_ + 64];
  copy(put_path(path), ".seg", 5);
  long fd =
      CALL(SYS_open, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0)
    return false;
  long done = CALL(SYS_write, fd, data, n);
  CALL(SYS_close, fd, 0, 0);
  return done == (long)n;
}

// Writes the record with its words, and only then clears what they were: on a
// full disk nothing is lost, the segment then has no end.
INLINE void write_record(SegmentRecord *r, SegmentWord *words) {
  uint64_t *counters = (uint64_t *)__start_culprit_cnt;
  r->size = (uint32_t)((char *)(words + r->nwords) - (char *)r);
  if (!append(r, r->size)) {
    __culprit_header->flags |= RUN_UNCUT;
    return;
  }
  for (uint32_t i = 0; i < r->nwords; i++)
    if (counters[words[i].index] == words[i].value)
      counters[words[i].index] = 0;
}

// The name follows the record; returns where its words begin.
INLINE SegmentWord *put_name(SegmentRecord *r, const char *name) {
  size_t n = name ? length(name) : 0;
  n = n < SEGMENT_NAME ? n : SEGMENT_NAME;
  r->name_size = (uint32_t)n;
  copy(r + 1, name, n);
  return (SegmentWord *)((char *)(r + 1) + ((n + 7) & ~(size_t)7));
}

void __culprit_cut(const SegmentRecord *mark, const char *name) {
  if (!__culprit_header)
    return;
  const uint64_t *counters = (const uint64_t *)__start_culprit_cnt;
  SegmentRecord *r = (SegmentRecord *)__culprit_buffer;
  const char *end = __culprit_buffer + sizeof __culprit_buffer;
  copy(r, mark, sizeof *r);
  SegmentWord *words = put_name(r, name);
  size_t room = (size_t)(end - (const char *)words) / sizeof *words;
  r->nwords = 0;
  for (size_t i = 0; i < counters_size() / sizeof *counters; i++) {
    if (!counters[i])
      continue;
    if (r->nwords == room) {
      r->kind = SEGMENT_MORE;
      write_record(r, words);
      r->kind = mark->kind;
      r->nwords = 0;
    }
    words[r->nwords].index = i;
    words[r->nwords++].value = counters[i];
  }
  write_record(r, words);
  if (&__culprit_close_begin)
    __culprit_close_begin();
}

// --- the fatal-signal hook --------------------------------------------------

void __culprit_restorer(void);
__asm__(".pushsection .text.__culprit_restorer,\"axG\",@progbits,"
        "__culprit_restorer,comdat\n"
        ".weak __culprit_restorer\n"
        ".hidden __culprit_restorer\n"
        ".type __culprit_restorer,@function\n"
        "__culprit_restorer:\n"
        "  movq $15, %rax\n"
        "  syscall\n"
        ".size __culprit_restorer, .-__culprit_restorer\n"
        ".popsection\n");

// In the buffer of segments, which a dying process does not need: the memory
// map, where code is, and a page of the stack. What is copied from there to the
// file is reduced already: a process may be killed between two instructions.
enum { CODE_AT = RUNFILE_MAPS, CODE_MOST = 1024, PAGE_AT = CODE_AT + 16384 };

typedef struct {
  uint64_t from, to;
} CodeRange;

// One line of /proc/self/maps.
typedef struct {
  const char *text, *path; // path: up to the end; "" if it is no file's
  size_t size, path_size;
  uint64_t offset;
  CodeRange range;
  bool code;
} MapLine;

INLINE const char *get_hex(const char *p, uint64_t *v) {
  for (*v = 0;; p++) {
    unsigned c = (unsigned char)*p;
    unsigned digit = c - '0' < 10 ? c - '0' : c - 'a' < 6 ? c - 'a' + 10 : 16;
    if (digit == 16)
      return p;
    *v = *v << 4 | digit;
  }
}

// "55d0c0a00000-55d0c0a01000 r-xp 00001000 08:01 1234   /usr/bin/prog\n".
// False: there is no whole line.
INLINE bool next_line(const char **at, const char *end, MapLine *l) {
  const char *p = *at, *stop = p;
  while (stop < end && *stop != '\n')
    stop++;
  if (stop == end)
    return false;
  l->text = p;
  l->size = (size_t)(stop + 1 - p);
  *at = stop + 1;
  p = get_hex(p, &l->range.from);
  p = get_hex(p + (*p == '-'), &l->range.to);
  l->code = stop - p > 4 && p[3] == 'x';
  for (int field = 0; field < 2; field++) { // to the mode, to the offset
    while (p < stop && *p == ' ')
      p++;
    while (field == 0 && p < stop && *p != ' ')
      p++;
  }
  get_hex(p, &l->offset);
  while (p < stop && *p != '/')
    p++;
  l->path = p;
  l->path_size = (size_t)(stop - p);
  return true;
}

INLINE bool same_path(const MapLine *a, const MapLine *b) {
  size_t n = a->path_size;
  if (n != b->path_size)
    return false;
  while (n && a->path[n - 1] == b->path[n - 1])
    n--;
  return !n;
}

// Is it the first mapping of a file with code? Its other mappings follow.
INLINE bool begins_module(const MapLine *l, const char *at, const char *end) {
  MapLine next = *l;
  bool code = l->code;
  if (!l->path_size || l->offset)
    return false;
  while (!code && next_line(&at, end, &next))
    if (next.path_size) {
      if (!same_path(l, &next))
        return false;
      code = next.code;
    }
  return code;
}

// Leaves the lines of modules; returns the size. *n: ranges of code.
__attribute__((noinline)) uint32_t __culprit_reduce_maps(size_t size,
                                                         size_t *n) {
  char *maps = __culprit_buffer, *out = maps;
  const char *at = maps, *end = maps + size;
  CodeRange *code = (CodeRange *)(__culprit_buffer + CODE_AT);
  MapLine line;
  *n = 0;
  while (next_line(&at, end, &line)) {
    if (line.code && line.path_size && *n < CODE_MOST)
      code[(*n)++] = line.range;
    if (begins_module(&line, at, end)) {
      copy(out, line.text, line.size);
      out += line.size;
    }
  }
  return (uint32_t)(out - maps);
}

// An address of code or of the stack, which is what an unwinder follows; all
// else may be data.
INLINE uint64_t reduce_word(uint64_t v, uint64_t sp, size_t n) {
  const CodeRange *code = (const CodeRange *)(__culprit_buffer + CODE_AT);
  if (v >= sp && v - sp < RUNFILE_STACK)
    return v;
  for (size_t i = 0; i < n; i++)
    if (v >= code[i].from && v < code[i].to)
      return v;
  return 0;
}

__attribute__((noinline)) uint32_t __culprit_save_stack(char *to, uint64_t sp,
                                                        size_t n) {
  uint64_t *page = (uint64_t *)(__culprit_buffer + PAGE_AT);
  size_t have = 0;
  while (have < RUNFILE_STACK) { // what lies beyond the stack is not readable
    uint64_t from = sp + have;
    size_t most = RUNFILE_PAGE - from % RUNFILE_PAGE;
    most = most < RUNFILE_STACK - have ? most : RUNFILE_STACK - have;
    long got =
        copy_checked(SYS_process_vm_readv, page, (const void *)from, most);
    if (got != (long)most)
      break;
    for (size_t i = 0; i < most / 8; i++)
      page[i] = reduce_word(page[i], sp, n);
    copy(to + have, page, most & ~(size_t)7);
    have += most;
  }
  return (uint32_t)have;
}

INLINE size_t read_maps(void) {
  long fd = CALL(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return 0;
  size_t have = 0;
  long n;
  while (have < RUNFILE_MAPS && (n = CALL(SYS_read, fd, __culprit_buffer + have,
                                          RUNFILE_MAPS - have)) > 0)
    have += (size_t)n;
  CALL(SYS_close, fd, 0, 0);
  return have;
}

// `sig` 0: a sanitizer ended the process.
INLINE void save_death(RunHeader *h, int sig, int code, const greg_t *regs) {
  // DWARF's order of the registers, which is what an unwinder asks for.
  static const unsigned char order[17] = {
      REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
      REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
      REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  size_t n;
  uint64_t sp = (uint64_t)regs[REG_RSP];
  uint32_t maps_size = __culprit_reduce_maps(read_maps(), &n);
  for (int i = 0; i < 17; i++)
    h->regs[i] = reduce_word((uint64_t)regs[order[i]], sp, n);
  h->signal = (uint32_t)sig;
  h->code = code;
  char *area = (char *)h + h->death;
  // 23: MADV_POPULATE_WRITE. A full disk must not turn into another signal.
  if (!CALL(SYS_madvise, area, RUNFILE_STACK + RUNFILE_MAPS, 23)) {
    copy(area + RUNFILE_STACK, __culprit_buffer, maps_size);
    h->maps_size = maps_size;
    h->stack_size = __culprit_save_stack(area, sp, n);
  }
  h->state = RUN_DIED;
}

// The first to die tells where.
INLINE bool claim_death(RunHeader *h) {
  uint32_t started = RUN_STARTED;
  return h && __atomic_compare_exchange_n(&h->state, &started, RUN_DYING, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void __culprit_fatal(int sig, siginfo_t *info, void *context) {
  RunHeader *h = __culprit_header;
  __culprit_check(NULL);
  if (claim_death(h))
    save_death(h, sig, info->si_code,
               ((const ucontext_t *)context)->uc_mcontext.gregs);
  struct KernelAction standard;
  clear(&standard, sizeof standard);
  set_action(sig, &standard, NULL);
  // A fault happens again by itself; a signal that was sent must be sent again.
  if (info->si_code <= 0)
    CALL(SYS_tgkill, CALL(SYS_getpid, 0, 0, 0), CALL(SYS_gettid, 0, 0, 0), sig);
}

// Called by a sanitizer from within the access that it has reported: what an
// unwinder needs of the registers is here.
void __culprit_reported(void) {
  RunHeader *h = __culprit_header;
  if (!claim_death(h))
    return;
  gregset_t regs;
  clear(regs, sizeof regs);
#define SAVE(name, number)                                                     \
  __asm__ volatile("movq %%" name ", %0" : "=m"(regs[number]))
  SAVE("rbx", REG_RBX);
  SAVE("rbp", REG_RBP);
  SAVE("rsp", REG_RSP);
  SAVE("r12", REG_R12);
  SAVE("r13", REG_R13);
  SAVE("r14", REG_R14);
  SAVE("r15", REG_R15);
#undef SAVE
  __asm__ volatile("leaq 0(%%rip), %0" : "=r"(regs[REG_RIP]));
  save_death(h, 0, 0, regs);
}

INLINE void hook_signals(void) {
  static const unsigned char fatal[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                                        SIGABRT, SIGTRAP, SIGSYS, RUNFILE_HANG};
  struct KernelAction hook = {
      .handler = __culprit_fatal,
      .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER_,
      .restorer = __culprit_restorer,
  };
  for (size_t i = 0; i < sizeof fatal; i++) {
    struct KernelAction old;
    clear(&old, sizeof old);
    if (!set_action(fatal[i], NULL, &old) && !old.handler)
      set_action(fatal[i], &hook, NULL);
  }
}

// --- the close build --------------------------------------------------------

// CULPRIT_CLOSE/HASH, HASH being that of our own path.
INLINE bool put_close_path(char *path, const char *dir) {
  char self[PATH_MAX_];
  size_t n = length(dir);
  long size = CALL(SYS_readlink, "/proc/self/exe", self, sizeof self);
  if (size <= 0 || size == sizeof self || n >= PATH_MAX_)
    return false;
  copy(path, dir, n);
  path[n] = '/';
  close_name(path + n + 1, self, (size_t)size);
  return true;
}

// Only glibc gives constructors the arguments.
__attribute__((noinline)) void __culprit_become_close(char **argv) {
  char path[PATH_MAX_ + CLOSE_NAME + 2];
  const char *dir = variable("CULPRIT_CLOSE", 13);
  if (dir && *dir == '/' && gnu_get_libc_version && argv && is_program() &&
      is_own_user() && put_close_path(path, dir))
    CALL(SYS_execve, path, argv, environ); // returns if there is none
}

// --- start ------------------------------------------------------------------

// The kernel gives each start 16 random bytes; all modules of the process see
// the same and decide alike.
INLINE uint64_t random_of_start(void) {
  uint64_t r = 0;
  const void *bytes =
      getauxval ? (const void *)getauxval(25 /* AT_RANDOM */) : NULL;
  if (bytes)
    copy(&r, bytes, sizeof r);
  else
    CALL(SYS_getrandom, &r, sizeof r, 0);
  r ^= r >> 32; // it is a secret of the C library, too: nothing of it is told
  r *= 0xd6e8feb86659fd93u;
  r ^= r >> 32;
  r *= 0xd6e8feb86659fd93u;
  return r ^ r >> 32;
}

// CULPRIT_SAMPLE=100: of a hundred starts one is recorded.
INLINE bool is_left_out(void) {
  const char *every = variable("CULPRIT_SAMPLE", 14);
  uint64_t n = 0;
  for (; every && *every >= '0' && *every <= '9' && n < 1u << 30; every++)
    n = n * 10 + (uint64_t)(*every - '0');
  return n > 1 && random_of_start() % n != 0;
}

__attribute__((constructor(101))) void __culprit_start(int argc, char **argv) {
  (void)argc;
  if (__culprit_started)
    return; // every object file brings this constructor
  __culprit_started = true;
  __culprit_become_close(argv);
  const char *dir = variable("CULPRIT_RUN", 11);
  if (!dir || *dir != '/' || !unit_count() || !counters_size())
    return;
  size_t n = length(dir);
  if (n >= PATH_MAX_)
    return;
  if (!is_own_user() || is_left_out())
    return;
  copy(__culprit_dir, dir, n + 1);
  __culprit_open(true);
  if (!__culprit_header)
    return;
  hook_signals();
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(__culprit_reported);
  if (__cxa_atexit)
    __cxa_atexit(__culprit_check, NULL, &__dso_handle ? __dso_handle : NULL);
  if (__register_atfork)
    __register_atfork(NULL, NULL, __culprit_forked,
                      &__dso_handle ? __dso_handle : NULL);
}
