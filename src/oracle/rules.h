// What a test runner's own files say about how one of its tests is judged:
// the properties of ctest, the protocols of Meson, TAP.
//
//   TestRules r = {.skip_status = 77, .error_status = 99};   // Meson, automake
//   TestRules t = {.skip_status = -1, .error_status = -1, .tap = true};
//
// A signal, a sanitizer report or a timeout is settled before (oracle.h).
#ifndef CULPRIT_ORACLE_RULES_H
#define CULPRIT_ORACLE_RULES_H

#include <stdbool.h>

typedef struct {
  double timeout;    // seconds; 0: that of the session
  int skip_status;   // an exit status that means "not run"; -1: none
  int error_status;  // one that means "could not be tried"; -1: none
  bool will_fail;    // failing is what is expected of it
  bool tap;          // judged by the TAP it prints
  char *const *pass; // extended regular expressions, end with NULL; if
  char *const *fail; // `pass` is given, one must match the output, and
  char *const *skip; // the exit status does not count; NULL: none
} TestRules;

#endif
