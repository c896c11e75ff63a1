// Confinement: see confine.h.
#include "confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "confine/copy.h"
#include "confine/landlock.h"
#include "confine/namespaces.h"
#include "confine/supervisor.h"
#include "util/array.h"
#include "util/fs.h"
#include "util/mem.h"

typedef ARRAY(const char *) Names;

struct Confine {
  ConfinePlan plan; // its texts are ours
  Names seen, writable;
  Namespaces namespaces; // pid 0: there are none
  ViewFiles view;
  struct statfs clean; // of the view, when it was made
  unsigned generation;
  int rules; // of Landlock; -1: none
  Supervisor *supervisor;
  char *copy;             // of plan.copied; NULL: there is none
  struct timespec copied; // when that was made
  char *gaps;
};

// --- what may be used -------------------------------------------------------

// CULPRIT_CONFINE: a list of names; not set: all.
static bool may_use(const char *name) {
  const char *list = getenv("CULPRIT_CONFINE");
  if (!list || !*list)
    return true;
  size_t n = strlen(name);
  for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
    if (!strncmp(p, name, n) && (!p[n] || p[n] == ','))
      return true;
  return false;
}

// --- the plan ---------------------------------------------------------------

static char *real_path(const char *path) {
  char *real = realpath(path, NULL);
  return real ? real : mem_strdup(path);
}

static void take_names(Names *to, const char *const *from) {
  for (; from && *from; from++)
    array_push(to, real_path(*from));
  array_push(to, NULL);
}

static void free_names(Names *list) {
  for (size_t i = 0; i < list->len; i++)
    free((char *)list->items[i]);
  array_release(list);
}

// Mounts and rules are by real names.
static void take_plan(Confine *c, const ConfinePlan *plan) {
  take_names(&c->seen, plan->seen);
  take_names(&c->writable, plan->writable);
  c->plan = *plan;
  c->plan.scratch = real_path(plan->scratch);
  c->plan.seen = c->seen.items;
  c->plan.writable = c->writable.items;
  c->plan.copied = plan->copied ? real_path(plan->copied) : NULL;
  c->plan.ports = plan->nports
                      ? mem_dup(plan->ports, plan->nports * sizeof *plan->ports)
                      : NULL;
}

// --- the view ---------------------------------------------------------------

static void close_view(Confine *c) {
  if (c->view.mount >= 0)
    close(c->view.mount);
  if (c->view.root >= 0)
    close(c->view.root);
  c->view = (ViewFiles){-1, -1};
}

static int make_view(Confine *c, Err *err) {
  close_view(c);
  c->generation++;
  if (namespaces_make_view(&c->namespaces, &c->view, err)) {
    c->view = (ViewFiles){-1, -1};
    return -1;
  }
  if (fstatfs(c->view.root, &c->clean))
    return err_set(err, "the view is gone: %s", strerror(errno));
  return 0;
}

static void open_namespaces(Confine *c) {
  Err ignored;
  bool network = !c->plan.nports; // a port outside is to be reached
  if (!may_use("namespaces") ||
      namespaces_open(&c->namespaces, &c->plan, network, &ignored))
    return;
  if (make_view(c, &ignored)) {
    close_view(c);
    namespaces_close(&c->namespaces);
  }
}

bool confine_has_view(const Confine *c) { return c->namespaces.pid > 0; }

unsigned confine_generation(const Confine *c) { return c->generation; }

// Whatever a run makes, copies up or removes takes an inode or a block.
bool confine_is_dirty(const Confine *c) {
  struct statfs now;
  if (c->copy)
    return copy_changed(c->copy, c->copied);
  return confine_has_view(c) &&
         (fstatfs(c->view.root, &now) || now.f_ffree != c->clean.f_ffree ||
          now.f_bfree != c->clean.f_bfree);
}

static int make_copy(Confine *c, Err *err) {
  fs_remove_tree(c->copy);
  c->generation++;
  int rc = copy_tree(c->plan.copied, c->copy, err);
  c->copied = copy_moment();
  return rc;
}

int confine_reset(Confine *c, Err *err) {
  if (confine_has_view(c))
    return make_view(c, err);
  return c->copy ? make_copy(c, err) : 0;
}

// --- the other means --------------------------------------------------------

static void open_copy(Confine *c) {
  Err ignored;
  if (confine_has_view(c) || !c->plan.copied)
    return;
  c->copy = mem_printf("%s/copyXXXXXX", c->plan.scratch);
  if (!mkdtemp(c->copy)) {
    free(c->copy);
    c->copy = NULL;
    return;
  }
  if (!make_copy(c, &ignored))
    return;
  fs_remove_tree(c->copy);
  free(c->copy);
  c->copy = NULL;
}

static bool has_private_network(const Confine *c) {
  return c->namespaces.spaces & CLONE_NEWNET;
}

