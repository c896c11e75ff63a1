// Orphans: see orphan.h.
#include "process/orphan.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/fs.h"
#include "util/str.h"

void children_list(Pids *out) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)gettid());
  Str text = {0};
  Err ignored;
  fs_read(path, 0, &text, &ignored);
  out->len = 0;
  const char *at = str_text(&text);
  char *end;
  for (long pid; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end)
    array_push(out, (pid_t)pid);
  str_release(&text);
}

bool process_has_env(pid_t pid, const char *entry) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
  Str env = {0};
  Err ignored;
  fs_read(path, 0, &env, &ignored);
  bool found = false;
  for (size_t i = 0; !found && i < env.len; i += strlen(env.data + i) + 1)
    found = !strcmp(env.data + i, entry);
  str_release(&env);
  return found;
}

long processes_total(void) {
  Str text = {0};
  Err ignored;
  fs_read("/proc/loadavg", 0, &text, &ignored); // 0.00 0.01 0.05 1/98 2610
  const char *slash = strchr(str_text(&text), '/');
  long n = slash ? strtol(slash + 1, NULL, 10) : -1;
  str_release(&text);
  return n;
}

// The processes of the machine that belong to the session.
void session_list(pid_t session, Pids *out) {
  DIR *d = opendir("/proc");
  if (!d)
    return;
  for (struct dirent *e; (e = readdir(d));) {
    pid_t pid = isdigit((unsigned char)e->d_name[0])
                    ? (pid_t)strtol(e->d_name, NULL, 10)
                    : 0;
    if (pid > 0 && getsid(pid) == session)
      array_push(out, pid);
  }
  closedir(d);
}

size_t processes_in_session(pid_t session) {
  Pids pids = {0};
  session_list(session, &pids);
  size_t n = pids.len;
  array_release(&pids);
  return n;
}

// Has the process a handler for the signal ("SigCgt:" in its status)?
static bool handles(pid_t pid, int signal) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  Str status = {0};
  Err ignored;
  fs_read(path, 0, &status, &ignored);
  const char *caught = strstr(str_text(&status), "\nSigCgt:");
  uint64_t mask = caught ? strtoull(caught + 8, NULL, 16) : 0;
  str_release(&status);
  return mask >> (signal - 1) & 1;
}

// The processor time of a thread, in the kernel's units.
static unsigned long time_of(pid_t pid, const char *thread) {
  Str text = {0};
  Err ignored;
  char path[64];
  unsigned long user = 0, system = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%.10s/stat", (int)pid, thread);
  fs_read(path, 0, &text, &ignored);
  const char *end = strrchr(str_text(&text), ')');
  if (end)
    sscanf(end, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
           &system);
  str_release(&text);
  return user + system;
}

// The thread that has worked most: not one that waits for it. Else the first.
static pid_t busy_thread(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *d = opendir(path);
  pid_t found = pid;
  unsigned long most = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    unsigned long time = e->d_name[0] == '.' ? 0 : time_of(pid, e->d_name);
    if (time <= most)
      continue;
    most = time;
    found = (pid_t)strtol(e->d_name, NULL, 10);
  }
  if (d)
    closedir(d);
  return found;
}

size_t session_ask(pid_t session, int signal) {
  Pids pids = {0};
  size_t n = 0;
  session_list(session, &pids);
  for (size_t i = 0; i < pids.len; i++)
    n += handles(pids.items[i], signal) &&
         !tgkill(pids.items[i], busy_thread(pids.items[i]), signal);
  array_release(&pids);
  return n;
}
