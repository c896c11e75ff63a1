// Writing JSON as it comes, without a tree in memory. Text that is not UTF-8
// gets U+FFFD in place of what is wrong.
#ifndef CULPRIT_REPORT_JSON_OUT_H
#define CULPRIT_REPORT_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/ranking.h"

void json_string(const char *s, FILE *out);
// The shortest form that reads back as the same number.
void json_number(double x, FILE *out);

// A member of an object, other than the first.
void json_text(const char *key, const char *value, FILE *out);
void json_double(const char *key, double value, FILE *out);
void json_bool(const char *key, bool value, FILE *out);

// A comma, unless it is the first item of its list.
void json_separator(bool *first, FILE *out);

// The items of a list of evidence.
// Members: the runs that cover something, of how many; nothing if of none.
void json_counts(uint32_t ef, uint32_t ep, RunCounts of, FILE *out);
// A member: how many of the compared runs were looked at closely; nothing if
// none was.
void json_close(const Ranking *r, FILE *out);
void json_evidence(const Evidence *items, size_t n, FILE *out);

#endif
