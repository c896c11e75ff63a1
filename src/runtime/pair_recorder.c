// The recorder of a close build: linked once into a program whose units were
// instrumented for a closer look (close/pairs.h). Here are the shadow memory
// and the log of definition-use pairs.
//
// The shadow holds the last definition of each byte of memory: four bytes each,
// at base + (address & mask) * 4. It is reserved at the start and takes memory
// only where the program writes. If the process grows too large, the shadow is
// emptied: what was defined before is then unknown, never wrong.
//
// The log is a row of words among the counters (close_format.h). A pair is
// entered once: an index outside of it knows those that are in. Entering takes
// no lock, so that signal handlers and threads may do it at any time.
//
// Rules of a guest: no libc but weak references, system calls made directly,
// no heap, no output, no descriptor left open.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "close_format.h"
#include "format.h"
#include "system.h"

#define HIDDEN __attribute__((visibility("hidden")))

enum {
  INDEX_SLOTS = 2 * CLOSE_LOG_WORDS, // power of two
  PAGE = 4096,
  LARGE = 1 << 20, // bytes of shadow: given back instead of cleared
};
// The size of the process is looked at after so many bytes were allocated, or
// more.
static const uint64_t look_again = 64u << 20;
static const uint64_t largest_process = 1280ull << 20; // bytes

extern char __start_culprit_cnt[] __attribute__((weak)) HIDDEN;
extern uint32_t __start_culprit_last[] __attribute__((weak)) HIDDEN;
extern uint32_t __stop_culprit_last[] __attribute__((weak)) HIDDEN;
extern const char __ehdr_start[] __attribute__((weak)) HIDDEN;
// Defined by a unit that has its own malloc: nothing is known of its blocks.
extern const char __culprit_own_malloc __attribute__((weak)) HIDDEN;
extern size_t malloc_usable_size(void *) __attribute__((weak));

// --- shadow memory ----------------------------------------------------------

// Without a shadow, stores and loads go to the sink, and nobody believes it.
enum { ONE_ACCESS = CLOSE_REACH + 64 };
static uint32_t sink[ONE_ACCESS];
HIDDEN uint64_t __culprit_shadow = (uint64_t)(uintptr_t)sink;
HIDDEN uint64_t __culprit_shadow_mask;

static struct {
  bool started;
  uint64_t allocated, next; // bytes: so far, and when to look
} recorder;

HIDDEN __attribute__((aligned(4096))) __attribute__((
    section("culprit_cnt"))) uint64_t __culprit_pairs[CLOSE_LOG_WORDS] = {0};
static uint64_t slots[INDEX_SLOTS];
static uint32_t entered;

// The descriptor that makes the log a part of run files; its address is relative.
__asm__(".pushsection culprit_units,\"aR\",@progbits\n"
        "  .balign 8\n"
        "  .ascii \"culprit pairs 01\"\n"
        "  .quad __culprit_pairs - .\n"
        "  .long 65536, 8\n"
        ".popsection\n");

INLINE bool has_shadow(void) { return __culprit_shadow_mask != 0; }

INLINE uint32_t *shadow_of(const void *p) {
  uint64_t at = (uint64_t)(uintptr_t)p & __culprit_shadow_mask;
  return (uint32_t *)(uintptr_t)(__culprit_shadow + at * 4);
}

static void set_flag(uint32_t flag) {
  __atomic_fetch_or(&__culprit_pairs[0], flag, __ATOMIC_RELAXED);
}

