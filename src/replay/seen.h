// Memory that a trace recorded as one block (TRACE_SEEN), kept up to date as
// the run changes it. Loops over it are not recorded; their loads are answered
// here.
//
// Only recorded pages are kept. Their bytes are valid for the loop that
// follows: the recorder records what has changed before each such loop.
#ifndef CULPRIT_REPLAY_SEEN_H
#define CULPRIT_REPLAY_SEEN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct SeenMemory SeenMemory;

SeenMemory *seen_new(void);
void seen_free(SeenMemory *s);

void seen_show(SeenMemory *s, uint64_t at, const uint8_t *bytes, uint64_t n);
// The run stores 1 to 8 bytes; fills n bytes.
void seen_store(SeenMemory *s, uint64_t at, unsigned n, uint64_t value);
void seen_fill(SeenMemory *s, uint64_t at, uint64_t n, uint8_t value);
// False: a byte has not been shown.
bool seen_load(SeenMemory *s, uint64_t at, unsigned n, uint64_t *value);

#endif
