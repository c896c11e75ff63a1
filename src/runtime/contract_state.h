// Memory as it was at a place of the program, for contracts that speak of
// several states (\old, \at, labels) and of what a call may change (assigns).
// Part of contract_checks.c.
//
// A state holds copies of
//
//   - objects that the contract names: \valid, assigns, what parameters point
//     to, variables: "exact" parts, which assigns is checked on
//   - what lies behind other pointers, a little way: for reading only
//
// Bounds: STATE_PARTS objects and STATE_MAX bytes. What is read of a state but
// not in it makes a clause undecided.
#ifndef CULPRIT_RUNTIME_CONTRACT_STATE_H
#define CULPRIT_RUNTIME_CONTRACT_STATE_H

#include <stdarg.h>

enum {
  STATE_PARTS = 64,
  STATE_FEW = 1024,
  STATE_MAX = 4 << 20,
  NEAR = 1024,      // bytes behind a pointer of unknown extent
  NEAR_PARTS = 16,  // and how many of those
  MARKS_MAX = 4096, // states that one call keeps, one after the other
  CALLS_ALL = 4096, // calls of a function whose states are all kept; later ones
  CALLS_ONE_IN = 64, // now and then
  STACK_MAX = 1 << 20,
};
#define STEPS_CLAUSE (1ul << 24) // calls of logic functions: of a clause,
#define STEPS_ALL (1ul << 30)    // of the process

// The same as in the text that contract_prelude.c makes.
typedef struct {
  const char *at;
  size_t size;
} Span;

typedef struct {
  const char *from;
  char *copy;
  size_t size;
  bool exact;
} KeptPart;

typedef struct {
  size_t n, used;
  char *more; // STATE_MAX bytes, once `few` is full
  KeptPart parts[STATE_PARTS];
  char few[STATE_FEW];
} State;
_Static_assert(sizeof(State) <= 400 * 8, "see contract_prelude.c");

// A clause whose value is not known does not count as broken. Not in memory of
// threads' own: what is evaluated at a time is told by __culprit_asks.
__thread int __culprit_contract_unknown
    __attribute__((tls_model("initial-exec")));
__thread size_t __culprit_contract_steps
    __attribute__((tls_model("initial-exec")));
__thread uintptr_t __culprit_contract_base
    __attribute__((tls_model("initial-exec")));
size_t __culprit_contract_all_steps;
State __culprit_contract_no_state;
char __culprit_contract_zeros[4096];

void __culprit_unknown(void) { __culprit_contract_unknown = 1; }

// Begins a clause, or an expression of one.
INLINE void begin_clause(void) {
  __culprit_contract_unknown = 0;
  __culprit_contract_steps = 0;
  __culprit_contract_base = (uintptr_t)__builtin_frame_address(0);
}

// Is the value, computed to be `holds`, a broken clause?
INLINE bool is_broken(int holds) {
  bool broken = !holds && !__culprit_contract_unknown;
  begin_clause();
  return broken;
}

// Called by every logic function: may it go on?
int __culprit_step(void) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  uintptr_t base = __culprit_contract_base;
  if (here > base || !base)
    __culprit_contract_base = base = here;
  if (base - here > STACK_MAX || ++__culprit_contract_steps > STEPS_CLAUSE ||
      __culprit_contract_all_steps > STEPS_ALL)
    __culprit_contract_unknown = 1;
  if (!(__culprit_contract_steps & 1023))
    __culprit_contract_all_steps += 1024;
  return !__culprit_contract_unknown;
}

// --- keeping ----------------------------------------------------------------

INLINE size_t read_own(void *to, const void *from, size_t n) {
  struct iovec local = {to, n}, remote = {(void *)from, n};
  long got = call6(SYS_process_vm_readv, CALL(SYS_getpid, 0, 0, 0),
                   (long)&local, 1, (long)&remote, 1, 0);
  return got > 0 ? (size_t)got : 0;
}

INLINE bool is_kept_at(const State *s, const char *p, size_t size) {
  for (size_t i = 0; i < s->n; i++)
    if (p >= s->parts[i].from &&
        (size_t)(p - s->parts[i].from) + size <= s->parts[i].size)
      return true;
  return false;
}

