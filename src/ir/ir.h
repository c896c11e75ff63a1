// The lowered IR: a program's code as flat arrays, made once from the bitcode
// that the program carries (culprit-instrument lower), so that replay never
// walks a compiler's data structures. docs/internals/lowered-ir.md describes every
// opcode.
//
// A function has registers of 64 bits, one per scalar value (parameters first);
// an operand is a register, or a constant if its top bit is set. Values are
// kept zero-extended from their width. Addresses of globals and functions are
// constants too: they take their values from the trace that is replayed
// (program_bind). Phi nodes are moves on edges, all of an edge's at once.
//
// Blocks, conditions and call sites name the entities of their unit's map
// (program/map.h), so that what a replay finds is said in the same terms as
// what runs cover. A file holds one unit; ir_read.c links the units of a
// program: calls by name find the function, wherever it is defined.
#ifndef CULPRIT_IR_IR_H
#define CULPRIT_IR_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"
#include "util/hashmap.h"
#include "util/str.h"

typedef enum {
#define IR_OP(name, d, a, b, c) IR_##name,
#include "ir/ir_ops.def"
#undef IR_OP
  IR_OP_COUNT
} IrOp;

const char *ir_op_name(IrOp op);

#define IR_NONE UINT32_MAX
#define IR_CONST 0x80000000u // operand: a constant

enum {
  IR_FROM_TRACE = 1, // the value is read from the trace, not computed
  IR_FP = 2,         // the value is a floating point number
  IR_POINTER = 4,    // LOAD, STORE, arguments, results: it is a pointer
  IR_STATEMENT = 8,  // belongs to the statement at its place (plan.h)
};

// Comparison of floats: the bits of LLVM's predicates.
enum { FCMP_EQ = 1, FCMP_GT = 2, FCMP_LT = 4, FCMP_UNORDERED = 8 };

typedef struct {
  uint8_t op;    // IrOp
  uint8_t width; // bits of the result; comparisons and STORE: of the operands
  uint8_t from;  // casts: bits of the operand; FCMP: predicate; FROUND: how
  uint8_t flags;
  uint32_t dst;
  uint32_t a, b, c;
  uint32_t place;
} IrInst;

typedef struct {
  uint32_t source, line; // 0: unknown
} IrPlace;

typedef struct {
  uint32_t first, n; // instructions; the last is the terminator
  uint32_t entity;   // ENTITY_NONE: the block is contracted in the map
} IrBlock;

typedef struct {
  uint32_t target;   // block
  uint32_t first, n; // moves
  uint32_t entity;   // condition outcome that this edge is, or ENTITY_NONE
} IrEdge;

typedef struct {
  uint32_t dst, src;
} IrMove;

// CONDBR: edges true, false. SWITCH: default, then one per case. JUMP: one per
// target; cases are the targets' addresses.
typedef struct {
  uint32_t first_edge, nedges;
  uint32_t first_case, ncases; // operands (constants)
  uint32_t text;               // CONDBR: the condition as it is written, a
                               // name; IR_NONE: not known
  uint32_t flags;
} IrBranch;
enum {
  IR_INVERTED = 1, // the written condition is true where edge 1 is taken
  IR_UNTOLD = 2,   // where it is true is not known
};

typedef struct {
  uint32_t operand;
  uint8_t width; // 0: opaque
  uint8_t flags; // IR_FP
  uint16_t pad;
  uint32_t by_value; // size of the struct passed by value; 0: no such
} IrArg;

// CALL, and RECORDED: an operation that has no opcode, named by `symbol`.
typedef struct {
  uint32_t symbol; // IR_NONE: through `pointer`
  uint32_t pointer;
  uint32_t first_arg, nargs;       // scalars
  uint32_t first_scalar, nscalars; // of the result; registers dst, dst + 1, ...
  uint32_t site;                   // call site of the map, or IR_NONE
  uint32_t first_return, nreturns; // entities: classes of the result
  uint32_t dst;
} IrCall;

typedef struct {
  uint8_t width; // 0: opaque
  uint8_t flags; // IR_FP
} IrScalar;

