// The closer look at a request: which values stood in which relation, and which
// statement wrote the value that another one used. Collected only if
// culprit.collect names `close`.
//
//   3  $a = 5;                pair 3 -> 4 ($a)
//   4  $b = $a < $max;        relation: `$a` is less than `$max`
//   5  $list['x'] = $b;       pair 4 -> 5 ($b)
//   6  echo $list['x'];       pair 5 -> 6 ($list['x'])
//
// A statement is known by the slot of its counter; 0 is none. PHP's values have
// no room for their writer, so each place that holds a value has a cell:
//
//   variables    in the frame of their function, behind its culprit_frame
//   references   a cell whose number stands in the unused word of the value;
//                the cell names the reference. Every opcode that makes a
//                reference gives it a new cell.
//   elements     found by array, key and a tag, which stands in unused bits of
//                the array's header. PHP clears them in every new array and
//                every copy, so an array that took the place of a dead one does
//                not inherit its cells.
//   properties   found by object and name; PHP's weak references tell when the
//                object dies. Static ones stay where they are.
//
// All cells are bounded; what is not tracked has no pair. Reading $a['x'] uses
// both the variable $a and its element; writing it defines the element only.
#ifndef CULPRIT_EXT_CLOSE_H
#define CULPRIT_EXT_CLOSE_H

#include "php_culprit.h"

enum {
  CLOSE_CELLS = 1 << 20,   // of a request
  CLOSE_PAIRS = 1 << 16,   // different ones
  CLOSE_OBJECTS = 1 << 16, // with cells
  CLOSE_TAGS = 65534,      // arrays with cells
  CLOSE_PASSED = 256,      // elements of an array given to a function
  CLOSE_TEXT = 120,        // bytes of a name or operand
};

#define CLOSE_SILENT 0x8000u // in culprit_close.seen: nobody else looks

// Outcomes, as RelationOutcome of model/entity.h.
enum {
  OUTCOME_LESS,
  OUTCOME_EQUAL,
  OUTCOME_GREATER,
  OUTCOME_UNORDERED,
  OUTCOME_NULL,
  OUTCOME_NON_NULL,
  OUTCOME_NEGATIVE,
  OUTCOME_ZERO,
  OUTCOME_POSITIVE,
  OUTCOME_SAME,
  OUTCOME_CHANGED,
  OUTCOME_DIFFERENT,
  OUTCOMES
};

// An opcode that is about to run.
typedef struct {
  zend_execute_data *ex;
  const culprit_function *f;
  const zend_op *op;
  uint32_t statement; // it belongs to; 0: none
} close_at;

static inline zval *close_operand1(const close_at *a) {
  return culprit_operand(a->ex, a->op, a->op->op1_type, a->op->op1);
}

// --- cells (close_cells.c) ---------------------------------------------------

void close_cells_begin(void);
void close_cells_end(void);
void close_cells_free(void);

// A cell by number; 0 is nobody's. Writers of number 0 are lost.
uint32_t close_writer(uint32_t cell);
void close_write(uint32_t cell, uint32_t statement);

// The cell of a reference; 0: it has none. close_take makes one; of a reference
// that was just made, close_take_new does.
uint32_t close_of_ref(const zend_reference *ref);
void close_take(zend_reference *ref, uint32_t statement);
void close_take_new(zend_reference *ref, uint32_t statement);
// The cell of an element or property; `make`: if there is none. `key`: a scalar.
uint32_t close_of_element(HashTable *array, const zval *key, bool make);
uint32_t close_of_property(zend_object *object, zend_string *name, bool make);
// The cell of a value that stays where it is: a static property.
uint32_t close_of_slot(const zval *slot, bool make);
// A cell that stands for the one at this address, as long as that lives.
uint32_t close_alias(uint32_t *cell);
// The elements of `from` are those of `to` now: a copy about to be changed.
void close_copy(HashTable *from, HashTable *to);
// All cells of the array are lost; those to come are new ones.
void close_forget(HashTable *array);
bool close_has_cells(const HashTable *array);