// Room for `size` bytes, 0: there is none.
INLINE char *state_room(State *s, size_t size) {
  if (s->n == STATE_PARTS || size > STATE_MAX - s->used)
    return 0;
  if (!s->more && s->used + size <= STATE_FEW)
    return s->few + s->used;
  if (!s->more) {
    void *more =
        (void *)call6(SYS_mmap, 0, STATE_MAX, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (is_error(more))
      return 0;
    s->more = more;
    s->used = 0;
  }
  return s->more + s->used;
}

INLINE bool keep(State *s, const char *from, size_t size, bool exact) {
  char *room = size ? state_room(s, size) : 0;
  if (!room || read_own(room, from, size) != size)
    return false;
  s->parts[s->n++] = (KeptPart){from, room, size, exact};
  s->used += (size + 15) & ~(size_t)15;
  return true;
}

// What lies behind the pointer, as far as it can be read.
INLINE bool keep_near(State *s, const char *p) {
  size_t page = 4096 - (uintptr_t)p % 4096;
  if ((uintptr_t)p < 4096 || (uintptr_t)p >> 47 || is_kept_at(s, p, 8))
    return false;
  return keep(s, p, NEAR, false) || (page < NEAR && keep(s, p, page, false));
}

void __culprit_state_open(State *s) { s->n = s->used = 0, s->more = 0; }

void __culprit_state_add(State *s, const char *at, size_t size) {
  keep(s, at, size, true);
}

// `at`: of a parameter that is a pointer. What it points to may point on.
void __culprit_state_near(State *s, const char *const *at) {
  size_t first = s->n;
  if (!keep_near(s, *at))
    return;
  for (size_t i = first; i < s->n && i < first + NEAR_PARTS; i++)
    for (size_t k = 0; k + 8 <= s->parts[i].size; k += 8) {
      const char *next;
      copy(&next, s->parts[i].copy + k, 8);
      if (s->n < first + NEAR_PARTS && (uintptr_t)s->parts[i].from % 8 == 0)
        keep_near(s, next);
    }
}

void __culprit_state_close(State *s) {
  if (s->more)
    CALL(SYS_munmap, s->more, STATE_MAX, 0);
  s->more = 0;
  s->n = 0;
}

// Whether the states of this call are kept: later ones of many are not all.
int __culprit_state_wanted(uint64_t number) {
  return number <= CALLS_ALL || number % CALLS_ONE_IN == 0;
}

// The same objects as in the other, as they are now.
INLINE void keep_again(State *s, const State *other) {
  for (size_t i = 0; i < other->n; i++)
    keep(s, other->parts[i].from, other->parts[i].size, other->parts[i].exact);
}

// --- reading ----------------------------------------------------------------

// Where what lay at `p` is now.
const void *__culprit_at(const State *s, const char *p, size_t size) {
  for (size_t i = 0; i < s->n; i++) {
    const KeptPart *part = &s->parts[i];
    if (p >= part->from && (size_t)(p - part->from) + size <= part->size)
      return part->copy + (p - part->from);
  }
  __culprit_contract_unknown = 1;
  return size <= sizeof __culprit_contract_zeros ? __culprit_contract_zeros : p;
}

INLINE bool may_change(const Span *allowed, size_t n, const char *p) {
  for (size_t i = 0; i < n; i++)
    if (p >= allowed[i].at && (size_t)(p - allowed[i].at) < allowed[i].size)
      return true;
  return false;
}

INLINE bool part_unchanged(const KeptPart *part, const Span *allowed,
                           size_t n) {
  char now[256];
  for (size_t i = 0; i < part->size; i += sizeof now) {
    size_t size = part->size - i < sizeof now ? part->size - i : sizeof now;
    if (read_own(now, part->from + i, size) != size)
      return true; // it is gone
    for (size_t k = 0; k < size; k++)
      if (now[k] != part->copy[i + k] &&
          !may_change(allowed, n, part->from + i + k))
        return false;
  }
  return true;
}

// With other threads, others may have changed it.
extern const char __libc_single_threaded __attribute__((weak));

// Has nothing changed but what may?
int __culprit_unchanged(const State *s, const Span *allowed, size_t n) {
  if (&__libc_single_threaded && !__libc_single_threaded)
    return 1;
  for (size_t i = 0; i < s->n; i++)
    if (s->parts[i].exact && !part_unchanged(&s->parts[i], allowed, n))
      return 0;
  return 1;
}

// Have no two of them a byte in common?
int __culprit_separated(const Span *s, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = i + 1; k < n; k++)
      if (s[i].size && s[k].size && s[i].at < s[k].at + s[k].size &&
          s[k].at < s[i].at + s[i].size)
        return 0;
  return 1;
}

// --- searching --------------------------------------------------------------

// What a variable without a range has been compared with. The same as in the
// text that contract_prelude.c makes.
typedef struct ValueSearch ValueSearch;
struct ValueSearch {
  long long value;   // the one to try
  long long *values; // met, in order
  long long *slots;  // the same, to find them: 1 + index
  size_t n, next;
  ValueSearch *outer;
};

enum {
  SEARCH_MAX = 4096,
  SEARCH_SLOTS = 4 * SEARCH_MAX,
  SEARCH_SIZE = (SEARCH_MAX + SEARCH_SLOTS) * 8,
};

__thread ValueSearch *__culprit_contract_search
    __attribute__((tls_model("initial-exec")));

void __culprit_search_open(ValueSearch *s) {
  clear(s, sizeof *s);
  void *room = (void *)call6(SYS_mmap, 0, SEARCH_SIZE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (is_error(room)) {
    __culprit_contract_unknown = 1;
    return;
  }
  s->values = room;
  s->slots = s->values + SEARCH_MAX;
  s->outer = __culprit_contract_search;
  __culprit_contract_search = s;
}

INLINE long long *search_slot(ValueSearch *s, long long value) {
  size_t i = (size_t)((uint64_t)value * 0x9e3779b97f4a7c15ull >> 40);
  for (;; i++) {
    long long *slot = &s->slots[i % SEARCH_SLOTS];
    if (!*slot || s->values[*slot - 1] == value)
      return slot;
  }
}

void __culprit_met(long long value) {
  for (ValueSearch *s = __culprit_contract_search; s; s = s->outer) {
    long long *slot = search_slot(s, value);
    if (*slot)
      continue;
    if (s->n == SEARCH_MAX) {
      __culprit_contract_unknown = 1;
      return;
    }
    s->values[s->n++] = value;
    *slot = (long long)s->n;
  }
}

// Gives the next value: 0, all that are met meanwhile, and one that is not. 0:
// that was the last one, or it is not known.
int __culprit_search_next(ValueSearch *s) {
  size_t i = s->next++;
  if (!s->values)
    return 0;
  if (!__culprit_contract_unknown && i <= s->n) {
    s->value = i ? s->values[i - 1] : 0;
    return 1;
  }
  if (!__culprit_contract_unknown && i == s->n + 1) {
    for (s->value = 1 << 30; *search_slot(s, s->value);)
      s->value++;
    return 1;
  }
  return 0;
}

void __culprit_search_close(ValueSearch *s) {
  if (!s->values)
    return;
  CALL(SYS_munmap, s->values, SEARCH_SIZE, 0);
  __culprit_contract_search = s->outer;
}

#endif
