// What coverage files say, whatever their format: which test executed which
// lines, functions and branches of which source file. Readers call the
// functions below in any order; a line that several files or records mention is
// one line, and executed if any of them says so.
//
//   uint32_t test = coverage_test(c, "t1");
//   uint32_t file = coverage_file(c, "src/a.c", NULL);
//   coverage_line(c, test, file, 12, true);
//   ...
//   coverage_finish(c, &foreign);   // one unit per source file
//
// Memory: one bit per test and entity, and the entities.
#ifndef CULPRIT_IMPORT_COVERAGE_H
#define CULPRIT_IMPORT_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/foreign.h"
#include "import/places.h"
#include "model/entity.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/bitset.h"
#include "util/hashmap.h"
#include "verdict/import_file.h"

typedef struct {
  const char *path;           // absolute
  ARRAY(uint32_t) statements; // by line: entity + 1
} CoveredFile;

typedef struct {
  const char *name;
  Bitset hits; // of indexes into entities
} CoveredTest;

// A branch of a line, as far as formats tell it apart from others.
typedef struct {
  uint32_t line;
  uint32_t col_lo, col_hi; // 0: unknown
  uint32_t condition;      // number of the condition on its line
  uint32_t outcome;
  const char *name; // see CONDITION_NAME below
} Branch;

// Names of imported conditions. A format that knows which way is which gives
// outcome 0 for false and 1 for true: "condition". Others only number the ways
// out of a line: "branch", or "branch to line 12", "branch by exception", ...
#define CONDITION_NAME "condition"
#define BRANCH_NAME "branch"
#define THROW_NAME BRANCH_NAME " by exception"

// What a line with branches left out: where its branches lead that were not
// taken. Where they lead to at all shows when all tests are known.
typedef struct {
  uint32_t test, file, line;
  bool executed;
  uint32_t *missed; // lines; UINT32_MAX: out of the function
  size_t nmissed;
} Leftover;

typedef struct {
  const Places *places;
  ARRAY(CoveredFile) files;
  ARRAY(CoveredTest) tests;
  // As in a Unit, but: source = index into files; a function's `to` = its last
  // line (0: unknown); a condition's `index` = number of it on its line.
  ARRAY(Entity) entities;
  ARRAY(Leftover) leftovers;
  Hashmap file_of, test_of;
  Hashmap entity_of;  // functions and branches
  Hashmap default_of; // test name made from a file's name -> that file's path
  Arena arena;
  Str key; // scratch
} Coverage;

void coverage_init(Coverage *c, const Places *places);
void coverage_release(Coverage *c);

// The same name is the same test.
uint32_t coverage_test(Coverage *c, const char *name);
// The test a whole file speaks of. Fails if only its file name names it and
// another file has that name too: were they two tests or two parts of one?
int coverage_test_of(Coverage *c, const ImportFile *in, uint32_t *test,
                     Err *err);

// `dirs`: what the coverage file itself says relative paths are relative to
// (ends with NULL; may be NULL).
uint32_t coverage_file(Coverage *c, const char *path, const char *const *dirs);

void coverage_line(Coverage *c, uint32_t test, uint32_t file, uint32_t line,
                   bool hit);
// `last`: its last line, 0 if unknown.
void coverage_function(Coverage *c, uint32_t test, uint32_t file, uint32_t line,
                       uint32_t last, const char *name, bool hit);
void coverage_branch(Coverage *c, uint32_t test, uint32_t file, const Branch *b,
                     bool hit);
// For formats that name only the branches that were not taken.
void coverage_leftover(Coverage *c, const Leftover *l);

// Makes the units and the runs. Fails if there is no line at all.
int coverage_finish(Coverage *c, Foreign *out, Err *err);

#endif
