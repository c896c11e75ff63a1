// A program with contracts, run natively again and again: as the user gave it,
// to see which promise it breaks; stopped at that call, to see its memory; and
// with another state put into that call. Every run is counted line by line, and
// judged by the contract.
//
// Runs are those of a build made from the program's own bitcode, which says in
// its memory where its variables lie (instrument/link_table.h). Addresses must
// be the same in every run: the caller switches randomization off.
#ifndef CULPRIT_SPEC_SUBJECT_H
#define CULPRIT_SPEC_SUBJECT_H

#include "ir/ir.h"
#include "process/process.h"
#include "program/contract_table.h"
#include "program/runfile.h"
#include "program/trace_build.h"
#include "spec/snapshot.h"
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
  const char *input; // file for standard input; NULL: nothing
  const char *cache; // where builds are kept
  const char *dir;   // scratch
  double timeout;    // seconds for one run
  const ConfinePlan *confine; // what runs may do; scratch area and copy are set
                              // by us. NULL: what the user may
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
} Subject;

typedef struct {
  Outcome outcome;
  Violations violations;
  Bitset hits;
} SubjectRun;

// Fails if the program carries no code or no contract, naming the remedy.
int subject_open(Subject *s, const SubjectOptions *o, Err *err);
void subject_close(Subject *s);

// A call of a function with a contract, and what is to be done there.
typedef struct {
  const char *function;
  uint64_t number; // from 1
  bool snapshot;   // its memory goes to DIR/snapshot
  bool patch;      // it is changed as DIR/patch says
} CallPoint;

// `at`: NULL for a run as it is. All runs with the same call have the same
// addresses.
int subject_run(Subject *s, const CallPoint *at, SubjectRun *out, Err *err);
void subject_run_release(SubjectRun *r);

// Gives the program's link-time constants the values of the process.
int subject_bind(Subject *s, const Snapshot *snapshot, Err *err);

// The number of a statement; UINT32_MAX: it is none.
uint32_t subject_line(const Subject *s, const char *file, uint32_t line);

#endif