typedef struct {
  uint32_t name;     // in names
  uint32_t function; // IR_NONE: defined outside
  uint32_t unit;
} IrSymbol;

enum { IR_EXPORTED = 1, IR_WEAK = 2, IR_VARIADIC = 4 };

typedef struct {
  uint32_t name;
  uint32_t flags;
  uint32_t unit;
  uint32_t nregs;
  uint32_t first_scalar, nparams;     // scalars: registers 0, 1, ...
  uint32_t first_by_value, nby_value; // parameters that are structs by value
  uint32_t first_block, nblocks;
  uint32_t entity;
  uint32_t place;
  uint32_t address; // link-time constant, or IR_NONE
} IrFunction;

typedef struct {
  uint32_t param; // scalar
  uint32_t size;
} IrByValue;

// A constant: `value`, or the unit's link-time constant `link`.
typedef struct {
  uint64_t value;
  uint32_t link; // IR_NONE: none
  uint32_t unit;
} IrConstant;

// A global variable, with what it holds at the start where that is known.
enum { IR_READ_ONLY = 1 };
typedef struct {
  uint32_t name;
  uint32_t link; // its address
  uint32_t unit;
  uint32_t flags;
  uint64_t size;
  uint64_t first_byte; // in bytes; known[i] tells whether byte i is known
  uint64_t nbytes;     // those behind are 0
} IrGlobal;

// From an instruction on (before it is executed) a variable of the source has
// the value of an operand, or lies at the address that the operand is.
enum { IR_UNSIGNED = 16, IR_IN_MEMORY = 32 }; // flags, beside IR_FP, IR_POINTER
typedef struct {
  uint32_t inst;
  uint32_t function;
  uint32_t name;
  uint32_t variable; // the first entry for the same variable
  uint32_t operand;
  uint8_t width; // of the variable, 1 to 64
  uint8_t flags;
  uint16_t pad;
} IrVariable;

typedef struct {
  UnitId id;
  uint32_t nlinks; // link-time constants
  uint32_t first_function, nfunctions;
  uint32_t first_source;
  uint32_t first_link; // in Program.links
} IrUnit;

typedef struct {
  ARRAY(IrUnit) units;
  ARRAY(IrFunction) functions;
  ARRAY(IrBlock) blocks;
  ARRAY(IrInst) insts;
  ARRAY(IrEdge) edges;
  ARRAY(IrMove) moves;
  ARRAY(IrBranch) branches;
  ARRAY(uint32_t) cases;
  ARRAY(IrCall) calls;
  ARRAY(IrArg) args;
  ARRAY(IrScalar) scalars;
  ARRAY(IrByValue) by_values;
  ARRAY(IrSymbol) symbols;
  ARRAY(IrConstant) constants;
  ARRAY(IrGlobal) globals;
  ARRAY(IrVariable) variables; // in order of their instructions
  ARRAY(IrPlace) places;
  ARRAY(uint32_t) sources; // names
  ARRAY(char) names;       // NUL-terminated
  ARRAY(uint8_t) bytes, known;
  // After program_bind: the values of the constants, and who lies where.
  ARRAY(uint64_t) links;
  ARRAY(uint64_t) values;
  Hashmap by_address; // function's address -> function
  bool bound;
} Program;

static inline const char *program_name(const Program *p, uint32_t name) {
  return p->names.items + name;
}

// Adds one unit from its file; then link.
int program_add(Program *p, const char *path, Err *err);
// The untrusted part of it, on its own for the fuzzer.
int program_parse(Program *p, const void *data, size_t size, const char *path,
                  Err *err);
int program_link(Program *p, Err *err);
void program_release(Program *p);
// After the link-time constants of all units are in `links`.
void program_use_links(Program *p);

// The function at that address, IR_NONE if there is none of ours.
uint32_t program_function_at(const Program *p, uint64_t address);

// Source and line of an instruction; "" if unknown.
const char *program_place(const Program *p, uint32_t place, uint32_t *line);

#endif
