// The source files a report shows, read on demand from where they were
// compiled.
#ifndef CULPRIT_REPORT_SOURCE_H
#define CULPRIT_REPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"

typedef enum {
  SOURCE_UNSEEN,     // nobody asked yet
  SOURCE_READABLE,   // as it was compiled, as far as we know
  SOURCE_CHANGED,    // its text is not the one that was compiled
  SOURCE_UNREADABLE, // not there, no plain file, or larger than 64 MB
} SourceState;

typedef struct ReportSource ReportSource;
typedef struct {
  const Suite *suite;
  ReportSource *texts; // one per source of the suite
} Sources;

void sources_init(Sources *s, const Suite *suite);
void sources_release(Sources *s);

// What is known so far; and the same after having looked at the file.
SourceState sources_state(const Sources *s, uint32_t source);
SourceState sources_check(Sources *s, uint32_t source);

// The text of a line, without its end; false if there is no such line. It stays
// valid as long as `s`.
bool sources_line(Sources *s, uint32_t source, uint32_t line, const char **text,
                  size_t *n);

#endif
