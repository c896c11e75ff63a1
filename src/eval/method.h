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

// What is compared unless told otherwise.
extern const char methods_default[];

// Names separated by commas. One that there is not is an error, or, if `lost`
// is given, left out and appended to it, ", " between several.
int methods_parse(MethodList *l, const char *text, Str *lost, Err *err);
// Behind each formula: the same without conditions, without returns, and
// without both. `n` rows were there before.
void methods_ablate(MethodList *l);
void methods_release(MethodList *l);

#endif
