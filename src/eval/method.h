// The methods that are compared: a localizer, and what it may look at.
//
//   ochiai             as `culprit rank --method ochiai`
//   ochiai:statement   with --entities statement; several kinds: a+b
#ifndef CULPRIT_EVAL_METHOD_H
#define CULPRIT_EVAL_METHOD_H

#include <stdbool.h>
#include <stddef.h>

#include "locate/localizer.h"
#include "util/array.h"
#include "util/err.h"
#include "util/str.h"

typedef struct {
  char *name; // as in a list of methods
  Localizer method;
  unsigned entities; // 0: as the method likes it
  // For ablations: which row of the list it is a variant of, and which kinds
  // were taken from it. `dropped` 0: a method of the list.
  size_t of;
  unsigned dropped;
} EvaluatedMethod;

typedef struct {
  ARRAY(EvaluatedMethod) items;
} MethodList;

// What is compared by default.
extern const char methods_default[];

// Names separated by commas. One that there is not is an error, or, if `lost`
// is given, left out and appended to it, ", " between several.
int methods_parse(MethodList *l, const char *text, Str *lost, Err *err);
// Behind all: each formula without conditions, without returns, and without
// both; the default method also without each kind that a closer look records.
void methods_ablate(MethodList *l);
// Names of kinds, each with an ending: "conditions, returns".
void kinds_add(unsigned kinds, const char *between, const char *ending,
               Str *out);
void methods_release(MethodList *l);

#endif
