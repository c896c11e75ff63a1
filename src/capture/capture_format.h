// What culprit and culprit-capture (capture_main.c) agree on.
//
// A test that is a script starts the program several times. culprit-capture
// records each start once, in an unchanged run of the script, and can then
// repeat the starts without the script:
//
//   record   it is executed in the program's place, because it lies where the
//            runtime looks for another build (runtime/close_name.h)
//   replay   culprit-capture RECORDS
//
// The environment says the rest:
//
//   CULPRIT_CAPTURE        record: the directory for the records, RECORDS
//   CULPRIT_CAPTURE_FROM   record: the directory in which the script starts
//   CULPRIT_CAPTURE_BUILDS the builds to execute, under the names that
//                          close_name.h gives them
//   CULPRIT_CLOSE          replay: other builds, preferred to those
//
// RECORDS has a directory for each start, in the order of their starts: 0, 1,
// 2, ...; a file `failed` says why the script cannot be done without. Replay
// ends with a CaptureEnd and prints a CAPTURE_LINE.
#ifndef CULPRIT_CAPTURE_CAPTURE_FORMAT_H
#define CULPRIT_CAPTURE_CAPTURE_FORMAT_H

#define CAPTURE_PROGRAM "culprit-capture"
#define CAPTURE_VARIABLE "CULPRIT_CAPTURE"
#define CAPTURE_FROM_VARIABLE "CULPRIT_CAPTURE_FROM"
#define CAPTURE_BUILDS_VARIABLE "CULPRIT_CAPTURE_BUILDS"
#define CAPTURE_FAILED "failed"

enum {
  CAPTURE_STARTS = 300,           // of one test, at most
  CAPTURE_RECORDS = 32 << 20,     // bytes of their records
  CAPTURE_FILES = 400,            // in the directory, at most
  CAPTURE_BYTES = 4 << 20,        // in all these files
  CAPTURE_STREAM_BYTES = 1 << 20, // of each standard stream
};

typedef enum {
  CAPTURE_SAME = 0,   // every start did what it did in the recorded run
  CAPTURE_OTHER = 10, // one did not: the line says which
  CAPTURE_CANNOT = 11,
} CaptureEnd;

// Starts there are; the one that did something else, from 0 (or as many as there
// are); a hash of what that one did.
#define CAPTURE_LINE "%zu %zu %llx\n"

#endif
