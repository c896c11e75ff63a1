// What the parts of replay share: replay.c runs the code, replay_sym.c builds
// expressions, replay_call.c deals with code outside, replay_event.c keeps the
// path, models*.c know the C library.
#ifndef CULPRIT_REPLAY_REPLAY_INTERNAL_H
#define CULPRIT_REPLAY_REPLAY_INTERNAL_H

#include "ir/ir_expr.h"
#include "replay/replay.h"
#include "replay/seen.h"
#include "replay/shadow.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef struct {
  IrValue val;
  IrArg arg;
} VarArg;

typedef struct {
  uint32_t function;
  uint32_t regs;         // where its registers start
  const IrInst *pc;      // the next instruction
  const IrCall *call;    // the caller's, that is waiting; NULL: from outside
  const IrCall *waiting; // its own call of code outside; NULL: none
  bool through_pointer;  // ... or of one of ours, which says so in the stream
  uint32_t first_vararg, nvarargs;
  uint32_t first_object; // its allocas start here
} ReplayFrame;

// A piece of memory that accesses must stay in.
typedef struct {
  uint64_t at, size;
} Object;

// setjmp was called here.
typedef struct {
  uint64_t buffer;
  uint32_t depth; // of frames
  const IrInst *pc;
  const IrCall *call;
} Jump;

typedef struct {
  uint64_t file; // FILE *, or descriptor
  bool is_fd;
  int source;    // of the input; -1: something else
  uint64_t at;   // the next byte to be read
  uint64_t told; // 1 + the last place that was said to be there, or not
  bool at_end;   // was sent to the end: its place is the size
} Stream;

// A text of the input in memory.
typedef struct {
  uint64_t at, size;
  uint32_t source;
} InputText;

// A constant table in memory that was looked at.
typedef struct {
  uint64_t at, bytes;
  unsigned size; // of an entry
  ExprTable table;
  bool good; // all of it is known
} KnownTable;

// An array that qsort is sorting, as it was before: see models_sort.c.
typedef struct {
  uint64_t base, count, size; // count 0: none
  uint8_t *bytes;
  Expr *exprs;
  size_t depth;         // of the frame that called qsort
  uint64_t elements[2]; // that the callback is looking at
} Sort;

typedef struct {
  Program *program;
  const Trace *trace;
  const Inputs *inputs;
  ExprPool *pool; // NULL: concrete
  ReplayOptions options;
  Path *path;
  Err *err;
  bool failed, stopped, started;
  bool options_fixed; // getopt was called
  bool check;
  size_t pos, end, limit; // of the stream
  size_t dropped;         // what lies before it need not stay in memory
  ARRAY(ReplayFrame) frames;
  ARRAY(uint64_t) regs;
  ARRAY(Expr) exprs;
  uint32_t *instances;  // of each branch
  uint32_t *case_order; // of each branch's cases, by value
  Shadow *shadow;
  SeenMemory *seen; // NULL: nothing has been shown
  ARRAY(VarArg) varargs;
  ARRAY(Object) objects; // allocas of all frames
  ARRAY(Object) heap;    // sorted; size 0: freed
  ARRAY(Object) globals; // sorted
  ARRAY(bool) read_only; // parallel to globals
  ARRAY(Jump) jumps;
  ARRAY(Stream) streams;
  ARRAY(InputText) texts;
  ARRAY(KnownTable) tables;
  uint64_t tabulated; // bytes of tables that can be written, read so far
  PathEvent unused;   // where a condition that says nothing goes
  Hashmap losses;
  Sort sort;
  uint64_t token_at, token_key;               // where strtok goes on
  Object ctype[3];                            // the tables behind them
  uint64_t ctype_b, ctype_lower, ctype_upper; // results of __ctype_*_loc
} Replay;

static inline ReplayFrame *top(Replay *r) { return &array_last(&r->frames); }

static inline IrValue get(Replay *r, uint32_t operand) {
  if (operand & IR_CONST)
    return (IrValue){r->program->values.items[operand & ~IR_CONST], 0};
  uint32_t i = top(r)->regs + operand;
  return (IrValue){r->regs.items[i], r->pool ? r->exprs.items[i] : 0};
}

