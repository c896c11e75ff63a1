// What the build for experiments (src/hook/) leaves in the program, how one
// experiment is selected, and what its run reports. Shared by the instrumenter,
// the guest (try_hooks.c) and culprit.
//
// An experiment is a site and a change. A site is one operation of the source
// that has a hook: a comparison, a constant, a call, ... Unselected hooks compute
// what the program says.
//
// The program finds the experiment in its environment:
//
//   CULPRIT_TRY=UNIT:SITE:CHANGE:A:B:STEPS:MEMORY
//   CULPRIT_TRY_REPORT=FILE     TRY_REPORT_SIZE bytes, mapped
//
// UNIT: the unit's id in hexadecimal; SITE: number of the site in it, from 1
// (0: none); CHANGE: a TryChange; A, B: its operands, signed; STEPS: how many
// turns of loops and calls of functions the run may make; MEMORY: how many
// megabytes it may take (0: any number of either).
#ifndef CULPRIT_RUNTIME_TRY_FORMAT_H
#define CULPRIT_RUNTIME_TRY_FORMAT_H

#include <stdint.h>

#define TRY_VARIABLE "CULPRIT_TRY"
#define TRY_REPORT_VARIABLE "CULPRIT_TRY_REPORT"

// --- sites ------------------------------------------------------------------

// A chunk per unit; the linker concatenates them.
#define TRY_SECTION "culprit_sites"
#define TRY_MAGIC 0x5345544953525443ull // "CTRSITES"
enum { TRY_VERSION = 2 };

typedef enum {
  SITE_OTHER,
  SITE_COMPARE,  // a < b
  SITE_TEST,     // a truth value that is branched on: if (flag())
  SITE_ARITH,    // a + b
  SITE_CONSTANT, // 5
  SITE_STORE,    // v = e
  SITE_RETURN,   // return e
  SITE_CALL,     // f(a)
  SITE_SWAP,     // f(a, b): two arguments of one type
  SITE_ARGUMENT, // f(a): an integer argument that is no constant
  SITE_INDEX,    // a[i]
  SITE_VARIABLE, // v, as it is read
  SITE_FIELD,    // p->f, as it is read
  SITE_LOGIC,    // a && b
  SITE_BEFORE,   // in front of a statement: where another may be missing
  SITE_KINDS
} SiteKind;

// SITE_COMPARE: what it does. In this order: + 3 negates the first three.
typedef enum {
  OP_LT,
  OP_EQ,
  OP_GT,
  OP_GE,
  OP_NE,
  OP_LE,
  OP_COMPARES
} TryCompare;
// SITE_ARITH.
typedef enum {
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_DIV,
  OP_REM,
  OP_AND,
  OP_OR,
  OP_XOR,
  OP_SHL,
  OP_SHR,
  OP_ARITHS
} TryArith;

enum {
  SITE_UNSIGNED = 1,
  SITE_REAL = 2,       // floating point
  SITE_POINTER = 4,    // the operands are pointers
  SITE_BRANCHES = 8,   // SITE_COMPARE: its outcome is branched on at once
  SITE_STUCK = 8,      // SITE_BEFORE: the function cannot be left here
  SITE_VOID = 16,      // the call's value is not used
  SITE_COMPOUND = 32,  // the store of `v += e`, `v++`
  SITE_INITIAL = 64,   // the store of a declaration: int v = e;
  SITE_IMPLICIT = 128, // SITE_COMPARE: `if (v)`, without an operator
};

typedef struct {
  uint64_t magic;
  uint32_t version, nsites;
  uint32_t strings; // bytes of text behind the records; the last is a NUL
  uint32_t reserved;
  unsigned char id[16]; // the unit
} TrySitesHeader;

