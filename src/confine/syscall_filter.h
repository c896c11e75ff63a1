// The seccomp filter of a confined process: which system calls it refuses, and
// which it passes to the supervisor (supervisor.h).
#ifndef CULPRIT_CONFINE_SYSCALL_FILTER_H
#define CULPRIT_CONFINE_SYSCALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct sock_filter;

// What the supervisor decides about, besides connecting.
typedef struct {
  bool signals;      // to processes
  bool files;        // writing, making, removing, changing them
  bool no_datagrams; // sockets for datagrams to the network are refused
} FilterPlan;

typedef enum {
  CALL_OTHER,
  CALL_CONNECT, // connect, sendto with an address
  CALL_KILL,    // a process or group: first argument
  CALL_PIDFD,   // pidfd_send_signal
  CALL_FILE,    // an open file: first argument
  CALL_PATH,    // paths, as the other fields say
} CallKind;

// A system call that the supervisor is asked about.
typedef struct {
  int number;
  CallKind kind;
  signed char dirs[2], paths[2]; // CALL_PATH: arguments; -1: there is none, or
                                 // the directory is the current one
  bool entry;         // it is the name that counts, not what it leads to
  signed char mode;   // argument with open's flags; -1: it always writes
  signed char signal; // CALL_KILL, CALL_PIDFD: argument
} SystemCall;

// NULL: the supervisor is not asked about it.
const SystemCall *filter_call(int number);

enum { FILTER_MAX = 256 };

// Fills `code` and returns its length.
size_t filter_make(const FilterPlan *plan, struct sock_filter *code);

#endif
