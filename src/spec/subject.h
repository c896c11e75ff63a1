// A program with contracts that is run natively many times: as the user gave
// it, to see which contract it breaks; stopped at that call, to record its
// memory; and with another state put into that call. Every run is covered line
// by line, and judged by the contract.
//
// The runs use a build made from the program's own bitcode, which records in
// its memory where its variables lie (instrument/link_table.h). Addresses must
// be the same in every run: the caller switches randomization off.
#ifndef CULPRIT_SPEC_SUBJECT_H
#define CULPRIT_SPEC_SUBJECT_H

#include "ir/ir.h"
#include "process/process.h"
#include "program/contract_table.h"
#include "program/runfile.h"
#include "program/trace_build.h"
#include "spec/call_snapshot.h"
#include "util/bitset.h"

typedef struct {
  const char *file; // absolute
  uint32_t line;
  const char *function;
} SourceLine;

typedef struct {
  const char *program; // absolute
  char **argv;         // ends with NULL
  const char *cwd;
  const char *input;          // file for standard input; NULL: nothing
  const char *cache;          // where builds are kept
  const char *dir;            // scratch
  double timeout;             // seconds for one run
  const ConfinePlan *confine; // what runs may do; scratch area and copy are
                              // set here. NULL: what the user may
} SubjectOptions;

typedef struct {
  SubjectOptions options;
  TraceBuild build;
  Program ir;
  ContractTables contracts;
  Collector *collector;
  Confine *confine;
  Arena arena;
  ARRAY(SourceLine) lines; // statements; hits of a run are their numbers
  Hashmap line_index;      // (file, line) -> number
  size_t runs;
  bool interrupted;
} SpecSubject;

typedef struct {
  Outcome outcome;
  Violations violations;
  Bitset hits;
} SubjectRun;

// Fails if the program carries no code or no contract, naming the remedy.
int subject_open(SpecSubject *s, const SubjectOptions *o, Err *err);
void subject_close(SpecSubject *s);

// A call of a function with a contract, and what to do there.
typedef struct {
  const char *function;
  uint64_t number; // from 1
  bool snapshot;   // write its memory to DIR/snapshot
  bool patch;      // apply DIR/patch
} CallPoint;

// `at`: NULL for a run as it is. All runs with the same call have the same
// addresses.
int subject_run(SpecSubject *s, const CallPoint *at, SubjectRun *out, Err *err);
void subject_run_release(SubjectRun *r);

// Gives the program's link-time constants the values of the process.
int subject_bind(SpecSubject *s, const Snapshot *snapshot, Err *err);

// The number of a statement; UINT32_MAX: not a statement.
uint32_t subject_line(const SpecSubject *s, const char *file, uint32_t line);

#endif
