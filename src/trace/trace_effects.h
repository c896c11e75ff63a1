// What functions of the C library write to memory, as far as a replay cannot
// tell by itself: a trace keeps it right behind the call. Functions that only
// move bytes (memcpy, strcpy) are not here: replay moves them itself.
#ifndef CULPRIT_TRACE_TRACE_EFFECTS_H
#define CULPRIT_TRACE_TRACE_EFFECTS_H

typedef enum {
  EFFECT_BYTES,       // at `at`, as many as were returned (times `size`)
  EFFECT_TEXT,        // a string at `at`, unless the result is negative
  EFFECT_TEXT_IF_SET, // the string returned, unless that is NULL
  EFFECT_SIZED_TEXT,  // a string at `at`, if `size` is not 0
  EFFECT_NEW_TEXT,    // asprintf: *at, and the string there
  EFFECT_POINTER,     // 8 bytes at `at`, unless that is NULL
  EFFECT_LINE,        // getline: *at, at[1], and the line
  EFFECT_ARRAY        // qsort: arguments 1 and 2 multiplied, at `at`
} TraceEffectKind;

typedef struct {
  const char *name;
  TraceEffectKind kind;
  unsigned at; // argument
  int size;    // argument, -1: none
} TraceEffect;

// NULL: nothing is known.
const TraceEffect *trace_effect(const char *name);

#endif
