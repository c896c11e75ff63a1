// Landlock: see landlock.h. The numbers are the kernel's; its headers in
// Debian 12 know the first two versions only.
#include "confine/landlock.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
  uint64_t handled_files;
  uint64_t handled_network;
  uint64_t scoped;
} Ruleset;

typedef struct {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed)) PathRule;

typedef struct {
  uint64_t allowed;
  uint64_t port;
} PortRule;

enum {
  ASK_VERSION = 1,
  RULE_PATH = 1,
  RULE_PORT = 2,
  FILE_EXECUTE = 1 << 0,
  FILE_WRITE = 1 << 1,
  FILE_READ = 1 << 2,
  DIR_READ = 1 << 3,
  DIR_REFER = 1 << 13,
  FILE_TRUNCATE = 1 << 14,
  FILES_FIRST = (1 << 13) - 1, // all that version 1 knows
  TCP_BIND = 1 << 0,
  TCP_CONNECT = 1 << 1,
  SCOPE_SOCKET = 1 << 0,
  SCOPE_SIGNAL = 1 << 1,
};

int landlock_abi(void) {
  long n = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
  return n > 0 ? (int)n : 0;
}

static uint64_t file_rights(int abi) {
  return FILES_FIRST | (abi >= 2 ? DIR_REFER : 0) |
         (abi >= 3 ? FILE_TRUNCATE : 0);
}

static void allow_path(int rules, const char *path, uint64_t rights) {
  int fd = open(path, O_PATH | O_CLOEXEC);
  PathRule rule = {rights, fd};
  if (fd < 0)
    return;
  syscall(SYS_landlock_add_rule, rules, RULE_PATH, &rule, 0);
  close(fd);
}

static void allow_files(int rules, const LandlockPlan *plan, int abi) {
  static const char *const devices[] = {
      "/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
      "/dev/urandom", "/dev/tty",  "/dev/ptmx", NULL};
  uint64_t all = file_rights(abi);
  uint64_t device = FILE_READ | FILE_WRITE | (all & FILE_TRUNCATE);
  allow_path(rules, "/", FILE_EXECUTE | FILE_READ | DIR_READ);
  allow_path(rules, plan->scratch, all);
  allow_path(rules, "/dev/pts", DIR_READ | FILE_READ | FILE_WRITE);
  for (const char *const *p = plan->writable; p && *p; p++)
    allow_path(rules, *p, all);
  for (const char *const *p = devices; *p; p++)
    allow_path(rules, *p, device);
}

static void allow_ports(int rules, const LandlockPlan *plan) {
  for (size_t i = 0; i < plan->nports; i++) {
    PortRule rule = {TCP_CONNECT, plan->ports[i]};
    syscall(SYS_landlock_add_rule, rules, RULE_PORT, &rule, 0);
  }
}

int landlock_rules(const LandlockPlan *plan) {
  int abi = landlock_abi();
  Ruleset set = {.handled_files = plan->files && abi ? file_rights(abi) : 0,
                 .handled_network =
                     plan->network && abi >= 4 ? TCP_BIND | TCP_CONNECT : 0,
                 .scoped = abi >= 6 ? SCOPE_SOCKET | SCOPE_SIGNAL : 0};
  // Older kernels refuse a structure they do not know the end of.
  size_t size = abi >= 6   ? sizeof set
                : abi >= 4 ? 2 * sizeof(uint64_t)
                           : sizeof(uint64_t);
  if (!set.handled_files && !set.handled_network && !set.scoped)
    return -1;
  int rules = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
  if (rules < 0)
    return -1;
  fcntl(rules, F_SETFD, FD_CLOEXEC);
  if (set.handled_files)
    allow_files(rules, plan, abi);
  if (set.handled_network)
    allow_ports(rules, plan);
  return rules;
}

int landlock_enter(int rules) {
  return (int)syscall(SYS_landlock_restrict_self, rules, 0);
}
