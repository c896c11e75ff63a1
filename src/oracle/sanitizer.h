// Recognises the reports of the sanitizers (address, undefined behaviour,
// memory, thread, leak) in what a program wrote.
//
//   ==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602...
//       #0 0x55d1 in copy /src/a.c:40:12
//   SUMMARY: AddressSanitizer: heap-buffer-overflow /src/a.c:40:12 in copy
//   gives: heap-buffer-overflow in copy (a.c:40)
//
//   /src/b.c:7:9: runtime error: signed integer overflow: 2147483647 + 1 ...
//   gives: signed integer overflow (b.c:7), whatever the exit status
#ifndef CULPRIT_ORACLE_SANITIZER_H
#define CULPRIT_ORACLE_SANITIZER_H

#include <stdbool.h>

#include "model/run.h"

enum { SANITIZER_FAILURES_MAX = 8 }; // of one run; the rest is left out

// Adds a failure of kind "sanitizer" for every different report in `file`.
// True if there was one. Paths below `root` are shown relative to it.
bool sanitizer_scan(const char *file, const char *root, Run *run);

#endif
