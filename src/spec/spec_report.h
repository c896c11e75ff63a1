// The report of `culprit spec`, as text and as JSON.
#ifndef CULPRIT_SPEC_SPEC_REPORT_H
#define CULPRIT_SPEC_SPEC_REPORT_H

#include <stdio.h>

#include "spec/rounds.h"

typedef struct {
  const Rounds *rounds;
  const char *root;   // files below it are shown relative to it
  const char *method; // name, for JSON
  size_t top;         // lines of the ranking; 0: all
  int64_t session;    // in which it is stored; 0: none
} SpecReport;

// "list_delete breaks size_ok, remove_ok", with the text of each clause.
void spec_print_broken(const Violation *v, const char *root, FILE *out);
// The cores, one after the other, and what was assumed.
void spec_print_cores(const Inquiry *q, const char *root, FILE *out);
// One line about the test that was taken last.
void spec_print_round(const SpecReport *r, size_t number, FILE *out);
// The first lines of the ranking, and why they are there.
void spec_print_lines(const SpecReport *r, FILE *out);
// One line about a method: tests, and the line it puts first.
void spec_print_method(const SpecReport *r, FILE *out);
// spec_print_lines, and how many tests there were.
void spec_print_ranking(const SpecReport *r, FILE *out);

void spec_print_json(const SpecReport *r, FILE *out);

#endif
