// Stopping on SIGINT, SIGTERM and SIGHUP, the same way in every command.
//
//   stop_watch();                  main, once
//   stop_orderly(10);              from here on we look at stop_requested()
//   ...
//   stop_orderly(0);
//   return stop_status(status);    130, 143 or 129 if one of them came
//
// A command that can end by itself what it is doing (tests that are kept, an
// exploration that is saved) says so by stop_orderly: it polls stop_requested(),
// or stop_fd() beside what it waits for, and has that many seconds. Otherwise,
// when they are over, and at another signal some time later, the handler itself ends the
// process: it stops our other threads, asks all descendants to end (SIGTERM),
// kills those that do not, removes the registered directories, says how to
// resume, and exits.
//
// One that a descendant of ours sends (a test may signal all it can reach) is
// not the user's wish: stop_take_sent tells of it.
//
// SIGHUP stays ignored if it was when we started (nohup). SIGINT does not:
// shells ignore it for whatever they start in the background.
#ifndef CULPRIT_UTIL_STOP_H
#define CULPRIT_UTIL_STOP_H

#include <stdbool.h>
#include <sys/types.h>

void stop_watch(void);

// The signal that came first; 0: none.
int stop_signal(void);
bool stop_requested(void);
// Readable from then on; never read it. -1: nobody watches.
int stop_fd(void);
// `status`, or 128 and the signal's number.
int stop_status(int status);

// Seconds for what is under way to end by itself; 0: none is needed.
void stop_orderly(unsigned seconds);
// What to say at the end of "culprit: interrupted"; it must stay. NULL: nothing.
void stop_hint(const char *text);
const char *stop_hint_text(void); // "" if there is none

// A directory to be removed if the handler ends the process; the text must stay
// until stop_keep. More than a few are left for the next command (area.h).
void stop_remove(const char *dir);
void stop_keep(const char *dir);

// Orphans of our descendants become our children.
void stop_adopt(void);
// Ends all our children and their groups, and waits until none is left, orphans
// included. Gently: by SIGTERM, and those that have not ended after some seconds
// by SIGKILL.
void stop_descendants(bool gently);

// A signal that one of our descendants has sent us, SIGALRM too, and who; 0:
// none (any more).
int stop_take_sent(pid_t *pid);

// For tests: as if none had come, and whoever took the signals away from us.
void stop_forget(void);

#endif
