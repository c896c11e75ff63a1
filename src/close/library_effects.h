// What functions of the C library read and write through their arguments, for
// definition-use pairs.
#ifndef CULPRIT_CLOSE_LIBRARY_EFFECTS_H
#define CULPRIT_CLOSE_LIBRARY_EFFECTS_H

#include <stddef.h>

// One thing that a call does. `arg` is the pointer; `size` and `factor` are
// arguments that say how much, -1: none.
typedef enum {
  READS_TEXT,     // up to its end, at most `size` bytes
  READS_BYTES,    // size * factor
  WRITES_TEXT,    // up to its end, at most `size` bytes
  WRITES_TEXT_IF, // if the result is not null
  WRITES_BYTES,   // size * factor
  WRITES_RESULT,  // as many bytes (times `factor`) as the result says
  WRITES_POINTER, // 8 bytes, if the argument is not null
  WRITES_UNKNOWN, // nobody knows what, there
  RETURNS_BLOCK,  // a new block of size * factor bytes, written by nobody
  RETURNS_ZEROS,  // the same, written by the call
  RETURNS_TEXT,   // a new text
  RETURNS_TOKEN,  // strtok: the token is read and its end written. `arg` is the
                  // text, and if null or -1, what `size` points to is
  MOVES_BLOCK,    // realloc
  FREES_BLOCK,    //
  SORTS,          // size * factor bytes are read and written, before it begins
  READS_LINE,     // getline: *arg is a text afterwards
  PRINTS,         // `arg` is a printf format, `size` the first value
  SCANS,          // `arg` is a scanf format, `size` the first place
  NEW_TEXT,       // asprintf: *arg is a text afterwards, unless it failed
} EffectKind;

typedef struct {
  EffectKind kind;
  signed char arg, size, factor;
} LibraryEffect;

enum { LIBRARY_EFFECTS = 4 };

typedef struct {
  const char *name;
  int n;
  LibraryEffect effects[LIBRARY_EFFECTS];
} LibraryCall;

// NULL: nothing is known of the function. One without effects reads only what
// is passed by value, or what the program cannot see.
const LibraryCall *library_call(const char *name);

#endif
