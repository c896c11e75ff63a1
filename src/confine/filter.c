// The filter of system calls: see filter.h.
#include "confine/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

// Would change what confines the run, or the machine itself.
static const int refused[] = {
    SYS_mount,         SYS_umount2,       SYS_pivot_root,
    SYS_open_tree,     SYS_move_mount,    SYS_fsopen,
    SYS_fsmount,       SYS_fspick,        SYS_mount_setattr,
    SYS_setns,         SYS_unshare,       SYS_reboot,
    SYS_kexec_load,    SYS_init_module,   SYS_finit_module,
    SYS_delete_module, SYS_swapon,        SYS_swapoff,
    SYS_settimeofday,  SYS_clock_settime, SYS_adjtimex,
    SYS_clock_adjtime, SYS_bpf,           SYS_keyctl,
    SYS_add_key,       SYS_request_key,   SYS_sethostname,
    SYS_setdomainname, SYS_quotactl,      SYS_acct,
};

static const struct {
  int number;
  CallKind kind;
} asked[] = {
    {SYS_connect, CALL_CONNECT},
    {SYS_sendto, CALL_CONNECT},
    {SYS_kill, CALL_KILL},
    {SYS_tgkill, CALL_KILL},
    {SYS_rt_sigqueueinfo, CALL_KILL},
    {SYS_rt_tgsigqueueinfo, CALL_KILL},
    {SYS_tkill, CALL_THREAD},
    {SYS_pidfd_send_signal, CALL_PIDFD},
    {SYS_chmod, CALL_PATH},
    {SYS_chown, CALL_PATH},
    {SYS_lchown, CALL_PATH},
    {SYS_utime, CALL_PATH},
    {SYS_utimes, CALL_PATH},
    {SYS_setxattr, CALL_PATH},
    {SYS_lsetxattr, CALL_PATH},
    {SYS_removexattr, CALL_PATH},
    {SYS_lremovexattr, CALL_PATH},
    {SYS_truncate, CALL_PATH},
    {SYS_fchmodat, CALL_AT},
    {SYS_fchmodat2, CALL_AT},
    {SYS_fchownat, CALL_AT},
    {SYS_futimesat, CALL_AT},
    {SYS_utimensat, CALL_AT},
    {SYS_fchmod, CALL_FILE},
    {SYS_fchown, CALL_FILE},
    {SYS_fsetxattr, CALL_FILE},
    {SYS_fremovexattr, CALL_FILE},
};

#define LENGTH(a) (sizeof(a) / sizeof *(a))

CallKind filter_call_kind(int number) {
  for (size_t i = 0; i < LENGTH(asked); i++)
    if (asked[i].number == number)
      return asked[i].kind;
  return CALL_OTHER;
}

static bool is_wanted(const FilterPlan *plan, int number, CallKind kind) {
  if (number == SYS_truncate)
    return plan->truncate;
  if (kind == CALL_CONNECT)
    return true;
  if (kind == CALL_KILL || kind == CALL_THREAD || kind == CALL_PIDFD)
    return plan->signals;
  return plan->changes;
}

#define LOAD(field)                                                            \
  (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                      \
                                offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value)                                                     \
  (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1)
#define ANSWER(what) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, (what))

// A call without an address is no connecting: sendto's fifth argument.
static size_t add_sendto(struct sock_filter *code) {
  code[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto,
                                         0, 4);
  code[1] = LOAD(args[4]);
  code[2] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
  code[3] = ANSWER(SECCOMP_RET_ALLOW);
  code[4] = ANSWER(SECCOMP_RET_USER_NOTIF);
  return 5;
}

size_t filter_make(const FilterPlan *plan, struct sock_filter *code) {
  size_t n = 0;
  code[n++] = LOAD(arch);
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                           AUDIT_ARCH_X86_64, 1, 0);
  code[n++] = ANSWER(SECCOMP_RET_ERRNO | ENOSYS);
  code[n++] = LOAD(nr);
  n += add_sendto(code + n);
  for (size_t i = 0; i < LENGTH(refused); i++) {
    code[n++] = SKIP_UNLESS((uint32_t)refused[i]);
    code[n++] = ANSWER(SECCOMP_RET_ERRNO | EPERM);
  }
  for (size_t i = 0; i < LENGTH(asked); i++) {
    if (asked[i].number == SYS_sendto ||
        !is_wanted(plan, asked[i].number, asked[i].kind))
      continue;
    code[n++] = SKIP_UNLESS((uint32_t)asked[i].number);
    code[n++] = ANSWER(SECCOMP_RET_USER_NOTIF);
  }
  code[n++] = ANSWER(SECCOMP_RET_ALLOW);
  return n;
}