static inline void put(Replay *r, uint32_t reg, IrValue v) {
  uint32_t i = top(r)->regs + reg;
  r->regs.items[i] = v.value;
  if (r->pool)
    r->exprs.items[i] = v.expr;
}

static inline int64_t to_signed(uint64_t v, unsigned width) {
  unsigned shift = 64 - width;
  return (int64_t)(v << shift) >> shift;
}

static inline unsigned bytes_of(unsigned width) { return (width + 7) / 8; }

// --- replay.c
// Trace and program do not fit.
void replay_fail(Replay *r, const char *why);
void replay_stop(Replay *r, StopKind kind);
// The next n bytes of the stream as a number; stops at its end.
uint64_t replay_take(Replay *r, unsigned n);
// The place of the instruction that is being executed.
uint32_t replay_place(Replay *r);

// --- replay_call.c
void replay_call(Replay *r, const IrCall *c);
void replay_recorded(Replay *r, const IrCall *c);
// Code outside runs: reads what it did, up to where instrumented code goes on.
void replay_outside(Replay *r);
void replay_return(Replay *r, const IrArg *values, uint32_t n);
void replay_va_start(Replay *r, uint64_t list);

// --- models_sort.c
void sort_begin(Replay *r, const IrCall *c, const char *name);
void sort_called_back(Replay *r, uint32_t nparams);
// A load from an element that is being compared: its expression.
Expr sort_load(Replay *r, uint64_t at, unsigned n, uint64_t value);
// The array has been sorted. False: it is none that was being sorted.
bool sort_end(Replay *r, uint64_t at, const uint8_t *bytes, uint64_t n);

// --- replay_sym.c: the expression of an instruction's result
Expr replay_compute(Replay *r, const IrInst *i, IrValue a, IrValue b, IrValue c,
                    uint64_t value);
Expr replay_load(Replay *r, const IrInst *i, IrValue at, uint64_t value);
void replay_store(Replay *r, const IrInst *i, IrValue at, IrValue v);
// --- replay_table.c: a load from a table, as a function of the place; 0: it is
// too large, or not all of it is known.
Expr replay_look_up(Replay *r, const IrInst *i, IrValue at, uint64_t value,
                    const Object *object, bool read_only);

// `v` as a bit-vector of `width`.
Expr replay_bits(Replay *r, IrValue v, unsigned width);

// --- replay_text.c
// The texts at `a` and `b` (`text`: up to a NUL) are compared, up to `most`
// bytes, and differ.
void replay_note_text(Replay *r, uint64_t a, uint64_t b, uint64_t most,
                      bool text);

// --- replay_event.c
// Adds a condition that must hold in this run.
PathEvent *replay_event(Replay *r, PathKind kind, Expr cond, bool outcome);
void replay_branch_event(Replay *r, const IrInst *i, uint32_t branch,
                         uint32_t edge, IrValue v);
// From here on the value counts as the constant it is; adds the condition.
void replay_fix(Replay *r, PathKind kind, IrValue v);
// The same for an address; the condition is about its place in the object, if
// that is known (NULL), and so the same wherever the object lies.
void replay_pin(Replay *r, IrValue at, const Object *object);
void replay_lost(Replay *r, const char *name);
// The object that holds the address, or NULL.
const Object *replay_object(Replay *r, uint64_t at, bool *read_only);
void replay_allocated(Replay *r, uint64_t at, uint64_t size);
void replay_freed(Replay *r, uint64_t at);
void replay_resized(Replay *r, uint64_t at, uint64_t size); // stays in place
uint64_t replay_allocated_size(Replay *r, uint64_t at);     // 0: unknown
void replay_begin_input(Replay *r);
// Arguments and environment are known: their bytes become variables.
void replay_found_arguments(Replay *r, uint64_t argc, uint64_t argv);

// The byte behind the end of the input's text that `base` points into: what
// would stand there if the text were longer. 0: `at` is not behind such an end.
Expr replay_slack(Replay *r, uint64_t base, uint64_t at);

#endif
