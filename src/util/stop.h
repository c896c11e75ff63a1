// Stopping on SIGINT, SIGTERM and SIGHUP, the same way in every command.
//
//   stop_watch();                  main, once
//   stop_orderly(10);              from here on the command polls
//   ...
//   stop_orderly(0);
//   return stop_status(status);    130, 143 or 129 if one of them came
//
// A command that can finish its work on its own (store finished tests, save an
// exploration) calls stop_orderly. It then polls stop_requested(), or stop_fd()
// beside what it waits for, and has that many seconds. In all other cases, when
// the time is up, and at a later second signal, the handler ends the process:
// it stops the other threads, asks all descendants to end (SIGTERM), kills
// those that do not, removes the registered directories, says how to resume,
// and exits.
//
// A signal sent by a descendant (a test may signal every process it can reach)
// does not stop culprit; stop_take_sent returns it.
//
// SIGHUP stays ignored if it was ignored at the start (nohup). SIGINT does not:
// shells ignore it for everything they start in the background.
#ifndef CULPRIT_UTIL_STOP_H
#define CULPRIT_UTIL_STOP_H

#include <stdbool.h>
#include <sys/types.h>

void stop_watch(void);

// The signal that came first; 0: none.
int stop_signal(void);
bool stop_requested(void);
// Becomes readable then; never read it. -1: signals are not watched.
int stop_fd(void);
// `status`, or 128 and the signal's number.
int stop_status(int status);

// Seconds the command gets to finish; 0: the handler ends it at once.
void stop_orderly(unsigned seconds);
// What to say at the end of "culprit: interrupted"; it must stay. NULL:
// nothing.
void stop_hint(const char *text);
const char *stop_hint_text(void); // "" if there is none

// A directory to be removed if the handler ends the process; the text must stay
// until stop_keep. More than a few are left for the next command (area.h).
void stop_remove(const char *dir);
void stop_keep(const char *dir);

// Makes orphaned descendants children of this process.
void stop_adopt(void);
// Ends all children and their groups, and waits until none is left, orphans
// included. `gently`: by SIGTERM first, and by SIGKILL after some seconds.
void stop_descendants(bool gently);

// The next signal that a descendant has sent to this process (SIGALRM
// included), and its sender; 0: none.
int stop_take_sent(pid_t *pid);

// For unit tests: forgets signals received so far and watches again.
void stop_forget(void);

#endif
