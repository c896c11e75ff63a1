// What the recorder of a close build (runtime/pair_recorder.c) leaves in a run file, and
// program/runfile.c reads. Guest code.
//
// The log of definition-use pairs lies among the module's counters, as those of
// a unit that no map describes: a run file holds it however the process ends,
// and a segment's records hold what was added in it. It is a row of words:
//
//   word 0          flags (low half) and how many pairs had no room (high half)
//   word 1, 2, ...  a pair: the definition (high half), the use (low half)
//
// A definition or use is the offset, plus one, of its statement's site byte from
// the start of the module's counters. Words may be zero: the order of pairs says
// nothing, and a segment begins with an empty log.
#ifndef CULPRIT_RUNTIME_CLOSE_FORMAT_H
#define CULPRIT_RUNTIME_CLOSE_FORMAT_H

#include <stdint.h>

#define CLOSE_LOG_ID                                                           \
  {'c', 'u', 'l', 'p', 'r', 'i', 't', ' ',                                     \
   'p', 'a', 'i', 'r', 's', ' ', '0', '1'}

enum {
  CLOSE_LOG_WORDS = 65536,
  CLOSE_LAST_SIZE = 4, // bytes of an entry in section culprit_last
  // The shadow of a field less than so many bytes from the beginning of its
  // object is found from that of the beginning.
  CLOSE_REACH = 256,
  CLOSE_WAYS = 8, // definitions that a use remembers; a power of two
};

// Flags: there is no shadow memory, so only variables that live in registers
// have pairs; the shadow grew too large and was emptied, so that definitions
// made before are unknown.
enum { CLOSE_NO_MEMORY = 1, CLOSE_FORGOT = 2 };

#endif
