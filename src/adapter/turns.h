// Tests that `make check` runs at once: who runs beside whom, and turns in
// which a test is alone. Every log driver (cli/automake_driver.c) takes a turn
// for each execution of its test, through files in the spool:
//
//   gate     locked while somebody waits to begin: what wants to be alone keeps
//            it until its turn ends, so that nothing begins beside it
//   turn     locked while a test runs: shared, or exclusively if it is alone
//   turns    how many have begun; how many tests in a row failed alone too
//
// The kernel unlocks what a killed driver had locked.
#ifndef CULPRIT_ADAPTER_TURNS_H
#define CULPRIT_ADAPTER_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/err.h"

typedef struct {
  int gate, turn, counts; // descriptors
  uint32_t number;        // of the turn
  bool alone, beside;
} TestTurns;

int turns_open(TestTurns *t, const char *spool, Err *err);
void turns_close(TestTurns *t);

// Waits until a test may run; `alone`: until none other runs.
int turns_begin(TestTurns *t, bool alone, Err *err);
// The test has ended. Did another one run beside it?
bool turns_end(TestTurns *t);

// Tests in a row that failed alone as they did beside others.
uint32_t turns_steady(const TestTurns *t);
void turns_set_steady(TestTurns *t, uint32_t n);

#endif
