// Checks contracts inside the tested program; part of every object that has
// contracts. It follows the rules of runtime.c: without one of these variables
// nothing is checked.
//
//   CULPRIT_RUN        directory for records: broken clauses go to
//                      PID.contract, and the process ends as by abort()
//   CULPRIT_CONTRACTS  "report": record and go on. Without CULPRIT_RUN, broken
//                      clauses are reported on standard error.
//   CULPRIT_SNAPSHOT   FILE:FUNCTION:N  at the N-th call write arguments and
//                      memory to FILE (snapshot_format.h), then go on
//   CULPRIT_PATCH      FILE:FUNCTION:N  at the N-th call change arguments and
//                      memory as FILE says
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "contract_format.h"
#include "snapshot_format.h"
#include "system.h"

#include "contract_state.h"

enum { PATH_MAX_ = 4096, WORDS = CONTRACT_CLAUSES_MAX / 64 };

// The same as in the text that contract_check.c makes.
typedef struct {
  uint64_t *calls, number, broken[WORDS];
} Call;

// A call whose code runs, on the stack of its wrapper; the same as in that
// text.
typedef struct Active Active;
struct Active {
  const ContractHeader *table;
  const Call *call;
  Active *outer;
  uint64_t seal;    // over all of it, while it is one: longjmp() leaves them
                    // behind, and others write over them
  const State *pre; // the memory before it; may be NULL
  struct KeptMark *marks;
  uint64_t assumed; // behaviors
};

// The innermost of this thread. Only looked at where there is a libc, and so
// memory of threads: without one nothing is checked.
__thread Active *__culprit_contract_active
    __attribute__((tls_model("initial-exec")));

enum { UNKNOWN, OFF, STOP, REPORT };
int __culprit_contract_mode;
const char *__culprit_contract_snapshot, *__culprit_contract_patch;

// --- what is asked for ------------------------------------------------------

INLINE bool is_report(const char *value) {
  return value && value[0] == 'r' && value[1] == 'e' && value[2] == 'p';
}

__attribute__((noinline)) int __culprit_contract_ask(void) {
  const char *how = variable("CULPRIT_CONTRACTS", 17);
  const char *snapshot = variable("CULPRIT_SNAPSHOT", 16);
  const char *patch = variable("CULPRIT_PATCH", 13);
  bool any = how || snapshot || patch || variable("CULPRIT_RUN", 11);
  int mode = !any || !is_own_user() ? OFF : is_report(how) ? REPORT : STOP;
  if (mode != OFF) {
    __culprit_contract_snapshot = snapshot;
    __culprit_contract_patch = patch;
  }
  __culprit_contract_mode = mode;
  return mode;
}

int __culprit_contract_on(void) {
  int mode = __culprit_contract_mode;
  return (mode ? mode : __culprit_contract_ask()) != OFF;
}

// --- records ----------------------------------------------------------------

INLINE const char *next_string(const char *p) { return p + length(p) + 1; }

// String `n` of the chunk; "" if there are fewer.
INLINE const char *string_of(const ContractHeader *h, unsigned n) {
  const char *p = (const char *)(h + 1), *end = p + h->size;
  while (n-- && p < end)
    p = next_string(p);
  return p < end ? p : "";
}

