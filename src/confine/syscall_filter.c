// The seccomp filter: see syscall_filter.h.
#include "confine/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

// Would change what confines the run, or the machine itself.
static const int refused[] = {
    SYS_mount,         SYS_umount2,       SYS_pivot_root,   SYS_open_tree,
    SYS_move_mount,    SYS_fsopen,        SYS_fsmount,      SYS_fspick,
    SYS_mount_setattr, SYS_setns,         SYS_unshare,      SYS_reboot,
    SYS_kexec_load,    SYS_init_module,   SYS_finit_module, SYS_delete_module,
    SYS_swapon,        SYS_swapoff,       SYS_settimeofday, SYS_clock_settime,
    SYS_adjtimex,      SYS_clock_adjtime, SYS_bpf,          SYS_keyctl,
    SYS_add_key,       SYS_request_key,   SYS_sethostname,  SYS_setdomainname,
    SYS_quotactl,      SYS_acct,
};

// Would do what is asked about in a way that cannot be looked at. Programs that
// use them have to live without on older kernels.
static const int unknown[] = {SYS_io_uring_setup, SYS_openat2};

#define NONE {-1, -1}
#define PATH(n, p) {n, CALL_PATH, NONE, {p, -1}, false, -1, -1}
#define ENTRY(n, p) {n, CALL_PATH, NONE, {p, -1}, true, -1, -1}
#define PATH_AT(n, d, p) {n, CALL_PATH, {d, -1}, {p, -1}, false, -1, -1}
#define ENTRY_AT(n, d, p) {n, CALL_PATH, {d, -1}, {p, -1}, true, -1, -1}
#define OPEN_FILE(n) {n, CALL_FILE, NONE, NONE, false, -1, -1}
#define SIGNAL(n, s) {n, CALL_KILL, NONE, NONE, false, -1, s}

static const SystemCall asked[] = {
    {SYS_connect, CALL_CONNECT, NONE, NONE, false, -1, -1},
    SIGNAL(SYS_kill, 1),
    SIGNAL(SYS_tkill, 1),
    SIGNAL(SYS_tgkill, 2),
    SIGNAL(SYS_rt_sigqueueinfo, 1),
    SIGNAL(SYS_rt_tgsigqueueinfo, 2),
    {SYS_pidfd_send_signal, CALL_PIDFD, NONE, NONE, false, -1, 1},
    {SYS_open, CALL_PATH, NONE, {0, -1}, false, 1, -1},
    {SYS_openat, CALL_PATH, {0, -1}, {1, -1}, false, 2, -1},
    {SYS_rename, CALL_PATH, NONE, {0, 1}, true, -1, -1},
    {SYS_renameat, CALL_PATH, {0, 2}, {1, 3}, true, -1, -1},
    {SYS_renameat2, CALL_PATH, {0, 2}, {1, 3}, true, -1, -1},
    {SYS_link, CALL_PATH, NONE, {0, 1}, true, -1, -1},
    {SYS_linkat, CALL_PATH, {0, 2}, {1, 3}, true, -1, -1},
    PATH(SYS_creat, 0),
    PATH(SYS_truncate, 0),
    PATH(SYS_chmod, 0),
    PATH(SYS_chown, 0),
    PATH(SYS_utime, 0),
    PATH(SYS_utimes, 0),
    PATH(SYS_setxattr, 0),
    PATH(SYS_removexattr, 0),
    ENTRY(SYS_lchown, 0),
    ENTRY(SYS_lsetxattr, 0),
    ENTRY(SYS_lremovexattr, 0),
    ENTRY(SYS_mkdir, 0),
    ENTRY(SYS_mknod, 0),
    ENTRY(SYS_rmdir, 0),
    ENTRY(SYS_unlink, 0),
    ENTRY(SYS_symlink, 1),
    PATH_AT(SYS_fchmodat, 0, 1),
    PATH_AT(SYS_fchmodat2, 0, 1),
    PATH_AT(SYS_fchownat, 0, 1),
    PATH_AT(SYS_futimesat, 0, 1),
    PATH_AT(SYS_utimensat, 0, 1),
    ENTRY_AT(SYS_mkdirat, 0, 1),
    ENTRY_AT(SYS_mknodat, 0, 1),
    ENTRY_AT(SYS_unlinkat, 0, 1),
    ENTRY_AT(SYS_symlinkat, 1, 2),
    OPEN_FILE(SYS_fchmod),
    OPEN_FILE(SYS_fchown),
    OPEN_FILE(SYS_fsetxattr),
    OPEN_FILE(SYS_fremovexattr),
};

