// The variables of a stopped process, by debug information: of every function
// that is being executed and of the file, down to fields, elements and what
// pointers lead to.
//
//   PokeState s;
//   poke_state_open(&s, "./program", pid, bias, &err);
//   poke_state_read(&s, pc, (PokeFrame){rbp, rsp});
//   for (...) s.cells.items[i]          // "p->len", at 0x5555..., 4 bytes
//   poke_state_close(&s);
//
// Cells are what can be compared and changed: numbers, pointers, and texts and
// tables of bytes as a whole. Each byte belongs to one cell: the first name
// that leads there: of the function that was stopped, of the file, of its
// callers; of each the shortest way first.
//
// Limits: x86-64, functions with a frame pointer whose variables lie in memory
// (marks.h). Callers are known up to the first that has no debug information
// (qsort has none, so the caller of a comparison function is not known). Left
// out: bit fields, arrays of variable length, thread-local variables, long
// double, what FILE and va_list hold. A pointer is followed HOPS_MAX times; it
// leads to all that fits into its block of the heap (as glibc keeps it);
// outside the heap to one object, or to pointers up to NULL (argv). Of arrays,
// the first ELEMENTS_MAX elements are listed. Unions are bytes; tables of more
// than POKE_BYTES bytes are left out.
#ifndef CULPRIT_POKE_POKE_STATE_H
#define CULPRIT_POKE_POKE_STATE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "poke/poke_format.h"
#include "util/arena.h"
#include "util/array.h"
#include "util/err.h"
#include "util/hashmap.h"

enum { GLOBAL = -1 }; // in the place of a frame

typedef struct {
  int frame;            // 0: the function that was stopped, 1: its caller, ...
  const char *function; // "" of globals
  const char *name;
  uint64_t at;
  uint32_t size;
  CellKind kind;
  const uint8_t *bytes;
  const char *leads; // of a pointer that is not null: what it points to, as
                     // poke_format.h has it; else NULL
} PokeCell;

// A pointer that is still to be followed.
typedef struct {
  int frame;
  const char *function, *name;
  uint64_t to;
  Dwarf_Die type; // of what it points to
  unsigned hops;
} PokePointer;

typedef struct {
  pid_t pid;
  uint64_t bias;
  int fd;
  Dwarf *dwarf;
  ARRAY(PokeCell) cells;
  ARRAY(PokePointer) pointers;
  Hashmap seen;  // addresses that belong to a cell
  Hashmap names; // of variables of this frame: inner ones hide outer ones
  uint64_t heap, heap_end;
  uint64_t bytes; // of all cells
  Arena arena;
} PokeState;

// `bias`: address in the process minus address in the file.
int poke_state_open(PokeState *s, const char *program, pid_t pid, uint64_t bias,
                    Err *err);
void poke_state_close(PokeState *s);

// Frame pointer and stack pointer of a function.
typedef struct {
  uint64_t base, stack;
} PokeFrame;

void poke_state_read(PokeState *s, uint64_t pc, PokeFrame frame);

// Memory of the process; false: it is not mapped.
bool poke_read(pid_t pid, uint64_t at, void *out, size_t n);
bool poke_write(pid_t pid, uint64_t at, const void *from, size_t n);

#endif
