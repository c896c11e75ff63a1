// Inside of the collector: shared by runfile.c, which reads what the processes
// of a test left, and segments.c, which reads what each part of it left.
#ifndef CULPRIT_PROGRAM_COLLECTOR_H
#define CULPRIT_PROGRAM_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/runfile.h"
#include "program/unwind.h"
#include "runtime/format.h"
#include "util/array.h"
#include "util/hashmap.h"
#include "util/str.h"

// A unit, and what was counted in it so far.
typedef struct {
  const UnitMap *map;
  uint32_t *ids;       // suite-wide id of each entity
  unsigned char *hit;  // this run: was the counter hit?
  uint64_t *count;     // this run: how often; NULL: the unit has hits only
  unsigned char *dead; // this run: 1 for entities that only seem to be hit
  unsigned processes;  // this run: how many executed it
  Hashmap lines;       // (source, line) -> statement; made at the first death
  uint32_t *sites;     // of each counter: the statement whose site it is, its
                       // suite-wide id; made at the first pair
  Hashmap use_sites;   // with them: counter -> number of the map's UseSite
} KnownUnit;

// Suite-wide ids of statements.
typedef struct {
  uint32_t def, use;
} StatementPair;

struct Collector {
  AssignIds *assign;
  void *ctx;
  ARRAY(ProgramMap *) modules;
  Hashmap module_paths;
  ARRAY(KnownUnit) units;
  Hashmap unit_ids;
  Str file; // the run file being read
  bool sealed;
  ARRAY(char *) libraries; // of the programs; looked for once it is sealed
  TakePair *take_pair;
  void *pair_ctx;
  ARRAY(StatementPair) pairs; // this run
  uint32_t pair_flags;        // this run: CLOSE_NO_MEMORY, CLOSE_FORGOT
  uint64_t pairs_lost;        // this run
  // Of the test whose files were read last.
  size_t files; // run files
  bool marked;  // it has boundaries of segments
  Str turns;    // of its processes that hang: see Death
};

KnownUnit *collector_unit(const Collector *c, const unsigned char *id);

enum { MAX_FRAMES = 64 };

typedef struct {
  CodePlace places[MAX_FRAMES];
  size_t n;
  bool complete; // all callers are known
  uint32_t signal;
} DeadProcess;

typedef ARRAY(DeadProcess) DeadProcesses;

// Adds how the process died, if it did.
void collector_note_death(Collector *c, const RunHeader *h, size_t size,
                          DeadProcesses *dead);
// Adds the death to the run, and takes back what was not executed for it.
void collector_add_death(Collector *c, DeadProcess *d, Run *run);

// Adds to what the user should know of the run, unless it is there already.
void collector_add_note(Run *run, const char *text);
// Reads a run file. NULL: *bad says what is wrong with it. Valid until the next.
const RunHeader *collector_load(Collector *c, int dir, const char *name,
                                const char **bad);
// Unites the counters of a run file with what was counted so far. -1 only if a
// unit may not be mixed with others.
int collector_read_units(Collector *c, const RunHeader *h, size_t size,
                         Run *run, Err *err);
// Adds what was counted to the run, as entities; begins anew.
void collector_translate(Collector *c, Run *run);

#endif
