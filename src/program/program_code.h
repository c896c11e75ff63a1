// The code that a program carries: the bitcode of every unit with its compiler
// options, and the link command. culprit makes other builds of the program from
// it: with one unit changed (mutants), or with other instrumentation.
#ifndef CULPRIT_PROGRAM_PROGRAM_CODE_H
#define CULPRIT_PROGRAM_PROGRAM_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/map.h"
#include "program/sections.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef ARRAY(const char *) StringList;

typedef struct {
  UnitId id;
  const char *name; // main source file as given to the compiler
  StringList args;  // of code generation
  // How its source can be compiled again; NULL: that is not known.
  const char *dir;    // "": that of the link
  const char *source; // as it was given
  StringList front;   // options of the preprocessor and the language
  bool returns;       // classes of all returned values are counted
  bool counts;        // full counts, not hits
  uint64_t mutant;    // as in BitcodeHeader
  Bytes packed;       // zstd
  size_t full_size;
} UnitCode;

typedef struct ProgramCode {
  const char *path;
  ARRAY(UnitCode) units;
  const char *cwd; // where it was linked; NULL: there is no link record
  StringList link_args;
  Bytes file; // mapped
  Arena arena;
  // Added by shared_code_add: their units are among the program's.
  ARRAY(struct ProgramCode) libraries;
} ProgramCode;

// Program, library or object file. Fails if it carries no bitcode, naming the
// likely reason, or damaged code.
int program_code_read(ProgramCode *p, const char *path, Err *err);
void program_code_release(ProgramCode *p);

// Unpacks a unit's bitcode into a file that culprit-cc takes as a source.
int program_code_unpack(const UnitCode *u, const char *path, Err *err);

// Compiles a unit from `bitcode`, the way it was compiled; mutant -1: none.
int program_code_compile(const UnitCode *u, const char *bitcode, int mutant,
                         const char *object, Err *err);

// Compiles a unit from its source, the way it was compiled, but with `text`, a
// file, in the place of the source file or header `changed` (absolute). Fails
// if the unit does not say how, or if clang finds errors, which the message has.
int program_code_compile_changed(const ProgramCode *p, const UnitCode *u,
                                 const char *changed, const char *text,
                                 const char *object, Err *err);

// Links the program again as `output`, with `object` in the place of unit
// `unit`. Units that were compiled and linked in one command are made from their
// bitcode in `scratch`.
int program_code_link(const ProgramCode *p, size_t unit, const char *object,
                      const char *scratch, const char *output, Err *err);

// The same with an object for every unit that has one in `objects` (as many as
// there are units, NULL: take the unit as it was), and `extra`, one more object
// (or NULL). `fixed`: some of them only fit a program at a fixed place.
int program_code_link_objects(const ProgramCode *p, const char *const *objects,
                              const char *extra, bool fixed,
                              const char *scratch, const char *output,
                              Err *err);

typedef enum {
  TRACE_PLAIN,   // it records a trace (program/trace_build.h)
  TRACE_CHECKED, // the same, with values to compare a replay with
  TRACE_STORES,  // it records a trace, with every variable in memory
  TRACE_MARKS,   // it can be stopped at its branches (instrument/marks.h)
} TraceMode;

// Compiles a unit for following or stopping its runs. `names`: file with the
// functions that all units export, one a line; not for TRACE_MARKS.
int program_code_compile_traced(const UnitCode *u, const char *bitcode,
                                uint32_t number, const char *names,
                                TraceMode mode, const char *object, Err *err);

// Compiles a unit for a close build (close/close_unit.h); `fixed`: for a program
// at a fixed place, where addresses are constants and the code is shorter.
int program_code_compile_close(const UnitCode *u, const char *bitcode,
                               bool fixed, const char *object, Err *err);

// Compiles a unit for experiments (hook/hook_insert.h).
int program_code_compile_try(const UnitCode *u, const char *bitcode,
                             const char *object, Err *err);

// Compiles a unit as it was, with a table of its link-time constants
// (instrument/link_table.h).
int program_code_compile_linked(const UnitCode *u, const char *bitcode,
                                const char *object, Err *err);

typedef enum {
  LOWER_PROMOTED, // SSA
  LOWER_PLAIN,    // without promotion: each assignment is a store
  LOWER_STORES,   // the same, for a trace of TRACE_STORES
} LoweredForm;

// Writes the unit's lowered IR (ir/ir.h) to `output`.
int program_code_lower(const UnitCode *u, const char *bitcode, LoweredForm form,
                       const char *output, Err *err);

// What culprit-instrument says of a unit, from its bitcode: "pdg" the
// dependences between its statements (instrument/dependences.h), "mutants"
// what can be mutated (instrument/mutate.h). Appended to `out`.
int program_code_ask(const UnitCode *u, const char *bitcode,
                     const char *question, Str *out, Err *err);

// The dependences between all statements of the program, one a line.
int program_code_pdg(const ProgramCode *p, const char *scratch, Str *out,
                     Err *err);

// The culprit-cc that belongs to this culprit. Caller frees.
char *program_code_compiler(void);

#endif
