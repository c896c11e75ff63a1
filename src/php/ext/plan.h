// Between the parts of planning: flow.c finds statements and blocks of one
// function, tuples.c its conditions and calls, plan.c numbers everything and
// bakes the numbers into the opcodes. All memory is the request's.
#ifndef CULPRIT_PLAN_H
#define CULPRIT_PLAN_H

#include "php_culprit.h"

// A growing array whose memory is the request's.
#define LIST(T)                                                                \
  struct {                                                                     \
    T *items;                                                                  \
    uint32_t length, room;                                                     \
  }

#define list_push(list, ...)                                                   \
  do {                                                                         \
    if ((list)->length == (list)->room) {                                      \
      (list)->room = (list)->room ? (list)->room * 2 : 8;                      \
      void *grown_ = culprit_alloc((list)->room * sizeof *(list)->items);      \
      if ((list)->length)                                                      \
        memcpy(grown_, (list)->items, (list)->length * sizeof *(list)->items); \
      (list)->items = grown_;                                                  \
    }                                                                          \
    (list)->items[(list)->length++] = (__VA_ARGS__);                           \
  } while (0)

// A statement: one ZEND_EXT_STMT.
typedef struct {
  uint32_t op, line;
  uint32_t nlines; // of text outside <?php ?> with something on them
  uint32_t *lines; // ... and their numbers; NULL: code
  uint32_t block;
  uint32_t npreds, nsuccs; // control flow within the function, calls apart
  uint32_t next;           // the last of its successors
  bool leader;             // first of its block
} point;

// A condition: an opcode or, for a switch, several.
typedef struct {
  uint32_t kind, line, outcomes, owner; // owner: point or CULPRIT_NONE
  uint32_t first;                       // its outcome 0, in the function
  const uint32_t *ops;
  uint32_t nops;
} condition;

typedef struct {
  uint32_t op, line, owner, classes;
  const char *callee;
  size_t callee_length;
} call;

typedef struct {
  zend_op_array *code;
  uint32_t entry_op; // the first ZEND_EXT_STMT; code->last: none
  LIST(point) points;
  uint32_t *point_of; // per opcode: number of the point + 1
  uint32_t *owner;    // per opcode: number of the point it belongs to + 1
  uint32_t nblocks;
  uint32_t *block_lines;
  LIST(map_edge) edges; // those that leave a block come last: one per block
  LIST(condition) conditions;
  LIST(call) calls;
  uint32_t entity; // of the function, in its script
  uint32_t first_condition, first_call;
} function_plan;

// What flow_find and tuples_find found in an earlier request (kept.c). `number`:
// of the function in its script; two may have the same opcodes.
uint64_t culprit_flow_key(const culprit_source *source,
                          const zend_op_array *code, uint32_t number);
bool culprit_flow_find(uint64_t key, function_plan *f); // false: not known
void culprit_flow_keep(uint64_t key, const function_plan *f);

void flow_find(function_plan *f, const culprit_source *source);
void tuples_find(function_plan *f, const culprit_source *source);

// How many cells of 4 bytes a frame has for the closer look.
uint32_t close_cells(const zend_op_array *code);
// Prepares the closer look at a function. `slots`: of the points' statements.
void close_bake(const function_plan *f, culprit_function *c,
                const uint32_t *slots, uint32_t function_slot);
// Is opcode `n` one to look at? `silent`: nobody else wants to.
void close_settle(const function_plan *f, culprit_function *c, uint32_t n,
                  bool silent);

// Where a jump leads, as number of an opcode.
uint32_t jump_target(const zend_op_array *code, uint32_t op);
bool is_jump(const zend_op *op); // that jump_target knows

// How many entities the calls and conditions of a function are.
static inline uint32_t count_classes(uint32_t classes) {
  return (uint32_t)__builtin_popcount(classes);
}

#endif
