// Executes processes: see process.h.
//
// A slot goes FREE -> STARTING -> RUNNING -> ENDING -> ENDED -> FREE. It is
// STARTING until its starter tells the leader's number, RUNNING as long as its
// leader lives, ENDING while what the leader left behind is killed and reaped,
// ENDED until pool_wait reports it. DELAYED: the system could not make a
// process just now (another test forks for ever), we try again.
#include "process/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/orphan.h"
#include "process/spawn.h"
#include "runtime/format.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/stop.h"

#define TICK 0.1 // seconds between looks at output and number of processes
#define RETRY 0.05
#define LAST_WORDS 2.0 // seconds to say where it hangs, on a busy machine too

typedef enum {
  SLOT_FREE,
  SLOT_STARTING,
  SLOT_DELAYED,
  SLOT_RUNNING,
  SLOT_ENDING,
  SLOT_ENDED
} SlotState;

typedef struct {
  SlotState state;
  const Spawn *spawn;
  Starter *starter; // made when the slot is first used
  pid_t pid;        // leader, and number of its group and session
  int out, err;
  double started;
  double wake;    // when to look at it again
  double give_up; // ENDING, or killed: when to stop waiting for its death
  bool killed;
  bool asked; // to say where it hangs
  Outcome outcome;
} Slot;

// A signal from a child whose pid the starter has not reported yet.
typedef struct {
  pid_t child;
  int number;
} Sent;

struct Pool {
  Slot *slots;
  size_t nslots;
  int signals, null, bell;
  sigset_t mask;      // as it was
  bool told, closing; // told: that we are to stop
  Pids before, kids;  // children that are not ours; scratch
  long total;         // processes of the machine when all was well
  ARRAY(Sent) early;
};

// --- opening and starting ---------------------------------------------------

// Our descriptors must not be taken for standard streams.
static void fill_standard_streams(void) {
  int fd;
  do
    fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= 2);
  if (fd > 2)
    close(fd);
}

static void close_pool_files(Pool *p) {
  close(p->null);
  close(p->signals);
  close(p->bell);
}

// The others are util/stop's.
static const int signals[] = {SIGCHLD, SIGQUIT, SIGUSR1, SIGUSR2};

int pool_open(Pool **pool, size_t slots, Err *err) {
  assert(slots > 0);
  fill_standard_streams();
  Pool *p = mem_new(Pool);
  sigset_t watched;
  sigemptyset(&watched);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaddset(&watched, signals[i]);
  stop_watch();
  p->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  p->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  p->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (p->null < 0 || p->signals < 0 || p->bell < 0) {
    err_set(err, "cannot watch processes: %s", strerror(errno));
    close_pool_files(p);
    free(p);
    return -1;
  }
  sigprocmask(SIG_BLOCK, &watched, &p->mask);
  p->slots = mem_array(Slot, slots);
  p->nslots = slots;
  children_list(&p->before);
  stop_adopt();
  p->total = processes_total();
  *pool = p;
  return 0;
}

