// Processes that fled: see orphan.h.
#include "run/orphan.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/str.h"

void orphans_adopt(bool on) { prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0); }

// Appends what can be read of a file of /proc.
static void read_proc(const char *path, Str *out) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  char buf[4096];
  ssize_t n;
  while ((n = read(fd, buf, sizeof buf)) > 0)
    str_addn(out, buf, (size_t)n);
  close(fd);
}

void children_list(Pids *out) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)gettid());
  Str text = {0};
  read_proc(path, &text);
  out->len = 0;
  const char *at = str_text(&text);
  char *end;
  for (long pid; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end)
    array_push(out, (pid_t)pid);
  str_release(&text);
}

void orphans_end(void) {
  enum { ROUNDS = 1000 }; // each may have children of its own
  Pids pids = {0};
  for (int i = 0; i < ROUNDS; i++) {
    children_list(&pids);
    if (!pids.len)
      break;
    for (size_t k = 0; k < pids.len; k++)
      kill(pids.items[k], SIGKILL);
    for (size_t k = 0; k < pids.len; k++)
      waitpid(pids.items[k], NULL, 0);
  }
  array_release(&pids);
}

bool process_has_env(pid_t pid, const char *entry) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
  Str env = {0};
  read_proc(path, &env);
  bool found = false;
  for (size_t i = 0; !found && i < env.len; i += strlen(env.data + i) + 1)
    found = !strcmp(env.data + i, entry);
  str_release(&env);
  return found;
}

// A number as text, by hand: printf is not for signal handlers.
static char *put_number(char *p, pid_t n) {
  char digits[16];
  int i = 0;
  do
    digits[i++] = (char)('0' + n % 10);
  while (n /= 10);
  while (i)
    *p++ = digits[--i];
  return p;
}

pid_t process_parent(pid_t pid) {
  char path[48] = "/proc/", text[512];
  if (pid <= 0)
    return 0;
  memcpy(put_number(path + strlen(path), pid), "/stat", sizeof "/stat");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0)
    close(fd);
  text[n < 0 ? 0 : n] = '\0';
  const char *p = strrchr(text, ')'); // 12 (name) S 1 ...
  pid_t parent = 0;
  for (p = p && strlen(p) > 4 ? p + 4 : ""; *p >= '0' && *p <= '9'; p++)
    parent = parent * 10 + (*p - '0');
  return parent;
}

pid_t process_ancestor(pid_t pid) {
  pid_t self = getpid();
  for (pid_t parent; pid > 1 && pid != self; pid = parent)
    if ((parent = process_parent(pid)) == self)
      return pid;
  return 0;
}

long processes_total(void) {
  Str text = {0};
  read_proc("/proc/loadavg", &text); // 0.00 0.01 0.05 1/98 2610
  const char *slash = strchr(str_text(&text), '/');
  long n = slash ? strtol(slash + 1, NULL, 10) : -1;
  str_release(&text);
  return n;
}

size_t processes_in_session(pid_t session) {
  DIR *d = opendir("/proc");
  if (!d)
    return 0;
  size_t n = 0;
  for (struct dirent *e; (e = readdir(d));)
    if (isdigit((unsigned char)e->d_name[0]))
      n += getsid((pid_t)strtol(e->d_name, NULL, 10)) == session;
  closedir(d);
  return n;
}