static void open_landlock(Confine *c) {
  LandlockPlan plan = {.files = !confine_has_view(c),
                       .writable = c->plan.writable,
                       .scratch = c->plan.scratch,
                       .network = !has_private_network(c),
                       .ports = c->plan.ports,
                       .nports = c->plan.nports};
  c->rules = may_use("landlock") ? landlock_rules(&plan) : -1;
}

static int usable_abi(void) { return may_use("landlock") ? landlock_abi() : 0; }

static void open_supervisor(Confine *c) {
  Err ignored;
  SupervisorPlan plan = {.plan = &c->plan,
                         .private_network = has_private_network(c),
                         .signals = usable_abi() < 6,
                         .files = !confine_has_view(c)};
  if (may_use("seccomp"))
    c->supervisor = supervisor_open(&plan, &ignored);
}

// --- what is left open ------------------------------------------------------

static void add_gap(Str *s, bool open, const char *what) {
  if (open)
    str_addf(s, "%s%s", s->len ? ", " : "", what);
}

// What a system lacks decides what is open:
//
//                       view  Landlock  supervisor  network namespace
//   writing, removing    x       x        x
//   modes, times         x                x
//   truncating           x      >= 3      x
//   TCP                         >= 4      x            x
//   datagrams                             x            x
//   Unix sockets                          x
//   signals                     >= 6      x
static void find_gaps(Confine *c) {
  bool supervised = c->supervisor, files = confine_has_view(c) || supervised;
  bool network = has_private_network(c) || supervised;
  int abi = usable_abi();
  Str s = {0};
  add_gap(&s, !files && !abi,
          c->copy ? "writing and removing files outside of the copy they get"
                  : "writing and removing files");
  add_gap(&s, !files, "changing modes, owners and times of files");
  add_gap(&s, !files && abi && abi < 3, "truncating files");
  add_gap(&s, !network && abi < 4, "TCP connections");
  add_gap(&s, !network, "datagrams");
  add_gap(&s, !supervised, "connections to Unix sockets");
  add_gap(&s, !supervised && abi < 6, "signals to other processes");
  if (s.len)
    c->gaps = mem_printf("not confined on this system: %s", str_text(&s));
  str_release(&s);
}

const char *confine_gaps(const Confine *c) { return c->gaps; }

// --- opening, entering, closing ---------------------------------------------

int confine_open(Confine **out, const ConfinePlan *plan, Err *err) {
  Confine *c = mem_new(Confine);
  *c = (Confine){.view = {-1, -1}, .rules = -1};
  *out = NULL;
  if (fs_mkdirs(plan->scratch, err)) {
    free(c);
    return -1;
  }
  take_plan(c, plan);
  open_namespaces(c);
  open_copy(c);
  open_landlock(c);
  open_supervisor(c);
  find_gaps(c);
  *out = c;
  return 0;
}

void confine_close(Confine *c) {
  if (!c)
    return;
  supervisor_close(c->supervisor);
  close_view(c);
  if (c->namespaces.pid)
    namespaces_close(&c->namespaces);
  if (c->rules >= 0)
    close(c->rules);
  if (c->copy)
    fs_remove_tree(c->copy);
  free(c->copy);
  free(c->gaps);
  free_names(&c->seen);
  free_names(&c->writable);
  free((char *)c->plan.scratch);
  free((char *)c->plan.copied);
  free((uint16_t *)c->plan.ports);
  free(c);
}

int confine_enter(const Confine *c) {
  if (confine_has_view(c) &&
      (setns(c->namespaces.pidfd, c->namespaces.spaces) ||
       setns(c->view.mount, CLONE_NEWNS)))
    return -1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    return -1;
  if (c->rules >= 0 && landlock_enter(c->rules))
    return -1;
  return c->supervisor ? supervisor_enter(c->supervisor) : 0;
}

// --- places -----------------------------------------------------------------

char *confine_inside(const Confine *c, const char *path) {
  if (!c->copy)
    return mem_strdup(path);
  const char *rest = path_below(path, c->plan.copied);
  if (!strcmp(path, c->plan.copied))
    return mem_strdup(c->copy);
  return rest == path ? mem_strdup(path) : mem_printf("%s/%s", c->copy, rest);
}

char *confine_outside(const Confine *c, const char *path) {
  return confine_has_view(c)
             ? mem_printf("/proc/self/fd/%d%s", c->view.root, path)
             : mem_strdup(path);
}

const char *confine_verb(RefusedKind kind) {
  static const char *const verbs[] = {[REFUSED_CONNECT] = "connecting to",
                                      [REFUSED_SIGNAL] = "signalling",
                                      [REFUSED_WRITE] = "writing"};
  return verbs[kind];
}

void confine_take_refused(Confine *c, void (*take)(void *ctx, const Refused *r),
                          void *ctx) {
  if (c->supervisor)
    supervisor_take_refused(c->supervisor, take, ctx);
}
