// The messages between process/server.c and the fork server inside a program
// (fork_server.c), over a SOCK_SEQPACKET socket. Guest code: included by both.
//
//   server -> culprit ServeHello, once
//   culprit -> server ServeRequest | ServeRedirect[nredirects] | strings:
//                     directory, a path per redirect ("" for copies), then the
//                     arguments, then the environment; each ends with NUL
//   process -> culprit ServeAnswer, when all is as asked and before the
//                     program's own code runs (or from the server: no process)
//
// The last entry of the environment, LD_PRELOAD=..., marks a server. Blanks
// follow it: their space takes the strings of later runs.
#ifndef CULPRIT_RUNTIME_SERVER_FORMAT_H
#define CULPRIT_RUNTIME_SERVER_FORMAT_H

#include <stdint.h>

#define SERVE_MAGIC 0x31565253u // "SRV1"
#define SERVE_VARIABLE "LD_PRELOAD="

enum {
  SERVE_FD = 100,             // the socket
  SERVE_MESSAGE_MAX = 131072, // bytes of a request
};

// The first four are as RedirectMode of process/words.h.
enum {
  SERVE_READ,
  SERVE_WRITE,
  SERVE_APPEND,
  SERVE_COPY,
  SERVE_UPDATE // both ways, as it is
};

// What could not be done.
enum { SERVE_DONE, SERVE_NO_PROCESS, SERVE_DIRECTORY, SERVE_OPEN, SERVE_ROOM };

typedef struct {
  uint32_t magic;
  int32_t pid; // of the server
} ServeHello;

typedef struct {
  uint32_t magic;
  uint32_t argc, envc; // as many as the server itself was given; envc without
                       // its LD_PRELOAD
  uint32_t nredirects;
} ServeRequest;

typedef struct {
  uint32_t mode;
  int32_t fd, from; // `from`: of SERVE_COPY
} ServeRedirect;

typedef struct {
  int32_t pid;
  int32_t error;  // errno
  uint32_t what;  // SERVE_DONE, ...
  uint32_t which; // SERVE_OPEN: redirect
} ServeAnswer;

#endif