// Made anew: what an earlier test left open must not write into it.
static int make_file(const char *path) {
  if (!path)
    return -1;
  unlink(path);
  return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static void close_files(Slot *s) {
  if (s->out >= 0)
    close(s->out);
  if (s->err >= 0)
    close(s->err);
  s->out = s->err = -1;
}

static void end_unstarted(Slot *s) {
  close_files(s);
  s->outcome.end = END_UNSTARTED;
  s->state = SLOT_ENDED;
}

// What the run before it has changed is not for this one.
static int renew_view(Slot *s) {
  Confine *c = s->spawn->confine;
  Err err;
  if (!c || !confine_is_dirty(c) || !confine_reset(c, &err))
    return 0;
  snprintf(s->outcome.problem, sizeof s->outcome.problem,
           "cannot confine it: %.400s", err.text);
  end_unstarted(s);
  return -1;
}

static void ask_for_start(Pool *p, Slot *s) {
  const Spawn *spawn = s->spawn;
  if (renew_view(s))
    return;
  s->out = make_file(spawn->out);
  s->err = make_file(spawn->err);
  if ((spawn->out && s->out < 0) || (spawn->err && s->err < 0)) {
    snprintf(s->outcome.problem, sizeof s->outcome.problem,
             "cannot create %s: %s", s->out < 0 ? spawn->out : spawn->err,
             strerror(errno));
    end_unstarted(s);
    return;
  }
  if (!s->starter)
    s->starter = starter_new(p->bell, &p->mask);
  if (!s->starter) {
    strcpy(s->outcome.problem, "cannot create a thread");
    end_unstarted(s);
    return;
  }
  s->state = SLOT_STARTING;
  s->wake = s->give_up;
  starter_ask(s->starter, spawn, (Streams){p->null, s->out, s->err, -1});
}

void pool_start(Pool *p, size_t slot, const Spawn *spawn) {
  assert(slot < p->nslots);
  Slot *s = &p->slots[slot];
  assert(s->state == SLOT_FREE);
  *s = (Slot){.spawn = spawn, .starter = s->starter, .out = -1, .err = -1};
  s->give_up = clock_now() + PROCESS_GIVE_UP +
               (spawn->timeout > 0 ? spawn->timeout : 60);
  ask_for_start(p, s);
}

// --- killing what is left ---------------------------------------------------

// May it have processes? One that is being started may have had children before
// its starter's answer was taken.
static bool is_busy(const Slot *s) {
  return s->state == SLOT_STARTING || s->state == SLOT_RUNNING ||
         s->state == SLOT_ENDING;
}

static bool is_known(const Pids *pids, pid_t pid) {
  for (size_t i = 0; i < pids->len; i++)
    if (pids->items[i] == pid)
      return true;
  return false;
}

static Slot *slot_of_leader(const Pool *p, pid_t pid) {
  for (size_t i = 0; i < p->nslots; i++)
    if (p->slots[i].state == SLOT_RUNNING && p->slots[i].pid == pid)
      return &p->slots[i];
  return NULL;
}

// The busy slot an orphan belongs to; NULL: not known.
static const Slot *owner_of(const Pool *p, pid_t pid) {
  pid_t session = getsid(pid);
  for (size_t i = 0; i < p->nslots; i++)
    if (is_busy(&p->slots[i]) && p->slots[i].pid == session)
      return &p->slots[i];
  for (size_t i = 0; i < p->nslots; i++) {
    const Slot *s = &p->slots[i];
    if (is_busy(s) && s->spawn->mark && process_has_env(pid, s->spawn->mark))
      return s;
  }
  return NULL;
}

static void kill_with_group(pid_t pid) {
  pid_t group = getpgid(pid);
  if (group > 1 && group != getpgrp())
    kill(-group, SIGKILL);
  kill(pid, SIGKILL);
}

// Kills the orphans of slot `s` (NULL: all orphans), and those of unknown
// owner if nothing else runs. Says whether there were any: dead ones count
// until they are reaped, because their children may not be ours yet.
static bool kill_orphans(Pool *p, const Slot *s) {
  bool alone = true;
  for (size_t i = 0; i < p->nslots; i++)
    alone = alone && (&p->slots[i] == s || !is_busy(&p->slots[i]));
  bool found = false;
  children_list(&p->kids);
  for (size_t i = 0; i < p->kids.len; i++) {
    pid_t pid = p->kids.items[i];
    if (slot_of_leader(p, pid) || is_known(&p->before, pid))
      continue;
    const Slot *owner = alone ? s : owner_of(p, pid);
    if (owner != s)
      continue;
    kill_with_group(pid);
    found = true;
  }
  return found;
}

// Also reports a process that could not be killed as ended.
static void try_finish(Pool *p, Slot *s, double now) {
  bool group_left = kill(-s->pid, 0) == 0 || errno == EPERM;
  bool left = kill_orphans(p, s) || group_left;
  if (left && now < s->give_up) {
    s->wake = now + RETRY;
    return;
  }
  s->state = SLOT_ENDED;
}

static void kill_slot(Slot *s, End why) {
  s->outcome.end = why;
  s->killed = true;
  s->give_up = clock_now() + PROCESS_GIVE_UP;
  s->wake = s->give_up;
  kill(-s->pid, SIGKILL);
  kill(s->pid, SIGKILL);
}

// A process that hangs is asked where, then killed.
static void end_hanging(Slot *s) {
  if (!s->asked && s->spawn->hangs)
    s->spawn->hangs(s->spawn->context, s->pid);
  if (!s->asked && session_ask(s->pid, RUNFILE_HANG)) {
    s->asked = true;
    s->outcome.end = END_TIMEOUT;
    s->wake = clock_now() + LAST_WORDS;
  } else {
    kill_slot(s, END_TIMEOUT);
  }
}

// --- what happens to a slot -------------------------------------------------

static uint64_t file_size(int fd) {
  struct stat st;
  return fd >= 0 && !fstat(fd, &st) ? (uint64_t)st.st_size : 0;
}

static bool too_much_output(const Slot *s) {
  uint64_t max = s->spawn->max_output;
  return max && file_size(s->out) + file_size(s->err) > max;
}

// The leader is a zombie: its number is still taken, so that the group we kill
// is certainly its own.
static void leader_ended(Pool *p, Slot *s) {
  double now = clock_now();
  int status = 0;
  kill(-s->pid, SIGKILL);
  waitpid(s->pid, &status, 0);
  s->outcome.seconds = now - s->started;
  s->outcome.status =
      WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  if (!s->killed && !s->asked)
    s->outcome.end = too_much_output(s)  ? END_OUTPUT
                     : WIFEXITED(status) ? END_EXIT
                                         : END_SIGNAL;
  close_files(s);
  s->state = SLOT_ENDING;
  s->give_up = now + PROCESS_GIVE_UP;
  try_finish(p, s, now);
}

static void take_early(Pool *p, Slot *s) {
  for (size_t i = 0; i < p->early.len; i++)
    if (p->early.items[i].child == s->pid) {
      s->outcome.sent = p->early.items[i].number;
      p->early.items[i] = array_last(&p->early);
      p->early.len--;
      return;
    }
}

// The starter has answered.
static void take_answer(Pool *p, Slot *s) {
  StartAnswer answer;
  if (!starter_take(s->starter, &answer))
    return;
  double now = clock_now();
  if (answer.pid > 0) {
    s->pid = answer.pid;
    s->started = now;
    s->wake = now + TICK;
    s->state = SLOT_RUNNING;
    take_early(p, s);
    if (p->closing)
      kill_slot(s, END_TIMEOUT);
  } else if (answer.try_again && now < s->give_up && !p->closing) {
    close_files(s);
    s->wake = now + RETRY;
    s->state = SLOT_DELAYED;
  } else {
    memcpy(s->outcome.problem, answer.problem, sizeof answer.problem);
    end_unstarted(s);
  }
}

static void take_answers(Pool *p) {
  for (size_t i = 0; i < p->nslots; i++)
    if (p->slots[i].state == SLOT_STARTING)
      take_answer(p, &p->slots[i]);
}

static bool any_starting(const Pool *p) {
  for (size_t i = 0; i < p->nslots; i++)
    if (p->slots[i].state == SLOT_STARTING)
      return true;
  return false;
}

// The slot that a process which descends from us belongs to; NULL: cannot be
// told.
static Slot *slot_of_sender(Pool *p, pid_t pid) {
  Slot *s = NULL;
  for (pid_t at = pid; !s && at > 1; at = process_parent(at))
    s = slot_of_leader(p, at);
  return s ? s : (Slot *)owner_of(p, pid);
}

// What the signal would do if we did not watch it.
static void let_it_happen(Pool *p, int number) {
  signal(number, SIG_DFL);
  raise(number);
  sigprocmask(SIG_SETMASK, &p->mask, NULL);
}

static void note_sender(Pool *p, pid_t pid, pid_t child, int number) {
  take_answers(p);
  Slot *s = slot_of_sender(p, pid);
  if (s)
    s->outcome.sent = number;
  else if (any_starting(p))
    array_push(&p->early, (Sent){child, number});
}

static void take_signal(Pool *p, const struct signalfd_siginfo *info) {
  int number = (int)info->ssi_signo;
  if (number == SIGCHLD)
    return;
  pid_t pid = info->ssi_code <= 0 ? (pid_t)info->ssi_pid : 0; // not the kernel
  pid_t child = pid ? process_ancestor(pid) : 0;
  if (child)
    note_sender(p, pid, child, number);
  else
    let_it_happen(p, number);
}

static void read_signals(Pool *p) {
  struct signalfd_siginfo info[16];
  ssize_t n;
  pid_t pid;
  while ((n = read(p->signals, info, sizeof info)) > 0)
    for (size_t i = 0; i < (size_t)n / sizeof *info; i++)
      take_signal(p, &info[i]);
  for (int number; (number = stop_take_sent(&pid));)
    note_sender(p, pid, process_ancestor(pid), number);
}

static void reap(Pool *p) {
  for (;;) {
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
      return;
    read_signals(p); // while their senders can still be identified
    take_answers(p);
    Slot *s = slot_of_leader(p, info.si_pid);
    if (s)
      leader_ended(p, s);
    else if (any_starting(p))
      return; // it may be a leader: its starter's answer will wake us
    else
      waitpid(info.si_pid, NULL, WNOHANG);
  }
}

// Does this test fork for ever? Asked only while the machine as a whole has
// many more processes than before.
static bool too_many_processes(Pool *p, const Slot *s) {
  unsigned most =
      s->spawn->max_processes ? s->spawn->max_processes : PROCESSES_MAX;
  if (p->total < 0 || processes_total() < p->total + (int)most)
    return false;
  return processes_in_session(s->pid) > most;
}

static void look_at_running(Pool *p, Slot *s, double now) {
  double timeout = s->spawn->timeout;
  if (s->killed) { // and does not die
    if (now >= s->give_up) {
      close_files(s);
      s->outcome.status = -SIGKILL;
      s->outcome.seconds = now - s->started;
      s->state = SLOT_ENDED;
    }
  } else if (timeout > 0 && now >= s->started + timeout) {
    end_hanging(s);
  } else if (too_much_output(s)) {
    kill_slot(s, END_OUTPUT);
  } else if (too_many_processes(p, s)) {
    kill_slot(s, END_PROCESSES);
  } else {
    s->wake = now + TICK;
    if (timeout > 0 && s->wake > s->started + timeout)
      s->wake = s->started + timeout;
  }
}

static void look_at(Pool *p, Slot *s, double now) {
  if (s->state == SLOT_ENDING)
    try_finish(p, s, now);
  else if (now < s->wake)
    return;
  else if (s->state == SLOT_RUNNING)
    look_at_running(p, s, now);
  else if (s->state == SLOT_DELAYED)
    ask_for_start(p, s);
}

// --- waiting ----------------------------------------------------------------

static void read_events(Pool *p) {
  eventfd_t ignored;
  eventfd_read(p->bell, &ignored);
  read_signals(p);
}

static bool is_news(const Pool *p) {
  return stop_requested() && !p->told && !p->closing;
}

static void poll_events(Pool *p, int ms) {
  struct pollfd fds[] = {
      {.fd = p->signals, .events = POLLIN},
      {.fd = p->bell, .events = POLLIN},
      {.fd = p->told || p->closing ? -1 : stop_fd(), .events = POLLIN}};
  poll(fds, 3, ms);
  read_events(p);
}

static bool is_waiting(const Slot *s) {
  return s->state != SLOT_FREE && s->state != SLOT_ENDED;
}

// Sleeps until a signal, or the time any slot wants to be looked at, or `end`
// (0: none).
static void sleep_until_event(Pool *p, double end) {
  double until = end;
  for (size_t i = 0; i < p->nslots; i++) {
    const Slot *s = &p->slots[i];
    if (is_waiting(s) && (until <= 0 || s->wake < until))
      until = s->wake;
  }
  double left = until - clock_now();
  int ms = until <= 0 ? -1 : left <= 0 ? 0 : (int)(left * 1000) + 1;
  poll_events(p, ms);
}

static bool take_ended(Pool *p, size_t *slot, Outcome *outcome) {
  for (size_t i = 0; i < p->nslots; i++) {
    if (p->slots[i].state != SLOT_ENDED)
      continue;
    p->slots[i].state = SLOT_FREE;
    *slot = i;
    *outcome = p->slots[i].outcome;
    return true;
  }
  return false;
}

static bool any_waiting(const Pool *p) {
  for (size_t i = 0; i < p->nslots; i++)
    if (is_waiting(&p->slots[i]))
      return true;
  return false;
}

PoolEvent pool_wait(Pool *p, int milliseconds, size_t *slot, Outcome *outcome) {
  double end = milliseconds < 0 ? 0 : clock_now() + milliseconds * 1e-3;
  for (;;) {
    if (take_ended(p, slot, outcome))
      return POOL_ENDED;
    if (is_news(p)) {
      p->told = true;
      return POOL_INTERRUPTED;
    }
    if (!any_waiting(p) || (end > 0 && clock_now() >= end))
      return POOL_IDLE;
    sleep_until_event(p, end);
    take_answers(p);
    reap(p);
    double now = clock_now();
    for (size_t i = 0; i < p->nslots; i++)
      look_at(p, &p->slots[i], now);
  }
}

void pool_terminate(Pool *p, size_t slot) {
  assert(slot < p->nslots);
  if (p->slots[slot].state == SLOT_RUNNING)
    kill(-p->slots[slot].pid, SIGTERM);
}

void pool_kill_all(Pool *p) {
  p->closing = true;
  for (size_t i = 0; i < p->nslots; i++)
    if (p->slots[i].state == SLOT_RUNNING)
      kill_slot(&p->slots[i], END_TIMEOUT);
    else if (p->slots[i].state == SLOT_DELAYED)
      p->slots[i].state = SLOT_FREE;
  size_t slot;
  Outcome outcome;
  while (any_waiting(p))
    pool_wait(p, 1000, &slot, &outcome);
  while (take_ended(p, &slot, &outcome))
    ;
  for (double end = clock_now() + PROCESS_GIVE_UP;
       kill_orphans(p, NULL) && clock_now() < end;) {
    poll_events(p, 50);
    reap(p);
  }
  p->closing = false;
}

void pool_close(Pool *p) {
  if (!p)
    return;
  pool_kill_all(p);
  for (size_t i = 0; i < p->nslots; i++)
    starter_free(p->slots[i].starter);
  close_pool_files(p);
  sigprocmask(SIG_SETMASK, &p->mask, NULL);
  array_release(&p->before);
  array_release(&p->kids);
  array_release(&p->early);
  free(p->slots);
  free(p);
}
