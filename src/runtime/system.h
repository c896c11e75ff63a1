// What guest code (runtime.c, trace.c) does by itself, so that it works in a
// program without libc and disturbs none: system calls, memory, numbers, the
// environment. Everything is inlined: there are no symbols to clash.
#ifndef CULPRIT_RUNTIME_SYSTEM_H
#define CULPRIT_RUNTIME_SYSTEM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef __x86_64__
#error "the runtime knows x86-64 only"
#endif

#define INLINE static inline __attribute__((always_inline))

extern char **environ __attribute__((weak)); // from libc, where there is one

INLINE long call6(long n, long a, long b, long c, long d, long e, long f) {
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

// Did the call fail that returned this address?
INLINE bool is_error(const void *p) { return (uintptr_t)p > -4096ul; }

INLINE void *map_file(void *at, size_t size, int flags, int fd, size_t from) {
  return (void *)call6(SYS_mmap, (long)at, (long)size, PROT_READ | PROT_WRITE,
                       MAP_SHARED | flags, fd, (long)from);
}

// A set-user-id program does not write where its caller says.
INLINE bool is_own_user(void) {
  return CALL(SYS_getuid, 0, 0, 0) == CALL(SYS_geteuid, 0, 0, 0) &&
         CALL(SYS_getgid, 0, 0, 0) == CALL(SYS_getegid, 0, 0, 0);
}

// What rt_sigaction takes; SA_RESTORER must be among the flags of a handler.
enum { SA_RESTORER_ = 0x04000000 };
struct KernelAction {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};

INLINE long set_action(int sig, const struct KernelAction *new,
                       struct KernelAction *old) {
  return call6(SYS_rt_sigaction, sig, (long)new, (long)old, 8, 0, 0);
}

INLINE void copy(void *to, const void *from, size_t n) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

// Written out: a compiler would call memset, which a program without libc
// lacks.
INLINE void clear(void *at, size_t n) {
  __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(0) : "memory");
}

INLINE size_t length(const char *s) {
  size_t n = 0;
  while (s[n])
    n++;
  return n;
}

// The value of an environment variable whose name has n letters.
INLINE const char *variable(const char *name, size_t n) {
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

INLINE char *put_number(char *p, uint64_t v, unsigned base) {
  char digits[20];
  int n = 0;
  do
    digits[n++] = "0123456789abcdef"[v % base];
  while (v /= base);
  while (n)
    *p++ = digits[--n];
  return p;
}

#endif
