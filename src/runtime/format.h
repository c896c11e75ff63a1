// What the runtime writes and program/runfile.c reads: the layout of a run
// file, and of the records that instrumented code hands to the runtime. Guest
// code: included by the tested program's half and by the tool's half.
//
// A run file belongs to one process and one module (program or shared library):
//
//   RunHeader | RunUnit[nunits] | pad to page | counters | death area
//
// The counters are the module's section `culprit_cnt`, mapped over this part of
// the file: whatever the process counts is in the file at once, however it
// ends. Each unit's counters fill whole pages, so that no other data shares
// them. The death area is sparse and written only by the fatal-signal hook.
//
// Nothing that the program works on gets into it: of registers and stack only
// words that are addresses of code or of the saved stack are kept, the others
// are 0; of the memory map only the first line of each file with code.
#ifndef CULPRIT_RUNTIME_FORMAT_H
#define CULPRIT_RUNTIME_FORMAT_H

#include <stdint.h>

#define RUNFILE_MAGIC 0x314e555250554c43ull // "CLUPRUN1"
#define RUNFILE_VERSION 2u

#define RUNFILE_PAGE 4096u
#define RUNFILE_STACK 32768u // bytes of stack kept of a dying process
#define RUNFILE_MAPS 32768u  // bytes of /proc/self/maps kept
// culprit sends it to a process that hangs: its hook tells where. A signal that
// nobody uses and that leaves no core file.
#define RUNFILE_HANG 16 // SIGSTKFLT

#define RUNFILE_REGS 18u // x86-64: 16 general, pc, and one that is always 0

// Life of a run file. A reader may see any of them: the process can be killed
// between two instructions.
enum { RUN_STARTED = 1, RUN_DYING = 2, RUN_DIED = 3 };

// In `flags`: memory that is not the file's was found where the counters are; a
// boundary of segments could not be written.
enum { RUN_REMAPPED = 1, RUN_UNCUT = 2 };

// One per translation unit, in section `culprit_units`, written by the
// instrumenter.
typedef struct {
  unsigned char id[16];
  int64_t counters; // address of the counters, relative to this field
  uint32_t ncounters;
  uint32_t counter_size; // bytes each: 1 hits, 8 counts
} CulpritUnit;

typedef struct {
  unsigned char id[16];
  uint64_t offset; // from the start of the file
  uint32_t ncounters;
  uint32_t counter_size;
} RunUnit;

typedef struct {
  uint64_t magic;
  uint32_t version;
  uint32_t state; // RUN_*
  uint32_t pid, ppid;
  uint32_t nunits;
  uint32_t signal;   // the fatal one; 0: a sanitizer's report
  int32_t code;      // its si_code
  uint32_t flags;    // RUN_REMAPPED, RUN_UNCUT
  uint64_t counters; // offset and size of the counter part
  uint64_t counters_size;
  uint64_t death; // offset of the death area: stack, then maps
  uint64_t ehdr;  // address of the module's ELF header in the process
  uint64_t regs[RUNFILE_REGS];
  uint32_t stack_size; // bytes really there
  uint32_t maps_size;
  uint64_t started; // ns, CLOCK_MONOTONIC
  uint64_t ended;   // by exit or a fatal signal; 0: otherwise
  int64_t out, err; // bytes of the test's output then; -1: not known
  uint32_t session; // of the process; its own number: it leads the test
  uint32_t unused;
  char module[1024]; // path of the program or library
} RunHeader;

#endif