INLINE long open_record(void) {
  const char *dir = variable("CULPRIT_RUN", 11);
  char path[PATH_MAX_ + 64];
  size_t n = dir ? length(dir) : 0;
  if (!dir || *dir != '/' || n >= PATH_MAX_)
    return -1;
  copy(path, dir, n);
  char *p = path + n;
  *p++ = '/';
  p = put_number(p, (uint64_t)CALL(SYS_getpid, 0, 0, 0), 10);
  copy(p, ".contract", 10);
  return CALL(SYS_open, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

INLINE void set_part(struct iovec *v, const void *at, size_t n) {
  v->iov_base = (void *)at;
  v->iov_len = n;
}

// "FILE:LINE: FUNCTION: KIND NAME is violated"
INLINE void tell(const ContractHeader *h, unsigned clause) {
  struct iovec v[9];
  const char *file = string_of(h, 4 + clause * 6 + 2);
  const char *line = next_string(file);
  const char *kind = string_of(h, 4 + clause * 6);
  const char *name = next_string(kind), *function = string_of(h, 0);
  set_part(&v[0], file, length(file));
  set_part(&v[1], ":", 1);
  set_part(&v[2], line, length(line));
  set_part(&v[3], ": ", 2);
  set_part(&v[4], function, length(function));
  set_part(&v[5], ": ", 2);
  set_part(&v[6], kind, length(kind));
  set_part(&v[7], " ", 1);
  set_part(&v[8], name, length(name));
  CALL(SYS_writev, 2, v, 9);
  CALL(SYS_write, 2, " is violated\n", 13);
}

INLINE ViolationHeader record_head(const ContractHeader *h, uint64_t magic,
                                   unsigned n, uint64_t call) {
  ViolationHeader head;
  clear(&head, sizeof head);
  head.magic = magic;
  head.version = CONTRACT_VERSION;
  head.broken = n;
  head.call = call;
  head.size = h->size;
  head.pid = (uint32_t)CALL(SYS_getpid, 0, 0, 0);
  return head;
}

// What the call has broken so far, the last of it just now; `within`, if there
// is one: the call in which it was. Written at once: a later clause may crash
// over what is broken. One write: records of threads do not mix.
__attribute__((noinline)) void
__culprit_contract_broken(const ContractHeader *h, const uint32_t *broken,
                          unsigned n, uint64_t call, const Active *within) {
  ViolationHeader head = record_head(h, VIOLATION_MAGIC, n, call), outer;
  struct iovec v[5];
  set_part(&v[0], &head, sizeof head);
  set_part(&v[1], broken, n * sizeof *broken);
  set_part(&v[2], h + 1, h->size);
  if (within) {
    outer = record_head(within->table, VIOLATION_WITHIN_MAGIC, 0,
                        within->call->number);
    set_part(&v[3], &outer, sizeof outer);
    set_part(&v[4], within->table + 1, within->table->size);
  }
  long fd = open_record();
  if (fd < 0) {
    tell(h, broken[n - 1]);
    return;
  }
  CALL(SYS_writev, fd, v, within ? 5 : 3);
  CALL(SYS_close, fd, 0, 0);
}

INLINE void raise_abort(void) {
  CALL(SYS_tgkill, CALL(SYS_getpid, 0, 0, 0), CALL(SYS_gettid, 0, 0, 0),
       SIGABRT);
}

// As abort(): a handler runs, but cannot keep the process alive.
INLINE void stop(void) {
  unsigned long set = 1ul << (SIGABRT - 1);
  call6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, 8, 0, 0);
  raise_abort();
  unsigned long action[4];
  clear(action, sizeof action);
  call6(SYS_rt_sigaction, SIGABRT, (long)action, 0, 8, 0, 0);
  raise_abort();
  CALL(SYS_exit_group, 134, 0, 0);
}

// --- memory at a call -------------------------------------------------------

// "FILE:FUNCTION:N": is this the call? Gives the file's length.
INLINE bool is_meant(const char *what, const ContractHeader *h, uint64_t call,
                     size_t *file) {
  size_t n = length(what);
  uint64_t number = 0, place = 1;
  while (n && what[n - 1] >= '0' && what[n - 1] <= '9') {
    number += place * (uint64_t)(what[--n] - '0');
    place *= 10;
  }
  const char *name = string_of(h, 0);
  size_t len = length(name);
  if (number != call || n < len + 2 || what[n - 1] != ':' ||
      what[n - 2 - len] != ':')
    return false;
  for (size_t i = 0; i < len; i++)
    if (what[n - 1 - len + i] != name[i])
      return false;
  *file = n - 2 - len;
  return *file < PATH_MAX_;
}

INLINE long open_named(const char *path, size_t n, int flags) {
  char name[PATH_MAX_];
  copy(name, path, n);
  name[n] = '\0';
  return CALL(SYS_open, name, flags | O_CLOEXEC, 0600);
}

INLINE bool put(long fd, const void *from, size_t n) {
  for (const char *p = from; n;) {
    long done = CALL(SYS_write, fd, p, n);
    if (done <= 0)
      return false;
    p += done;
    n -= (size_t)done;
  }
  return true;
}

INLINE uint64_t hex(const char **p) {
  uint64_t v = 0;
  for (;; (*p)++) {
    char c = **p;
    if (c >= '0' && c <= '9')
      v = v << 4 | (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      v = v << 4 | (uint64_t)(c - 'a' + 10);
    else
      return v;
  }
}

// "start-end perms offset dev inode path"
INLINE SnapshotRegion region_of(const char *line) {
  SnapshotRegion r;
  clear(&r, sizeof r);
  const char *p = line;
  r.start = hex(&p);
  p += *p == '-';
  r.size = hex(&p) - r.start;
  p += *p == ' ';
  r.flags = (p[0] == 'r' ? SNAPSHOT_READ : 0) |
            (p[0] == 'r' && p[1] == 'w' ? SNAPSHOT_WRITE : 0) |
            (p[0] == 'r' && p[1] != 0 && p[2] == 'x' ? SNAPSHOT_EXECUTE : 0);
  for (int blanks = 0; *p && blanks < 4; p++)
    blanks += *p == ' ';
  while (*p == ' ')
    p++;
  for (unsigned i = 0; i + 1 < sizeof r.name && p[i]; i++)
    r.name[i] = p[i];
  return r;
}

INLINE bool is_kept(const SnapshotRegion *r) {
  bool kernel = r->name[0] == '[' && r->name[1] == 'v'; // vdso, vvar
  bool device = r->name[0] == '/' && r->name[1] == 'd' && r->name[2] == 'e' &&
                r->name[3] == 'v' && r->name[4] == '/';
  return (r->flags & SNAPSHOT_READ) && !(r->flags & SNAPSHOT_EXECUTE) &&
         !kernel && !device && r->size <= SNAPSHOT_REGION_MAX;
}

// The region, then its bytes; what cannot be read is a region without bytes.
INLINE bool put_region(long fd, const char *line) {
  SnapshotRegion r = region_of(line);
  if (!(r.flags & SNAPSHOT_READ))
    return true;
  r.stored = is_kept(&r) ? r.size : 0;
  long at = call6(SYS_lseek, fd, 0, 1, 0, 0, 0);
  if (!put(fd, &r, sizeof r))
    return false;
  if (r.stored && !put(fd, (const void *)r.start, r.size)) {
    r.stored = 0;
    call6(SYS_lseek, fd, at, 0, 0, 0, 0);
    CALL(SYS_ftruncate, fd, at, 0);
    return put(fd, &r, sizeof r);
  }
  return true;
}

INLINE void put_regions(long fd) {
  char line[512], buffer[2048];
  long maps = CALL(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  size_t n = 0;
  bool good = maps >= 0;
  for (long got;
       good && (got = CALL(SYS_read, maps, buffer, sizeof buffer)) > 0;)
    for (long i = 0; good && i < got; i++) {
      if (buffer[i] != '\n') {
        if (n + 1 < sizeof line)
          line[n++] = buffer[i];
        continue;
      }
      line[n] = '\0';
      n = 0;
      good = put_region(fd, line);
    }
  if (maps >= 0)
    CALL(SYS_close, maps, 0, 0);
}

INLINE void take_snapshot(const ContractHeader *h, const void *args,
                          size_t size, uint64_t call, size_t file) {
  long fd = open_named(__culprit_contract_snapshot, file,
                       O_WRONLY | O_CREAT | O_TRUNC);
  if (fd < 0)
    return;
  SnapshotHeader head;
  clear(&head, sizeof head);
  head.version = SNAPSHOT_VERSION;
  head.args_size = (uint32_t)size;
  head.args = (uint64_t)(uintptr_t)args;
  head.call = call;
  const char *name = string_of(h, 0);
  for (unsigned i = 0; i + 1 < sizeof head.function && name[i]; i++)
    head.function[i] = name[i];
  if (put(fd, &head, sizeof head) && put(fd, args, size)) {
    put_regions(fd);
    head.magic = SNAPSHOT_MAGIC; // last: without it the file is not complete
    call6(SYS_pwrite64, fd, (long)&head, sizeof head, 0, 0, 0);
  }
  CALL(SYS_close, fd, 0, 0);
}

INLINE bool take(long fd, void *to, size_t n) {
  for (char *p = to; n;) {
    long done = CALL(SYS_read, fd, p, n);
    if (done <= 0)
      return false;
    p += done;
    n -= (size_t)done;
  }
  return true;
}

// Through the kernel: a wrong address does not crash the program.
INLINE bool poke(uint64_t at, const void *from, size_t n) {
  struct iovec local = {(void *)from, n}, remote = {(void *)at, n};
  return call6(SYS_process_vm_writev, CALL(SYS_getpid, 0, 0, 0), (long)&local,
               1, (long)&remote, 1, 0) == (long)n;
}

INLINE void apply_patch(void *args, size_t size, size_t file) {
  long fd = open_named(__culprit_contract_patch, file, O_RDONLY);
  PatchHeader head;
  char bytes[256];
  if (fd < 0)
    return;
  bool good = take(fd, &head, sizeof head) && head.magic == PATCH_MAGIC &&
              head.version == SNAPSHOT_VERSION &&
              (!head.args_size || head.args_size == size) &&
              take(fd, args, head.args_size);
  for (uint64_t i = 0; good && i < head.writes; i++) {
    PatchWrite w;
    good = take(fd, &w, sizeof w);
    for (uint64_t done = 0; good && done < w.size;) {
      size_t n = w.size - done < sizeof bytes ? w.size - done : sizeof bytes;
      good = take(fd, bytes, n) && poke(w.address + done, bytes, n);
      done += n;
    }
  }
  CALL(SYS_close, fd, 0, 0);
  if (!good) // the process is in no state that anybody asked for
    CALL(SYS_exit_group, PATCH_FAILED, 0, 0);
}

// --- what the wrappers call -------------------------------------------------

int __culprit_contract_begin(const ContractHeader *h, void *args, size_t size,
                             Call *c) {
  if (!__culprit_contract_on())
    return 0;
  c->number = __atomic_add_fetch(c->calls, 1, __ATOMIC_RELAXED);
  size_t file;
  const char *snapshot = __culprit_contract_snapshot;
  const char *patch = __culprit_contract_patch;
  if (snapshot && is_meant(snapshot, h, c->number, &file))
    take_snapshot(h, args, size, c->number, file);
  if (patch && is_meant(patch, h, c->number, &file))
    apply_patch(args, size, file);
  return 1;
}

INLINE unsigned list_broken(const Call *c, uint32_t *out) {
  unsigned n = 0;
  for (uint32_t i = 0; i < CONTRACT_CLAUSES_MAX; i++)
    if (c->broken[i / 64] >> i % 64 & 1)
      out[n++] = i;
  return n;
}

// Is the clause to be evaluated? Always; who encodes the call
// (spec/encode/encode.h) may want to know of one clause only.
int __culprit_asks(const ContractHeader *h, unsigned clause) {
  (void)h;
  (void)clause;
  begin_clause();
  return 1;
}

void __culprit_clause(const ContractHeader *h, unsigned clause, int holds,
                      Call *c) {
  if (!is_broken(holds) || clause >= CONTRACT_CLAUSES_MAX)
    return;
  uint32_t broken[CONTRACT_CLAUSES_MAX];
  c->broken[clause / 64] |= 1ul << clause % 64;
  __culprit_contract_broken(h, broken, list_broken(c, broken), c->number, 0);
}

INLINE bool any_broken(const Call *c) {
  uint64_t all = 0;
  for (int i = 0; i < WORDS; i++)
    all |= c->broken[i];
  return all;
}

// 1: the function may be executed and its result checked.
int __culprit_contract_enter(const ContractHeader *h, Call *c) {
  (void)h;
  if (!any_broken(c))
    return 1;
  if (__culprit_contract_mode == STOP)
    stop();
  return 0;
}

void __culprit_contract_end(const ContractHeader *h, Call *c) {
  __culprit_contract_enter(h, c);
}

// --- states inside the body -------------------------------------------------

// The memory when the label, or the loop, was last reached.
typedef struct KeptMark KeptMark;
struct KeptMark {
  KeptMark *next;
  unsigned id, times;
  bool told; // has `variant` a value?
  long long variant;
  State state;
};

INLINE void give_back_marks(Active *a) {
  for (KeptMark *m = a->marks, *next; m; m = next) {
    next = m->next;
    __culprit_state_close(&m->state);
    CALL(SYS_munmap, m, sizeof *m, 0);
  }
  a->marks = 0;
}

INLINE bool same_text(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return *a == *b;
}

INLINE bool is_active(const Active *a, uintptr_t above);

// The call of this function whose code is running; 0: not known.
INLINE Active *active_of(const char *function) {
  Active *a = __culprit_contract_active;
  return is_active(a, (uintptr_t)__builtin_frame_address(0)) &&
                 same_text(string_of(a->table, 0), function)
             ? a
             : 0;
}

INLINE KeptMark *mark_of(Active *a, unsigned id, bool make) {
  KeptMark *m = a ? a->marks : 0;
  while (m && m->id != id)
    m = m->next;
  if (m || !make || !a)
    return m;
  m = (KeptMark *)call6(SYS_mmap, 0, sizeof *m, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_error(m))
    return 0;
  m->id = id;
  m->next = a->marks;
  return a->marks = m;
}

// The label or loop is reached. `keep`: its state is asked for; then follow
// address and size of variables, ended by 0. Always 0.
int __culprit_mark(const char *function, unsigned id, int kept, ...) {
  if (!__culprit_contract_on())
    return 0;
  Active *a = active_of(function);
  KeptMark *m = mark_of(a, id, true);
  if (!m)
    return 0;
  m->told = false;
  __culprit_state_close(&m->state);
  m->state.used = 0;
  if (!kept || ++m->times > MARKS_MAX)
    return 0;
  if (a->pre)
    keep_again(&m->state, a->pre);
  va_list list;
  va_start(list, kept);
  for (const char *at; (at = va_arg(list, const char *));)
    keep(&m->state, at, va_arg(list, size_t), false);
  va_end(list);
  return 0;
}

// The state of a label; 0: that before the call.
const State *__culprit_label(const char *function, unsigned id) {
  Active *a = active_of(function);
  if (!id)
    return a && a->pre ? a->pre : &__culprit_contract_no_state;
  const KeptMark *m = mark_of(a, id, false);
  return m ? &m->state : &__culprit_contract_no_state;
}

// Is the behavior one that the call is in? One that is not known is none.
int __culprit_assumed(const char *function, unsigned behavior) {
  const Active *a = active_of(function);
  return a && behavior < 64 && a->assumed >> behavior & 1;
}

// Does the variant of the loop still go down?
int __culprit_variant(const char *function, unsigned id, long long value) {
  KeptMark *m = mark_of(active_of(function), id, false);
  if (!m || __culprit_contract_unknown)
    return 1;
  int holds = !m->told || (m->variant >= 0 && value < m->variant);
  m->told = true;
  m->variant = value;
  return holds;
}

INLINE uint64_t seal_of(const Active *a) {
  const uint64_t parts[4] = {(uintptr_t)a->table, (uintptr_t)a->call,
                             (uintptr_t)a->outer, (uintptr_t)a};
  uint64_t h = 0;
  for (int i = 0; i < 4; i++)
    h = (h ^ parts[i]) * 0x9e3779b97f4a7c15ull + 1;
  return h;
}

// The code of the call begins and ends. What lies at a lower address of the
// stack has ended without saying so.
void __culprit_contract_push(Active *a) {
  a->marks = 0;
  Active *top = __culprit_contract_active;
  a->outer = (uintptr_t)top > (uintptr_t)a ? top : 0;
  a->seal = seal_of(a);
  __culprit_contract_active = a;
}

void __culprit_contract_pop(Active *a) {
  a->seal = 0;
  __culprit_contract_active = a->outer;
  give_back_marks(a);
}

INLINE bool is_active(const Active *a, uintptr_t above) {
  return a && (uintptr_t)a > above && a->seal == seal_of(a);
}

// The call whose code is running, of a function with clauses if there is one;
// 0: none is known.
INLINE const Active *innermost(void) {
  const Active *top = __culprit_contract_active;
  if (!is_active(top, (uintptr_t)__builtin_frame_address(0)))
    return 0;
  for (const Active *a = top;; a = a->outer) {
    if (*string_of(a->table, 4))
      return a;
    if (!is_active(a->outer, (uintptr_t)a))
      return top;
  }
}

void __culprit_assert(const ContractHeader *h, unsigned clause, int holds) {
  uint32_t broken = clause;
  if (!is_broken(holds))
    return;
  __culprit_contract_broken(h, &broken, 1, 0, innermost());
  if (__culprit_contract_mode == STOP)
    stop();
}

// Can the bytes p[low] to p[high] be read? An empty range can.
int __culprit_valid(const void *p, size_t size, long low, long high) {
  if (!p)
    return 0;
  if (high < low || !size)
    return 1;
  char byte;
  const char *first = (const char *)p + low * (long)size;
  const char *last = (const char *)p + (high + 1) * (long)size - 1;
  long pid = CALL(SYS_getpid, 0, 0, 0);
  for (const char *at = first;;) {
    struct iovec local = {&byte, 1}, remote = {(void *)at, 1};
    if (call6(SYS_process_vm_readv, pid, (long)&local, 1, (long)&remote, 1,
              0) != 1)
      return 0;
    if (at >= last)
      return 1;
    const char *page = (const char *)(((uintptr_t)at | 4095) + 1);
    at = page < last ? page : last;
  }
}

// --- sets that outgrow their place ------------------------------------------

// The same as in the text that contract_check.c makes.
typedef struct {
  void **items, *few[256];
  long n, room;
} Set;

void __culprit_set_grow(Set *s) {
  size_t size = (size_t)s->room * 2 * sizeof *s->items;
  void *more = (void *)call6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if ((uintptr_t)more > -4096ul) // no memory left: as a failed malloc
    stop();
  copy(more, s->items, (size_t)s->room * sizeof *s->items);
  if (s->items != s->few)
    CALL(SYS_munmap, s->items, size / 2, 0);
  s->items = more;
  s->room *= 2;
}

void __culprit_set_give_back(Set *s) {
  CALL(SYS_munmap, s->items, (size_t)s->room * sizeof *s->items, 0);
}
