// Layout of a lowered unit's file: written by lower/lower.c, read by
// ir_read.c. Header, then the arrays of IR_ARRAYS one behind the other, each
// padded to 8 bytes, as they are in memory (little endian).
#ifndef CULPRIT_IR_IR_FORMAT_H
#define CULPRIT_IR_IR_FORMAT_H

#include <stdint.h>

#define IR_MAGIC 0x3152494c50554c43ull // "CLUPLIR1"
#define IR_VERSION 4u

// member of Program (and of the writer), in file order
#define IR_ARRAYS(ARRAY_)                                                      \
  ARRAY_(functions)                                                            \
  ARRAY_(blocks)                                                               \
  ARRAY_(insts)                                                                \
  ARRAY_(edges)                                                                \
  ARRAY_(moves)                                                                \
  ARRAY_(branches)                                                             \
  ARRAY_(cases)                                                                \
  ARRAY_(calls)                                                                \
  ARRAY_(args)                                                                 \
  ARRAY_(scalars)                                                              \
  ARRAY_(by_values)                                                            \
  ARRAY_(symbols)                                                              \
  ARRAY_(constants)                                                            \
  ARRAY_(globals)                                                              \
  ARRAY_(variables)                                                            \
  ARRAY_(places)                                                               \
  ARRAY_(sources)                                                              \
  ARRAY_(names)                                                                \
  ARRAY_(bytes)                                                                \
  ARRAY_(known)

#define COUNT_(member) +1
enum { IR_ARRAY_COUNT = 0 IR_ARRAYS(COUNT_) };
#undef COUNT_

typedef struct {
  uint64_t magic;
  uint32_t version;
  uint32_t nlinks; // link-time constants
  unsigned char id[16];
  uint64_t size; // of the whole file
  uint64_t lengths[IR_ARRAY_COUNT];
} IrFileHeader;

#endif
