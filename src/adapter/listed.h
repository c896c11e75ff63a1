// Runs a list of tests that an adapter has found: begins the session, registers
// the programs, leaves out what is done, runs the rest.
#ifndef CULPRIT_ADAPTER_LISTED_H
#define CULPRIT_ADAPTER_LISTED_H

#include "run/batch.h"

int listed_run(Runner *r, const char *adapter, const Test *tests, size_t n,
               Err *err);

// A list in the making, with the memory of its tests.
typedef struct {
  ARRAY(Test) tests;
  Arena arena;
} TestList;

// Adds a test; its number is its place in the list. Returns it: valid until the
// next one is added.
Test *list_add(TestList *l, const char *name, char *const *argv);
// Rules that ask for nothing special. Memory: the list's.
TestRules *list_rules(TestList *l);
int list_run(TestList *l, Runner *r, const char *adapter, Err *err);
void list_release(TestList *l);

#endif
