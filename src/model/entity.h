// What a run can cover. Language-neutral: the C front end, the PHP front end
// and importers all describe a program as units full of entities; everything
// behind them (store, locate, report) knows nothing else of the program.
//
//   statement   a source line that does something      (source, line)
//   function    a function                             (source, line, name)
//   block       a basic block, statement-free forwarding blocks contracted
//   edge        a control-flow edge between blocks, function entry included
//   condition   one outcome of a condition as it is written, `!` included: 0
//               false, 1 true; a switch: 0 none of the cases, i the i-th case
//   return      one class of the value a call site got back
//   relation    one outcome of a comparison, or one class of a stored, returned
//               or received value
//   pair        a definition and a use: the statement that wrote a value, and
//               one that read it
//   slice       a statement on which the first wrong byte of the output depends
//
// The last three are dear to record. They are known of the runs that were
// looked at closely only (Suite, RunInfo.close), and only those that such a run
// showed are there.
//
// Statements and functions are the same entity wherever they were compiled:
// a line of libfoo.c is one statement in thirty test programs. The other kinds
// belong to their unit and are identified by (unit, function, kind, index).
#ifndef CULPRIT_MODEL_ENTITY_H
#define CULPRIT_MODEL_ENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

typedef enum {
  ENTITY_STATEMENT,
  ENTITY_FUNCTION,
  ENTITY_BLOCK,
  ENTITY_EDGE,
  ENTITY_CONDITION,
  ENTITY_RETURN,
  ENTITY_RELATION,
  ENTITY_PAIR,
  ENTITY_SLICE,
  ENTITY_KINDS // how many there are
} EntityKind;

// Stable names used on the command line, in JSON and in the store.
const char *entity_kind_name(EntityKind kind);
int entity_kind_parse(const char *name); // -1: no such kind

#define ENTITY_NONE UINT32_MAX

// The kinds that only a closer look records, as a set of 1u << EntityKind.
#define CLOSE_KINDS                                                            \
  (1u << ENTITY_RELATION | 1u << ENTITY_PAIR | 1u << ENTITY_SLICE)

// Classes of returned values, one list for all languages. A value may be in
// several. Constant: every call of this call site in the run returned the same.
typedef enum {
  RETURN_NULL,
  RETURN_NON_NULL,
  RETURN_ZERO,
  RETURN_NON_ZERO,
  RETURN_NEGATIVE,
  RETURN_TRUE,
  RETURN_FALSE,
  RETURN_NAN,
  RETURN_EMPTY,
  RETURN_NON_EMPTY,
  RETURN_CONSTANT,
  RETURN_NON_CONSTANT,
  RETURN_CLASSES // how many there are
} ReturnClass;

// As in "returns NAME": null, non-null, zero, ...
const char *return_class_name(ReturnClass c);

// Outcomes of relations. A comparison has those of the first line, a pointer
// those of the second, any other value those of the third; a stored value also
// one of the fourth, if the value before it is known.
typedef enum {
  RELATION_LESS,
  RELATION_EQUAL,
  RELATION_GREATER,
  RELATION_UNORDERED,
  RELATION_NULL,
  RELATION_NON_NULL,
  RELATION_NEGATIVE,
  RELATION_ZERO,
  RELATION_POSITIVE,
  RELATION_SAME,
  RELATION_CHANGED,
  RELATION_DIFFERENT, // of two values that have no order: not equal
  RELATION_OUTCOMES   // how many there are
} RelationOutcome;

// Inside a Unit, `source`, `function`, `from` and `to` are indexes into that
// unit's arrays; inside a Suite they are indexes into the suite's.
typedef struct {
  EntityKind kind;
  uint32_t source;         // the file it stands in
  uint32_t line;           // 0: unknown
  uint32_t col_lo, col_hi; // first and last column on that line; 0: unknown
  uint32_t function;       // entity of the enclosing function; itself for one
  uint32_t index;          // block: number in its function; edge: number in
                           // its function; condition: number of the condition
                           // in its function; return: number of the call site
  uint32_t from, to;       // edge: block entities (ENTITY_NONE: entry, leave);
                           // condition: from = outcome, to = its block;
                           // return: from = ReturnClass, to = its block;
                           // relation: from = RelationOutcome;
                           // pair: from = statement that defines, to = that
                           // uses; slice: from = statement;
                           // statement: to = first block it stands in
  const char *name;        // function: its name; condition: source kind (if,
                           // while, switch, ...), or "branch..." if its
                           // outcomes are only numbered, or named by where
                           // they lead (imported, or from a macro);
                           // return: callee; relation: what has the outcome:
                           // compare, store, return, call; pair: the variable,
                           // if known (model/access.h); else NULL
  const char *text;        // condition: as it is written, `!x`; of a switch
                           // its value for outcome 0, else the case's label.
                           // relation: the outcome as a clause, "`a` equals
                           // `b`"; statement of a close build: what it writes
                           // and reads (model/access.h); of a template: where
                           // it was compiled to, "PATH:LINE". NULL: not known
} Entity;

// One source file: its absolute path as compiled and a hash of its text at
// compile time (0: the text could not be read).
typedef struct {
  const char *path;
  uint64_t hash;
  bool test;      // code of a test (model/testcode.h)
  bool generated; // written by a tool (model/generated.h)
  bool outside;   // of the application's directory, if the session has one
} Source;

// Identity of a translation unit: a hash of its content.
typedef struct {
  unsigned char bytes[16];
} UnitId;

// A statement stands in a block. A line like `for (i = 0; i < n; i++)` stands
// in several.
typedef struct {
  uint32_t statement, block; // entities
} Standing;

typedef struct {
  UnitId id;
  const char *name; // main source file as given to the compiler
  Source *sources;
  size_t nsources;
  Entity *entities;
  size_t nentities;
  Standing *standings; // by statement, then block
  size_t nstandings;
} Unit;

// How many of its entities are statements.
size_t unit_statements(const Unit *unit);

// Gives suite-wide ids to the entities of a unit: ids[i] for entity i. A front
// end calls it once per unit. -1 with a message if the unit may not be mixed
// with what is there (same source path, other source text).
typedef int AssignIds(void *ctx, const Unit *unit, uint32_t *ids, Err *err);

#endif