static uint64_t resident(void) {
  char text[128];
  long fd = CALL(SYS_open, "/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return 0;
  long n = CALL(SYS_read, fd, text, sizeof text - 1);
  CALL(SYS_close, fd, 0, 0);
  uint64_t pages = 0;
  long i = 0;
  while (i < n && text[i] != ' ')
    i++;
  for (i++; i < n && text[i] >= '0' && text[i] <= '9'; i++)
    pages = pages * 10 + (uint64_t)(text[i] - '0');
  return pages * PAGE;
}

static void give_back(void *from, uint64_t bytes) {
  CALL(SYS_madvise, from, bytes, MADV_DONTNEED);
}

static void forget_all(void) {
  give_back((void *)(uintptr_t)__culprit_shadow,
            (__culprit_shadow_mask + 1) * 4);
  set_flag(CLOSE_FORGOT);
}

// A byte of the program takes at most five: it is not looked at more often than
// it can have grown too large.
static void count_memory(uint64_t n) {
  uint64_t now = __atomic_add_fetch(&recorder.allocated, n, __ATOMIC_RELAXED);
  if (now < look_again || now < recorder.next)
    return;
  uint64_t size = resident();
  uint64_t room = size < largest_process ? (largest_process - size) / 5 : 0;
  recorder.next = now + (room > look_again ? room : look_again);
  if (size > largest_process)
    forget_all();
}

// Entries whose pages nobody else shares are given back, not written.
static void clear_shadow(uint32_t *from, uint64_t n) {
  uint64_t bytes = n * 4;
  if (bytes >= LARGE) {
    uintptr_t begin = ((uintptr_t)from + PAGE - 1) & -(uintptr_t)PAGE;
    uintptr_t end = ((uintptr_t)from + bytes) & -(uintptr_t)PAGE;
    clear(from, begin - (uintptr_t)from);
    give_back((void *)begin, end - begin);
    clear((void *)end, (uintptr_t)from + bytes - end);
    return;
  }
  __asm__ volatile("rep stosl" : "+D"(from), "+c"(n) : "a"(0) : "memory");
}

// What lies beyond the end of the shadow has none: an address in the last
// bytes of the masked range, or a length that is no length.
INLINE uint64_t within(const void *p, uint64_t n) {
  uint64_t left =
      __culprit_shadow_mask + 1 - ((uintptr_t)p & __culprit_shadow_mask);
  return n > left ? 0 : n;
}

HIDDEN void __culprit_close_define(uint32_t d, void *p, uint64_t n) {
  if (!has_shadow() || !p || !(n = within(p, n)))
    return;
  uint32_t *s = shadow_of(p);
  enum { FEW = 64 };
  if (!d && n > FEW) {
    clear_shadow(s, n);
    return;
  }
  if (n > FEW)
    __asm__ volatile("rep stosl" : "+D"(s), "+c"(n) : "a"(d) : "memory");
  else
    for (uint64_t i = 0; i < n; i++)
      s[i] = d;
}

// --- the log ----------------------------------------------------------------

INLINE uint32_t offset_of(uint32_t id) {
  return id - (uint32_t)(uintptr_t)__start_culprit_cnt + 1;
}

INLINE void enter(uint64_t pair) {
  uint32_t n = __atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED);
  if (n < CLOSE_LOG_WORDS - 1)
    __culprit_pairs[n + 1] = pair;
  else
    __atomic_fetch_add(&__culprit_pairs[0], 1ull << 32, __ATOMIC_RELAXED);
}

