// Memory of the encoded call: cells, each as large as its accesses, so that a
// field of a struct is a cell of its own. Memory that has not been written is
// what the process had at the call (or symbolic), zero for calloc, and anything
// for other new objects.
//
//   Pmap state = NULL;                       // nothing written
//   state = memory_store(m, state, 0x5010, val);
//   Val x = memory_load(m, state, 0x5010, 32, false);
//
// States are Pmaps from a cell's address to its value. Accesses of another size
// than a cell has take it apart into bytes.
//
// Addresses of new objects lie far above those of a process.
#ifndef CULPRIT_SPEC_ENCODE_MEMORY_H
#define CULPRIT_SPEC_ENCODE_MEMORY_H

#include "spec/encode/encode_value.h"
#include "spec/encode/pmap.h"

// Bytes of the process; false: there are none.
typedef bool ReadProcess(void *context, uint64_t at, void *out, size_t n);

// A new object: a variable of a call, or from malloc.
typedef struct {
  uint64_t base, size;
  uint64_t maker;               // what made it, the same in every encoding
  bool zero;                    // calloc
  const unsigned char *content; // what is in it; NULL: see zero
  uint32_t before;              // variable of the same call, from 1; 0: none
} NewObject;

typedef struct {
  uint64_t address;
  Val value; // in the run: before the call
  uint8_t width;
  bool pointer;
} PreCell;
typedef ARRAY(PreCell) PreCells;

typedef struct {
  ValPool *values;
  Arena arena;
  ReadProcess *read;
  void *context;
  ARRAY(NewObject) regions; // variables
  Hashmap calls;            // frame -> its last variable, from 1
  ARRAY(NewObject) heap;
  Hashmap makers;  // maker -> index in heap
  Hashmap shapes;  // granule -> mask of its bytes that begin cells, and sizes
  Hashmap initial; // (address, width) -> Val
  PreCells read_first; // cells of the process that were read, in order
  // Gives the value of a cell of the process that is to be symbolic, 0 if it is
  // not. May be NULL.
  Val (*symbolic)(void *context, const PreCell *cell, uint64_t now);
  void *symbolic_context;
  bool concrete; // unknown values are 0
} Memory;

#define VARIABLE_BASE (1ull << 56) // addresses of variables
#define HEAP_BASE (1ull << 57)     // of what malloc gives
#define GHOST_BASE (1ull << 58)    // of cells that are not memory

void memory_init(Memory *m, ValPool *v, ReadProcess *read, void *context);
void memory_release(Memory *m);
// Before each encoding: forgets all variables and reads.
void memory_begin(Memory *m);
// Makes malloc return the same addresses as in the other.
void memory_take_heap(Memory *m, const Memory *other);

// The frame of a variable's address; 0: not a variable.
uint32_t memory_frame(uint64_t address);
uint64_t memory_new_variable(Memory *m, uint32_t frame, uint64_t size,
                             uint64_t maker);
uint64_t memory_new_heap(Memory *m, uint64_t size, bool zero, uint64_t maker);
// The object that holds the address: its bounds, if they are known.
const NewObject *memory_region(const Memory *m, uint64_t address);

// Is there memory at that address?
bool memory_has(Memory *m, uint64_t address, unsigned width);
// 0: nothing was written there, and its content is not known.
Val memory_load(Memory *m, Pmap *state, uint64_t address, unsigned width,
                bool pointer);
Pmap memory_store(Memory *m, Pmap state, uint64_t address, Val value);
// What an object holds from now on: `content`, as long as the object.
Pmap memory_fill(Memory *m, Pmap state, uint64_t base,
                 const unsigned char *content, uint64_t n);
// The cells accessed so far in `n` bytes from there, as (address, width).
void memory_cells(const Memory *m, uint64_t from, uint64_t n, PreCells *out);
// Copies `n` bytes, cell by cell.
Pmap memory_copy(Memory *m, Pmap state, uint64_t to, uint64_t from, uint64_t n);

#endif