static const SystemCall sending = {SYS_sendto, CALL_CONNECT, NONE, NONE,
                                   false,      -1,           -1};

#define LENGTH(a) (sizeof(a) / sizeof *(a))

const SystemCall *filter_call(int number) {
  for (size_t i = 0; i < LENGTH(asked); i++)
    if (asked[i].number == number)
      return &asked[i];
  return number == SYS_sendto ? &sending : NULL;
}

static bool is_wanted(const FilterPlan *plan, const SystemCall *call) {
  if (call->kind == CALL_CONNECT)
    return true;
  if (call->kind == CALL_KILL || call->kind == CALL_PIDFD)
    return plan->signals;
  return plan->files;
}

#define LOAD(field)                                                            \
  (struct sock_filter)                                                         \
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value)                                                     \
  (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1)
#define ANSWER(what) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, (what))

#define ALLOW ANSWER(SECCOMP_RET_ALLOW)
#define ASK ANSWER(SECCOMP_RET_USER_NOTIF)
#define REFUSE(error) ANSWER(SECCOMP_RET_ERRNO | (error))
// Skips so many instructions if the value is (not) that one.
#define SKIP_IF(value, n)                                                      \
  (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (n), 0)
#define SKIP_UNLESS_N(value, n)                                                \
  (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define SKIP_UNLESS_ANY(bits, n)                                               \
  (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (n))

typedef struct {
  struct sock_filter *code;
  size_t n;
} FilterCode;

static void add(FilterCode *c, struct sock_filter one) {
  c->code[c->n++] = one;
}

static struct sock_filter load_argument(int i) {
  return (struct sock_filter)BPF_STMT(
      BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, args) +
                                           (size_t)i * sizeof(uint64_t)));
}

// Without an address, sendto connects to nothing: its fifth argument.
static void add_sendto(FilterCode *c) {
  add(c, SKIP_UNLESS_N(SYS_sendto, 4));
  add(c, load_argument(4));
  add(c, SKIP_UNLESS_N(0, 1));
  add(c, ALLOW);
  add(c, ASK);
}

// Only opening for writing.
static void add_open(FilterCode *c, const SystemCall *call) {
  add(c, SKIP_UNLESS_N((uint32_t)call->number, 4));
  add(c, load_argument(call->mode));
  add(c, SKIP_UNLESS_ANY(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 1));
  add(c, ASK);
  add(c, ALLOW);
}

// Sockets of the families of the network that are not for streams.
static void add_datagrams(FilterCode *c) {
  add(c, SKIP_UNLESS_N(SYS_socket, 8));
  add(c, load_argument(0));
  add(c, SKIP_IF(AF_INET, 2));
  add(c, SKIP_IF(AF_INET6, 1));
  add(c, ALLOW);
  add(c, load_argument(1));
  add(c, SKIP_UNLESS_ANY(SOCK_DGRAM, 1)); // also in SOCK_RAW
  add(c, REFUSE(EACCES));
  add(c, ALLOW);
}

static void add_asked(FilterCode *c, const SystemCall *call) {
  if (call->mode >= 0) {
    add_open(c, call);
    return;
  }
  add(c, SKIP_UNLESS((uint32_t)call->number));
  add(c, ASK);
}

size_t filter_make(const FilterPlan *plan, struct sock_filter *code) {
  FilterCode c = {.code = code};
  add(&c, LOAD(arch));
  add(&c, SKIP_IF(AUDIT_ARCH_X86_64, 1));
  add(&c, REFUSE(ENOSYS));
  add(&c, LOAD(nr));
  add_sendto(&c);
  if (plan->no_datagrams)
    add_datagrams(&c);
  for (size_t i = 0; i < LENGTH(refused); i++) {
    add(&c, SKIP_UNLESS((uint32_t)refused[i]));
    add(&c, REFUSE(EPERM));
  }
  for (size_t i = 0; i < LENGTH(unknown); i++) {
    add(&c, SKIP_UNLESS((uint32_t)unknown[i]));
    add(&c, REFUSE(ENOSYS));
  }
  for (size_t i = 0; i < LENGTH(asked); i++)
    if (is_wanted(plan, &asked[i]))
      add_asked(&c, &asked[i]);
  add(&c, ALLOW);
  return c.n;
}
