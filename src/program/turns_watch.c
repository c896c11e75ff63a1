// Watching a process that hangs: see turns_watch.h.
//
// The processor's debug registers stop the thread at up to four addresses. Where
// they cannot be had (some virtual machines), it is executed step by step.
#include "program/turns_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "program/unwind.h"
#include "util/clock.h"

enum {
  PLACES = 16,
  ADDRESSES = 4, // as many as there are registers
  PATIENCE = 5,  // seconds for it to stop
  SPINS = 200,   // before we sleep while it runs
  NAP = 50000,   // nanoseconds
};

typedef struct {
  uint64_t pc;
  bool exact;
  uint64_t count;
} WatchedAddress;

typedef struct {
  pid_t thread;
  WatchedAddress at[ADDRESSES];
  size_t n;
  bool steps; // no registers to be had
  int signal; // that it is to get when it goes on; 0: none
} TurnsWatch;

static bool set_register(pid_t thread, size_t number, uint64_t value) {
  size_t at = offsetof(struct user, u_debugreg) + number * sizeof(uint64_t);
  return !ptrace(PTRACE_POKEUSER, thread, (void *)at, (void *)value);
}

static void arm(TurnsWatch *w) {
  uint64_t enabled = 0;
  for (size_t i = 0; !w->steps && i < w->n; i++) {
    w->steps |= !set_register(w->thread, i, w->at[i].pc);
    enabled |= 1u << (2 * i); // to execute it
  }
  w->steps = w->steps || !set_register(w->thread, 7, enabled);
}

// Waits until it stops. False: it does not in time, or has ended; it is not
// reaped, others wait for that.
static bool await_stop(const TurnsWatch *w, double end, int *status) {
  for (unsigned looks = 0;; looks++) {
    siginfo_t seen = {0};
    if (waitid(P_PID, (id_t)w->thread, &seen,
               WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) &&
        errno != EINTR)
      return false;
    bool stopped = seen.si_code == CLD_TRAPPED || seen.si_code == CLD_STOPPED;
    if (seen.si_pid && stopped)
      return waitpid(w->thread, status, __WALL | WNOHANG) == w->thread;
    if (seen.si_pid || clock_now() > end)
      return false;
    if (looks < SPINS)
      sched_yield();
    else
      nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
  }
}

// Counts where it stopped. Returns the signal to go on with.
static int note_stop(TurnsWatch *w, int status) {
  struct user_regs_struct regs;
  int signal = WSTOPSIG(status);
  if (status >> 16) // an event of ptrace's
    return 0;
  if (signal != SIGTRAP)
    return signal;
  if (!ptrace(PTRACE_GETREGS, w->thread, NULL, &regs))
    for (size_t i = 0; i < w->n; i++)
      w->at[i].count += w->at[i].pc == regs.rip;
  return 0;
}

static bool halt(TurnsWatch *w) {
  int status;
  if (ptrace(PTRACE_INTERRUPT, w->thread, NULL, NULL) ||
      !await_stop(w, clock_now() + PATIENCE, &status))
    return false;
  w->signal = note_stop(w, status);
  return true;
}

// Goes on until the time is over. False: it has ended.
static bool follow_turns(TurnsWatch *w) {
  double end = clock_now() + TURNS_SECONDS;
  int status;
  while (!ptrace(w->steps ? PTRACE_SINGLESTEP : PTRACE_CONT, w->thread, NULL,
                 (void *)(intptr_t)w->signal)) {
    bool stopped = await_stop(w, end, &status);
    if (stopped)
      w->signal = note_stop(w, status);
    if (clock_now() > end)
      return stopped || halt(w);
    if (!stopped)
      return false;
  }
  return false;
}

// One that does not stop stays traced until it is killed.
static void watch(TurnsWatch *w) {
  if (ptrace(PTRACE_SEIZE, w->thread, NULL, NULL) || !halt(w))
    return;
  arm(w);
  if (follow_turns(w)) {
    set_register(w->thread, 7, 0);
    ptrace(PTRACE_DETACH, w->thread, NULL, (void *)(intptr_t)w->signal);
  }
}

static void add_address(TurnsWatch *w, const CodeFrame *f) {
  for (size_t i = 0; i < w->n; i++)
    if (w->at[i].pc == f->pc)
      return;
  if (w->n < ADDRESSES)
    w->at[w->n++] = (WatchedAddress){f->pc, f->exact, 0};
}

// A call that returns for the first time has not turned anything.
static uint64_t turns_at(const TurnsWatch *w, uint64_t pc) {
  for (size_t i = 0; i < w->n; i++)
    if (w->at[i].pc == pc)
      return w->at[i].count - (w->at[i].count && !w->at[i].exact);
  return 0;
}

void turns_watch(pid_t pid, bool steps, Str *out) {
  CodeFrame frames[PLACES];
  TurnsWatch w = {.steps = steps};
  size_t n = unwind_busiest(pid, &w.thread, frames, PLACES);
  for (size_t i = 0; i < n; i++)
    add_address(&w, &frames[i]);
  if (n)
    watch(&w);
  for (size_t i = 0; i < n; i++) {
    uint64_t turns = turns_at(&w, frames[i].pc);
    if (turns)
      str_addf(out, "%u %" PRIu64 " %s\n", frames[i].place.line, turns,
               frames[i].place.file);
    free(frames[i].place.file);
  }
}
