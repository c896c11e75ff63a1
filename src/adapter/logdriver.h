// Finds the log drivers of an automake build tree and makes the overrides that
// put culprit's driver in front of them.
//
//   Makefile:  SH_LOG_DRIVER = $(SHELL) $(top_srcdir)/build-aux/test-driver
//   override:  SH_LOG_DRIVER=/usr/bin/culprit automake-driver $(SHELL) ...
//
// Overrides on make's command line hold in every directory of a recursive make.
// Where directories disagree about a variable, its override asks for a variable
// named after the directory.
#ifndef CULPRIT_ADAPTER_LOGDRIVER_H
#define CULPRIT_ADAPTER_LOGDRIVER_H

#include "process/words.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  const char *dir;  // of the Makefile, absolute
  const char *name; // LOG_DRIVER, SH_LOG_DRIVER, ...
  const char *text; // as written, one line
} LogDriver;

typedef struct {
  ARRAY(LogDriver) drivers;
  Arena arena;
} LogDrivers;

// Reads all Makefiles below `dir`.
void logdrivers_find(LogDrivers *l, const char *dir);
// The log drivers of one Makefile's text.
void logdrivers_parse(LogDrivers *l, const char *dir, const char *text);
void logdrivers_release(LogDrivers *l);

// Appends the words for make's command line; `ours` is the command that comes
// before the original one. Memory: l's arena.
void logdrivers_override(LogDrivers *l, const char *ours, WordList *out);

#endif
