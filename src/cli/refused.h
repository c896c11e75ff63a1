// What the application was not let do, for people and programs.
#ifndef CULPRIT_CLI_REFUSED_H
#define CULPRIT_CLI_REFUSED_H

#include <stdio.h>

#include "run/refusals.h"

// A line for each; nothing if there is none.
void refused_print(const Refusals *r, FILE *out);
// A member of the report's object: ,"refused":[...]
void refused_json(const Refusals *r, FILE *out);
char *refused_member(const Refusals *r); // the same; caller frees

#endif
