// Runs of the marked build (instrument/marks.h) that are stopped at one
// execution of one branch: reads the variables there, and tells how the run
// ends if some of them get other values.
//
//   Poker p;
//   poker_open(&p, near, &err);
//   PokeJob job = {.line = line, .block = block, .count = 3, .state = true};
//   if (!poker_run(&p, &job, &answer, &err)) ... answer.cells ...
//   poker_judge(&p, &job, &answer, &err)      // does it pass?
//   poker_close(&p);
#ifndef CULPRIT_NEAR_NEAR_POKE_H
#define CULPRIT_NEAR_NEAR_POKE_H

#include "near/near.h"
#include "poke/poke_format.h" // CellKind
#include "process/process.h"
#include "program/trace_build.h"

// As poke/poke_state.h has it.
typedef struct {
  int frame; // -1: of the file
  const char *function, *name;
  uint64_t at;
  char kind; // CellKind
  size_t size;
  const uint8_t *bytes;
  const char *leads; // of a pointer: what it points to; NULL: to nothing
} AnswerCell;

// Bytes to be exchanged.
typedef struct {
  uint64_t at;
  size_t size;
  const uint8_t *old, *new;
} CellPut;
typedef ARRAY(CellPut) CellPuts;

// Bytes that were not as expected.
typedef struct {
  uint64_t at;
  size_t size;
} CellMoved;

typedef struct {
  const char *line;     // shell words after the program
  const Inputs *inputs; // whose environment it gets; or NULL
  uint32_t block;       // in Program.blocks, ends in a branch
  uint64_t count;       // which execution of it, from 1
  bool state;           // cells are wanted
  const CellPuts *puts; // or NULL
} PokeJob;

typedef struct {
  bool reached;              // the run was stopped there
  bool has_way;              // and executed the branch
  uint64_t way;              // 1 or 0, or the value of a switch
  uint64_t image, image_end; // the program's own data
  ARRAY(AnswerCell) cells;
  ARRAY(CellMoved) moved; // then nothing was exchanged
  Outcome outcome;
  Arena arena;
} PokeAnswer;

void poke_answer_release(PokeAnswer *a);
// What culprit-poke has written (poke/poke_format.h): the untrusted part.
int poke_answer_parse(PokeAnswer *a, char *text, Err *err);

typedef struct {
  Near *near;
  TraceBuild build;
  char *helper, *dir, *job, *answer; // culprit-poke, and files
  char *out, *err, *second_out, *second_err, *kept_out;
  char *run;       // directory of what contracts record
  bool has_second; // the reference's run is known
  Outcome second;
  size_t runs;
  double timeout; // of a run, in seconds
} Poker;

// Makes the build. Fails also if culprit-poke is missing.
int poker_open(Poker *p, Near *n, Err *err);
void poker_close(Poker *p);

// -1: it could not be run, with the reason. `a` must be released in any case.
int poker_run(Poker *p, const PokeJob *job, PokeAnswer *a, Err *err);
// Judges the run that has just ended.
int poker_judge(Poker *p, const PokeJob *job, const PokeAnswer *a,
                Verdict *verdict, Err *err);
// Keeps its standard output, for comparison with later runs.
int poker_keep_output(Poker *p, Err *err);
bool poker_has_kept_output(const Poker *p);

#endif
