// The core of a broken contract, as `culprit spec` kept it beside the store or
// as `culprit spec --json` printed it: the lines that cannot hold together with
// what was promised. For the HTML report.
#ifndef CULPRIT_REPORT_CORE_NOTE_H
#define CULPRIT_REPORT_CORE_NOTE_H

#include <stdint.h>

#include "locate/spec_note.h"
#include "model/suite.h"
#include "util/array.h"
#include "util/err.h"

typedef struct {
  ARRAY(char *) violated;     // names of clauses
  ARRAY(uint32_t) statements; // entities of the suite
  size_t unknown;             // lines that the session does not have
} CoreNote;

// Fails if the file is not such JSON. Release it even then.
int core_note_read(CoreNote *c, const char *path, const Suite *suite, Err *err);
// What was kept.
void core_note_of(CoreNote *c, const SpecNote *note, const Suite *suite);
void core_note_release(CoreNote *c);

#endif
