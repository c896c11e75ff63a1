// A chunk of the section `.llvmcmd`: the bitcode of one unit as it was planned,
// compressed. Later builds of the same program (trace, mutants) start from it.
// The linker concatenates the chunks; strip keeps them.
//
// LLVM keeps sections of a few names only out of the running program's memory.
// Not `.llvmbc`: where LLVM's plugin for binutils is installed (clang-19 brings
// it), ar, nm and strip take an object that has it for an LTO object, and a
// library made of such objects has no symbols.
#ifndef CULPRIT_COMPILE_BITCODE_FORMAT_H
#define CULPRIT_COMPILE_BITCODE_FORMAT_H

#include <stdint.h>

// A file with this ending is such bitcode, unpacked: culprit-cc takes it as a
// source.
#define BITCODE_SUFFIX ".culprit.bc"

// What code generation from instrumented bitcode is told besides its own
// options: see generate.c.
#define BITCODE_LLVM_OPTION "-sink-common-insts=false"

#define BITCODE_SECTION ".llvmcmd"
// The first byte counts versions.
#define BITCODE_MAGIC 0x43424c50554c4335ull // "5CLUPLBC"

// Header, then `args_size` bytes of NUL-terminated strings: the options the
// unit's machine code was made with; then `front_size` bytes of such strings:
// the directory it was compiled in ("": that of the link), its source as the
// compiler was given it, the options of the preprocessor and the language; then
// `size` bytes: a zstd frame.
typedef struct {
  uint64_t magic;
  uint64_t size;
  uint64_t full_size; // of the bitcode
  uint64_t args_size;
  uint64_t front_size;  // 0: its source cannot be compiled again
  uint64_t returns;     // 1: classes of all returned values are counted
  uint64_t mutant;      // number of the mutant that the machine code has, plus
                        // 1; 0: none. The bitcode does not have it
  unsigned char id[16]; // the unit
} BitcodeHeader;

#endif
