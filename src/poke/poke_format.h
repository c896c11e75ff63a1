// The job file and the answer of culprit-poke (poke.c): lines of words
// separated by tabs. Included by both sides.
//
//   culprit-poke JOB PROGRAM NAME ARGS...
//
// runs PROGRAM, a marked build (marks.h), under NAME with ARGS, and ends as it
// does. JOB says where to stop it once, and what to do there:
//
//   mark UNIT BLOCK         block of the unit, from 0, that ends in a branch
//   count N                 its N-th execution, from 1
//   answer FILE             gets the answer
//   state                   the answer has all cells (poke_state.h)
//   put ADDRESS OLD NEW     bytes, in hexadecimal: OLD must be there
//
// ADDRESS holds for runs of the same command: addresses are not random. The
// answer has, as far as it goes:
//
//   reached                 the execution that is wanted
//   moved ADDRESS SIZE      OLD was not in these bytes; nothing was changed
//   image FROM TO           where the program's own data lies
//   cell FRAME FUNCTION NAME ADDRESS KIND BYTES
//   leads TEXT              of the cell above, a pointer: what it points to, as
//                           a person would write it, printable ASCII only:
//                           "abc", {len = 3, next = NULL}, f(), pointer to 5
//   way N                   the outcome: 1 or 0, or the value of a switch
//   failed TEXT             it could not be done
#ifndef CULPRIT_POKE_POKE_FORMAT_H
#define CULPRIT_POKE_POKE_FORMAT_H

#define POKE_PROGRAM "culprit-poke"

enum { POKE_BYTES = 65536 }; // of one cell

// KIND of a cell.
typedef enum {
  CELL_SIGNED = 'i',
  CELL_UNSIGNED = 'u',
  CELL_FLOAT = 'f',
  CELL_POINTER = 'p',
  CELL_TABLE = 'b', // a table of bytes
  CELL_TEXT = 't',  // up to its NUL
} CellKind;

// The unit's number stands behind it.
#define MARKS_TABLE "__culprit_marks_"

#endif