// Text is an offset into the strings; 0 is "".
typedef struct {
  uint8_t kind, op, width, flags; // op: TryCompare or TryArith; width in bits;
                                  // of SITE_BEFORE both of them and the flags
                                  // are of the value that the function returns
  uint32_t file, function;        // text; the file's absolute path
  uint32_t line, column;          // of the debug information: of a binary
                                  // operator that of the operator, of a call
                                  // that of its first token
  uint32_t operand; // SITE_CONSTANT, SITE_ARGUMENT: which operand of the
                    // instruction; SITE_SWAP: the first argument of the two
  uint32_t owner;   // SITE_CONSTANT: the kind of instruction it is an operand
                    // of, as SiteKind (SITE_OTHER: another)
  int64_t value;    // SITE_CONSTANT: itself, of a real one its bits as double;
                    // SITE_SWAP: the second argument
  // Names of what the hook can read, each ended by a line break: "i:count",
  // "u:n" (unsigned), "p:next" (a pointer), "r:ratio" (floating point); a capital
  // letter if it is const, known of SITE_BEFORE only. Of a
  // comparison or test what a clause may be about; of a variable or field what
  // may stand in its place.
  uint32_t names, nnames;
  uint32_t text; // the name: of the variable or field that is read or written,
                 // of the function called; ""
} TrySite;

enum { TRY_NAMES_MOST = 24, TRY_FORKS_MOST = 500 };

// --- changes ----------------------------------------------------------------

typedef enum {
  CHANGE_NONE,    // report what the hook sees, change nothing
  CHANGE_COMPARE, // A: another TryCompare
  CHANGE_FORCE,   // A: 0 or 1; B: only when the site is reached the B-th time,
                  // 0: every time
  CHANGE_NEGATE,  // the truth value
  CHANGE_ARITH,   // A: another TryArith
  CHANGE_LEFT,    // only the left operand
  CHANGE_RIGHT,   // only the right operand: `v += e` to `v = e`
  CHANGE_ADD,     // A is added to the value
  CHANGE_SET,     // the value is A
  CHANGE_MINUS,   // the value is negated
  CHANGE_SKIP,    // the store or call does not happen; a call's value is A
  CHANGE_PLUS,    // `v = e` to `v += e`
  CHANGE_LESS,    // `v = e` to `v -= e`
  CHANGE_SWAP,    // the arguments are exchanged
  CHANGE_NAME,    // name A is read instead
  // c && (name op constant), c || ...: A = name | TryCompare << 8, B the
  // constant
  CHANGE_AND,
  CHANGE_OR,
  // The same with another name: B is its number.
  CHANGE_AND_NAME,
  CHANGE_OR_NAME,
  // A statement is put in front: `return V;`, or `name = X;`; with a condition
  // `if (name op X)`. A = name | op << 8 | TRY_NAMED | V << 32, B is X.
  CHANGE_LEAVE,
  CHANGE_ASSIGN,
  CHANGE_LOGIC, // && to ||, || to &&
  CHANGES
} TryChange;

enum {
  TRY_ALWAYS = OP_COMPARES, // op: there is no condition
  TRY_NAMED = 1 << 16,      // X is the name of that number
};

// --- the report -------------------------------------------------------------

enum {
  TRY_REPORT_SIZE = 1 << 16,
  TRY_LOG_WORDS = (TRY_REPORT_SIZE - 64) / 8,
};

typedef enum {
  TRY_ENDED_ITSELF,
  TRY_OUT_OF_STEPS, // it was ended by SIGXCPU
  TRY_OUT_OF_FORKS, // so, too: it forked more than TRY_FORKS_MOST times
} TryEnd;

// All of it zeroed before the run. A record of the log, made only by CHANGE_NONE
// at a SITE_COMPARE, SITE_TEST or SITE_BEFORE: the outcome (of the last 0), then
// the value of each name.
typedef struct {
  uint64_t steps;     // that were made
  uint64_t executed;  // times the site was reached
  uint64_t changed;   // times the change made a difference there
  uint32_t end;       // TryEnd
  uint32_t known;     // 1: the unit and the site are in the program
  uint32_t words;     // of the log in use
  uint32_t full;      // 1: there was no room for more
  uint32_t relations; // SITE_COMPARE: a bit for each that was seen: less 1,
                      // equal 2, greater 4, none of them 8
  uint32_t refused;   // 1: it asked for memory and got none
  uint64_t forks;     // of all its processes
  uint64_t starts;    // of the program
  int64_t log[TRY_LOG_WORDS];
} TryReport;

#endif
