// Reads the run files that the runtime wrote for one test: one file per process
// and module, each with the counters of every unit.
#ifndef CULPRIT_PROGRAM_RUNFILE_H
#define CULPRIT_PROGRAM_RUNFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/run.h"
#include "program/map.h"
#include "util/err.h"

// Knows the maps of all modules seen so far and gives every unit's entities
// their suite-wide ids through `assign` (the store).
typedef struct Collector Collector;

Collector *collector_new(AssignIds *assign, void *ctx);
void collector_free(Collector *c);

// Registers a module's units ahead of any run, so that lines never executed
// are known too. 0 also if it has no map: ask collector_units().
int collector_add_module(Collector *c, const char *path, Err *err);
// The same for a program and the shared libraries it is linked with.
int collector_add_program(Collector *c, const char *path, Err *err);
size_t collector_units(const Collector *c);

// Definition-use pairs that a close build recorded: `take` gives the suite-wide
// id of the pair of two statements, which it may make. Without it pairs are
// left out.
typedef uint32_t TakePair(void *ctx, uint32_t def, uint32_t use);
void collector_take_pairs(Collector *c, TakePair *take, void *ctx);

// From now on no module is read but those that are known: run files may come
// from anywhere, and name any file. Modules and libraries that a process had
// mapped are looked for among those of the known programs, by their last name.
void collector_seal(Collector *c);
// Is this unit one of a known module?
bool collector_knows(const Collector *c, const unsigned char id[16]);

// Adds these files of a directory to the run, as collector_collect does.
int collector_collect_files(Collector *c, int dir, const char *const *names,
                            size_t n, Run *run, Err *err);

// Adds everything found in `dir` to the run: hits, processes, deaths, and a
// note about what could not be read (truncated file, unknown unit). Fails only
// if a unit may not be mixed; a broken run file is a note, not a failure.
int collector_collect(Collector *c, const char *dir, Run *run, Err *err);

#endif
