// The filter of system calls that a confined process carries: what is refused
// outright, and what the guard is asked about (guard.h).
#ifndef CULPRIT_CONFINE_FILTER_H
#define CULPRIT_CONFINE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct sock_filter;

// Which calls the guard decides, besides connect().
typedef struct {
  bool signals, changes, truncate;
} FilterPlan;

typedef enum {
  CALL_OTHER,
  CALL_CONNECT, // connect, sendto with an address
  CALL_KILL,    // a process or group: first argument
  CALL_THREAD,  // tkill: a thread
  CALL_PIDFD,   // pidfd_send_signal
  CALL_PATH,    // changes the file at a path: first argument
  CALL_AT,      // directory and path: first and second argument
  CALL_FILE,    // an open file: first argument
} CallKind;

CallKind filter_call_kind(int number);

enum { FILTER_MAX = 128 };

// Fills `code` and returns its length.
size_t filter_make(const FilterPlan *plan, struct sock_filter *code);

#endif
