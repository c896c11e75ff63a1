// Server processes that end with us: php-cgi, mariadbd, and the programs that
// prepare them.
//
// A child leads its own session and process group, has its own small
// environment and no descriptor of ours but the three it is given. It is killed
// when the thread that started it ends; child_kill kills its whole group. If
// its plan confines it, its path must be absolute.
#ifndef CULPRIT_PHP_CHILD_H
#define CULPRIT_PHP_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "confine/confine.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  const char *path;       // what is executed
  char *const *argv;      // NULL-terminated
  char *const *env;       // NULL-terminated; NULL: ours
  int in, out, err;       // its standard streams; -1: /dev/null
  const Confine *confine; // NULL: it may do what we may
} ChildPlan;

typedef struct {
  pid_t pid; // 0: there is none
  int pidfd; // readable when it has ended
  int status;
} ChildProcess;

int child_start(ChildProcess *c, const ChildPlan *plan, Err *err);
// Has it ended? Waits up to `milliseconds` (-1: as long as it takes) for that,
// or until we are to stop (util/stop.h).
// Once true, pid is 0 and status is wait's.
bool child_ended(ChildProcess *c, int milliseconds);
// Has it children of its own, dead or alive?
bool child_has_children(const ChildProcess *c);
// SIGKILL to the whole group, and waits. Sets status if it was alive.
void child_kill(ChildProcess *c);
// Asks it to end (SIGTERM) and kills it after `milliseconds`; at once if we are
// to stop.
void child_stop(ChildProcess *c, int milliseconds);

// "SIGSEGV" or "exit status 255". `buf` holds 32 bytes.
const char *child_how(int status, char buf[32]);

// The first of these programs that is to be found in PATH or where
// distributions keep servers, NULL: none. Caller frees.
char *child_find(const char *const names[]);

// Command lines and environments: words to be freed.
typedef ARRAY(char *) TextList;
void text_list_release(TextList *w);

// The end of a child's log, at most `most` bytes, on one line. Caller frees.
char *child_log_end(const char *log, size_t most);
#endif
