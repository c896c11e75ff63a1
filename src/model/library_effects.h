// What functions of the C library read and write through their arguments: one
// table, for definition-use pairs (close/pairs_call.c) and for slices
// (look/follower_calls.c).
#ifndef CULPRIT_MODEL_LIBRARY_EFFECTS_H
#define CULPRIT_MODEL_LIBRARY_EFFECTS_H

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

// What becomes of the bytes, where that matters too.
typedef enum {
  DOES_NOTHING_ELSE,
  DOES_COPY_STRING, // from argument 1 to 0
  DOES_COPY_COUNTED,
  DOES_COPY_BYTES,
  DOES_APPEND, // a string
  DOES_APPEND_COUNTED,
  DOES_DUPLICATE,
  DOES_DUPLICATE_COUNTED,
  DOES_FILL,
  DOES_ALLOCATE, // as many bytes as argument 0 says
  DOES_ALLOCATE_ZEROED,
  DOES_REALLOCATE,
  DOES_FORMAT,    // into argument 0
  DOES_TOKENS,    // of its own state
  DOES_TOKENS_OF, // of the caller's state
  DOES_SEARCH,    // a callback of the program's reads
  DOES_RANDOM,
  DOES_JUMP,
  DOES_END,
} LibraryAction;

typedef struct {
  const char *name;
  int n;
  LibraryEffect effects[LIBRARY_EFFECTS];
  LibraryAction does;
} LibraryCall;

// NULL: nothing is known of the function. One without effects reads only what
// is passed by value, or what the program cannot see.
const LibraryCall *library_call(const char *name);

// What a call does with what one of its arguments points to, taken together.
typedef enum {
  POINTEE_UNUSED,
  POINTEE_TEXT,    // read up to its end
  POINTEE_BYTES,   // size * factor bytes are read
  POINTEE_WRITTEN, // not read
  POINTEE_UNKNOWN, // who knows
} PointeeUse;

typedef struct {
  PointeeUse use;
  signed char size, factor; // arguments; -1: none
} LibraryPointee;

// `call` NULL: of a function that nothing is known of.
LibraryPointee library_pointee(const LibraryCall *call, int arg);
// The argument that is a printf format; -1: none is.
int library_format(const LibraryCall *call);

#endif