// --- places (close_places.c) -------------------------------------------------

// The cells of a frame: one for each variable and temporary.
static zend_always_inline uint32_t *close_frame(zend_execute_data *ex,
                                                const culprit_function *f) {
  return (uint32_t *)(culprit_frame_of(ex, f) + 1);
}

static zend_always_inline uint32_t close_number(uint32_t var) {
  return var / (uint32_t)sizeof(zval) - ZEND_CALL_FRAME_SLOT;
}

// In a cell of a variable: the table of names knows who wrote it. Included files
// share that table.
#define CLOSE_BY_NAME UINT32_MAX
// The cell of variable `n`, which then holds its writer.
uint32_t *close_cell(zend_execute_data *ex, const culprit_function *f,
                     uint32_t n);
// Who wrote variable `n` of the frame.
uint32_t close_variable(zend_execute_data *ex, const culprit_function *f,
                        uint32_t n);
void close_define(zend_execute_data *ex, const culprit_function *f, uint32_t n,
                  uint32_t statement);
// The cell of a variable that is looked up by name; NULL: not known.
uint32_t *close_named(zend_execute_data *ex, zend_string *name, bool global);
// The frame's variables are left to the table of names: an included file begins
// or ends.
void close_store_names(zend_execute_data *ex, const culprit_function *f);
// The variable or element behind an operand becomes a reference, as the opcode
// would make it. NULL: it cannot.
zend_reference *close_make_ref(const close_at *a, zend_uchar type,
                               znode_op node);
// The array behind operand 1 that is about to be changed, made as the opcode
// would make it. NULL: it is none.
HashTable *close_changed_array(const close_at *a, bool make);
// The property that the opcode is about: its object and name. False: it cannot
// be told, or code of the application decides.
bool close_property(const close_at *a, zend_object **object,
                    zend_string **name);
uint32_t close_property_writer(zend_object *object, zend_string *name);
uint32_t close_element_writer(HashTable *array, const zval *key);
// These tell the cell that was written.
uint32_t close_define_property(zend_object *object, zend_string *name,
                               uint32_t statement);
uint32_t close_define_element(HashTable *array, const zval *key,
                              uint32_t statement);
// The cell of the static property that the opcode is about; 0: not known.
uint32_t close_of_static(const close_at *a, bool make);
zval *close_key_of(const close_at *a); // operand 2; NULL: none
zval *close_find_element(HashTable *array, const zval *key); // NULL: none

// --- what is told (close_tell.c) ---------------------------------------------

void close_tell_begin(void);
void close_tell_free(void);
// `a` uses what `writer` wrote; `name` of the variable, from the opcode.
typedef enum { NAME_NONE, NAME_1, NAME_2, NAME_DATA, NAME_PLACE } close_name;
void close_pair(const close_at *a, uint32_t writer, close_name name);
void close_link(PairKind kind, uint32_t def, uint32_t use);
void close_relation(const close_at *a, RelatedKind kind, unsigned outcome);

// --- relations (close_compare.c) ---------------------------------------------

void close_compare(const close_at *a);

// --- opcodes (close_ops.c) ---------------------------------------------------

static inline void close_use1(const close_at *a) {
  if (a->op->op1_type == IS_CV)
    close_pair(a, close_variable(a->ex, a->f, close_number(a->op->op1.var)),
               NAME_1);
}

bool close_wants(const zend_op *op);
void close_look(const close_at *a);
// What the last opcode left to be done after it; `ex`: is about to go on.
void close_settle_last(const zend_execute_data *ex);
void close_drop_last(void);
// An exception ends the last opcode: whether it wrote is not known.
void close_doubt_last(const zend_op *op);

// --- calls (close_calls.c) ---------------------------------------------------

void close_enter(zend_execute_data *ex, const culprit_function *f);
void close_init_call(const zend_execute_data *ex, zend_op *op);
void close_include(const close_at *a);
void close_return(const close_at *a);

#endif
