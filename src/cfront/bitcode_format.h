// A chunk of the section `.llvmbc`: the bitcode of one unit as it was planned,
// compressed. Later builds of the same program (trace, mutants) start from it.
// The linker concatenates the chunks; strip keeps them.
#ifndef CULPRIT_CFRONT_BITCODE_FORMAT_H
#define CULPRIT_CFRONT_BITCODE_FORMAT_H

#include <stdint.h>

#define BITCODE_SECTION ".llvmbc"
#define BITCODE_MAGIC 0x43424c50554c4331ull // "1CLUPLBC"

typedef struct {
  uint64_t magic;
  uint64_t size;      // of the zstd frame that follows
  uint64_t full_size; // of the bitcode
  unsigned char id[16]; // the unit
} BitcodeHeader;

#endif
