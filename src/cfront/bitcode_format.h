// A chunk of the section `.llvmcmd`: the bitcode of one unit as it was planned,
// compressed. Later builds of the same program (trace, mutants) start from it.
// The linker concatenates the chunks; strip keeps them.
//
// LLVM keeps sections of a few names only out of the running program's memory.
// Not `.llvmbc`: where LLVM's plugin for binutils is installed (clang-19 brings
// it), ar, nm and strip take an object that has it for an LTO object, and a
// library made of such objects has no symbols.
#ifndef CULPRIT_CFRONT_BITCODE_FORMAT_H
#define CULPRIT_CFRONT_BITCODE_FORMAT_H

#include <stdint.h>

#define BITCODE_SECTION ".llvmcmd"
#define BITCODE_MAGIC 0x43424c50554c4331ull // "1CLUPLBC"

typedef struct {
  uint64_t magic;
  uint64_t size;      // of the zstd frame that follows
  uint64_t full_size; // of the bitcode
  unsigned char id[16]; // the unit
} BitcodeHeader;

#endif