static void add_pair(uint32_t d, uint32_t u) {
  uint64_t pair = (uint64_t)offset_of(d) << 32 | offset_of(u);
  uint64_t at = pair * 0x9e3779b97f4a7c15ull >> 40;
  for (unsigned i = 0; i < INDEX_SLOTS; i++) {
    uint64_t *slot = &slots[(at + i) & (INDEX_SLOTS - 1)], old = 0;
    if (*slot == pair)
      return;
    if (entered >= CLOSE_LOG_WORDS + CLOSE_LOG_WORDS / 2) {
      // The index is nearly full, too: counted again and again from now on.
      __atomic_fetch_add(&__culprit_pairs[0], 1ull << 32, __ATOMIC_RELAXED);
      return;
    }
    if (*slot)
      continue;
    if (__atomic_compare_exchange_n(slot, &old, pair, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      enter(pair);
      return;
    }
    if (old == pair)
      return;
  }
}

// A use met a definition that is not among those it remembers. 0: it is not
// known.
HIDDEN __attribute__((preserve_most)) void
__culprit_close_pair(uint32_t d, uint32_t u, uint32_t *last) {
  if (!d)
    return;
  last[d % CLOSE_WAYS] = d;
  add_pair(d, u);
}

// The same, of a definition that the shadow told.
HIDDEN __attribute__((preserve_most)) void
__culprit_close_pair_memory(uint32_t d, uint32_t u, uint32_t *last) {
  if (!d || !has_shadow())
    return;
  last[d % CLOSE_WAYS] = d;
  add_pair(d, u);
}

// Where the first definition is that is not `d`.
INLINE const uint32_t *skip(const uint32_t *s, const uint32_t *end,
                            uint32_t d) {
  const uint64_t two = (uint64_t)d << 32 | d;
  for (uint64_t here; end - s >= 2; s += 2) {
    __builtin_memcpy(&here, s, sizeof here);
    if (here != two)
      break;
  }
  while (s < end && *s == d)
    s++;
  return s;
}

HIDDEN void __culprit_close_use(uint32_t u, const void *p, uint64_t n) {
  if (!has_shadow() || !p || !(n = within(p, n)))
    return;
  const uint32_t *s = shadow_of(p), *end = s + n;
  while (s < end) {
    uint32_t d = *s;
    if (d)
      add_pair(d, u);
    s = skip(s + 1, end, d);
  }
}

// Bytes of a text, with its end, but at most `most`.
static uint64_t text_size(const char *p, uint64_t most) {
  uint64_t n = 0;
  while (n < most && p[n])
    n++;
  return n < most ? n + 1 : most;
}

HIDDEN void __culprit_close_use_text(uint32_t u, const char *p, uint64_t most) {
  if (p)
    __culprit_close_use(u, p, text_size(p, most));
}

HIDDEN void __culprit_close_define_text(uint32_t d, char *p, uint64_t most) {
  if (p && most)
    __culprit_close_define(d, p, text_size(p, most));
}

// Where the text ends that tokens are being cut out of.
static __thread const char *text_end;

// A token will be cut out of `text`, or if that is null, of *rest, or if that is
// null, too, of the same text as before.
HIDDEN void __culprit_close_cut(const char *text, const char *const *rest) {
  if (!text && rest)
    text = *rest;
  if (text)
    text_end = text + length(text);
}

// A token was cut out of a text: it was read, and its end written, unless it is
// that of the text.
HIDDEN void __culprit_close_token(uint32_t id, char *p) {
  if (!p)
    return;
  uint64_t n = length(p);
  if (id)
    __culprit_close_use(id, p, n);
  if (p + n != text_end)
    __culprit_close_define(id, p + n, 1);
}

// --- blocks of the heap -----------------------------------------------------

static uint64_t block_size(void *p) {
  return p && malloc_usable_size && !&__culprit_own_malloc
             ? malloc_usable_size(p)
             : 0;
}

// A new block: defined by d (calloc), or by nobody (0).
HIDDEN void __culprit_close_fresh(uint32_t d, void *p, uint64_t n) {
  if (!p || !has_shadow())
    return;
  count_memory(n);
  __culprit_close_define(d, p, n);
}

// About to be freed, or given to realloc: its size, for what follows.
HIDDEN uint64_t __culprit_close_size(void *p) { return block_size(p); }

HIDDEN void __culprit_close_freed(void *p) {
  __culprit_close_define(0, p, block_size(p));
}

static void move_shadow(void *from, void *to, uint64_t n) {
  if (within(from, n) && within(to, n))
    copy(shadow_of(to), shadow_of(from), n * 4);
}

// realloc has made `to` of `from`, which had `had` bytes.
HIDDEN void __culprit_close_moved(void *from, uint64_t had, void *to,
                                  uint64_t n) {
  if (!to || !has_shadow())
    return;
  count_memory(n);
  uint64_t kept = had < n ? had : n;
  if (from && from != to) {
    move_shadow(from, to, kept);
    __culprit_close_define(0, from, had);
  }
  uint64_t size = block_size(to);
  if (size > kept)
    __culprit_close_define(0, (char *)to + kept, size - kept);
}

// --- start, fork, segments --------------------------------------------------

// What the program holds as to calls: who calls, whom, and what returned.
HIDDEN __thread uint32_t __culprit_close_call, __culprit_close_returned;
HIDDEN __thread void *__culprit_close_callee, *__culprit_close_returner;

// The run file has just been begun anew: the log in it is empty. No use
// remembers anything before the first pair was entered.
HIDDEN void __culprit_close_begin(void) {
  if (entered) {
    clear(slots, sizeof slots);
    clear(__start_culprit_last,
          (size_t)((char *)__stop_culprit_last - (char *)__start_culprit_last));
    entered = 0;
  }
  if (!has_shadow())
    set_flag(CLOSE_NO_MEMORY);
}

// The stack ends where the address space does, so nothing goes on behind the end
// of the masked range at its beginning, where a program at a fixed place lies.
static bool apart(uint64_t a, uint64_t b, uint64_t mask) {
  const uint64_t enough = 16ull << 30;
  a &= mask;
  b &= mask;
  return (a > b ? a - b : b - a) > enough;
}

// Could places in the image or heap and places in the mappings or the stack
// have the same shadow?
static bool is_apart(uint64_t mask, const void *map) {
  uint64_t image = (uint64_t)(uintptr_t)__ehdr_start;
  uint64_t heap = (uint64_t)CALL(SYS_brk, 0, 0, 0);
  uint64_t stack = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  uint64_t near = (uint64_t)(uintptr_t)map;
  return apart(image, stack, mask) && apart(heap, stack, mask) &&
         apart(image, near, mask) && apart(heap, near, mask);
}

static bool reserve(uint64_t mask, uint64_t hint) {
  uint64_t size = (mask + 1) * 4 + PAGE; // for fields near the end
  char *probe = (char *)call6(SYS_mmap, 0, PAGE, PROT_READ,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_error(probe))
    return false;
  CALL(SYS_munmap, probe, PAGE, 0);
  if (!is_apart(mask, probe))
    return false;
  void *p =
      (void *)call6(SYS_mmap, (long)hint, (long)size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                        (hint ? MAP_FIXED_NOREPLACE : 0),
                    -1, 0);
  if (is_error(p) || (hint && (uint64_t)(uintptr_t)p != hint)) {
    if (!is_error(p))
      CALL(SYS_munmap, p, size, 0);
    return false;
  }
  CALL(SYS_madvise, p, size, MADV_DONTDUMP);
  CALL(SYS_madvise, p, size, MADV_NOHUGEPAGE);
  __culprit_shadow = (uint64_t)(uintptr_t)p;
  __culprit_shadow_mask = mask;
  return true;
}

__attribute__((constructor(101))) static void start(void) {
  const uint64_t large = (1ull << 44) - 1, small = (1ull << 43) - 1;
  if (recorder.started)
    return;
  recorder.started = true;
  if (!variable("CULPRIT_RUN", 11) ||
      (!reserve(large, 1ull << 44) && !reserve(small, 0)))
    set_flag(CLOSE_NO_MEMORY);
}
