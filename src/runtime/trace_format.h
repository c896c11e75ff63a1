// What a traced program writes and replay/trace_read.c reads. Guest code:
// included by the runtime that is linked into the program and by the tool.
//
// A trace file belongs to one process:
//
//   TraceHeader (one page) | units | pad to page | window | stream
//
// The header page is mapped over the variables that instrumented code works
// with (the cursor above all), and instrumented code writes into the window,
// which is mapped as well: all is in the file at once, however the process
// ends. A full window is appended to the stream and used again; one that fits
// in the processor's cache costs half of what mapping ever more of the file
// does. Only of a process that was killed is the last part still in the window.
// `units` has one TraceUnit per translation unit, each followed by the run-time
// values of its link-time constants (addresses of globals and functions, u64
// each).
//
// The stream records only what cannot be computed from the program's code and
// the stream so far. Items have no tags, except where unknown code has run; the
// reader knows from the code what comes next:
//
//   loaded value      1, 2, 4 or 8 bytes
//   alloca            8 bytes: its address
//   by-value struct   8 bytes: where the callee sees it, at function entry
//   va_start          24 bytes: the va_list it made
//   result of an operation that the lowered IR does not have: as a load
//   external or indirect call, when it is over or calls back:
//     TRACE_WROTE  address u64, size u32, bytes: memory the call has written
//     TRACE_ENTER  unit u32, function u32, arguments u64 each: an instrumented
//                  function was called from outside; its own items follow
//     TRACE_RETURN result: 8 bytes per scalar of at most 64 bits
//   before and behind main there is code outside too: TRACE_ENTER
//   block             u32 number, in a checking trace only
//   before a counted loop over arrays (trace/trace_loops.h):
//     TRACE_SEEN   address u64, size u32, bytes: memory as it is; any number
//     0 or 1       1: the loop's loads are not recorded, but in this memory
#ifndef CULPRIT_RUNTIME_TRACE_FORMAT_H
#define CULPRIT_RUNTIME_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC 0x3143525450554c43ull // "CLUPTRC1"
#define TRACE_VERSION 4u
#define TRACE_PAGE 4096u
// The most that is written between two looks at the limit.
#define TRACE_SLACK 65536u
// Its space is taken when the file is made and given back with it, however
// short the run: no larger than a long one needs.
#define TRACE_WINDOW (3u * TRACE_SLACK)
#define TRACE_DEFAULT_MAX (1ull << 30) // bytes of stream

enum {
  TRACE_WROTE = 0xa1,
  TRACE_ENTER = 0xa2,
  TRACE_RETURN = 0xa3,
  TRACE_SEEN = 2
};

// How far the process has come.
enum {
  TRACE_RUNNING = 1, // also: killed
  TRACE_ENDED = 2,   // exit, or return from main
  TRACE_DIED = 3,    // a fatal signal
  TRACE_FULL = 4,    // the cap was reached, or the disk is full
  TRACE_THREADED = 5 // a thread was started: nothing behind that is recorded
};

enum { TRACE_FLAG_CHECK = 1, TRACE_FLAG_DISK = 2 };

// The first fields are what instrumented code works with.
typedef struct {
  uint64_t cursor;  // address in the process: the stream goes on here
  uint64_t limit;   // beyond it the runtime must be asked
  uint32_t outside; // 1: code that is not instrumented is running
  uint32_t state;   // TRACE_RUNNING, ...
  uint64_t changes; // goes up when memory is not what the stream says any more
  uint64_t magic;
  uint32_t version;
  uint32_t flags;
  uint32_t pid, ppid;
  uint64_t base;   // address of the window
  uint64_t window; // its offset in the file
  uint64_t stream; // offset of the stream
  uint64_t end;    // length of the stream there; TRACE_RUNNING: what lies
                   // between base and cursor comes behind it
  uint64_t cap;    // bytes of stream allowed
  uint32_t nunits;
  uint32_t signal;
  int32_t code;
  uint32_t was_outside; // when it died
  uint64_t fault;       // address, of SIGSEGV and SIGBUS
  uint64_t pc;
  uint64_t argc, argv;   // as main gets them; the environment stands behind
  uint64_t standard_out; // stdout of the C library; 0: it has none
  char module[1024];
} TraceHeader;
_Static_assert(sizeof(TraceHeader) <= TRACE_PAGE, "one page");

// What a loop is going to read: in its first, second and last round.
typedef struct {
  uint64_t first, second, last, size;
} TraceAccess;

typedef struct {
  unsigned char id[16];
  uint32_t number; // as in TRACE_ENTER
  uint32_t nvalues;
} TraceUnit;

// What each object hands to the runtime, in section `culprit_trc`.
typedef struct {
  unsigned char id[16];
  const uint64_t *values;
  uint32_t number, nvalues;
  uint32_t flags;
  uint32_t reserved;
} CulpritTraceUnit;
#define TRACE_UNIT_SECTION "culprit_trc"

#endif
