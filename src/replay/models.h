// What functions of the C library do to expressions: one row per function in
// the table of models.c. A model is called when the function has returned; it
// sees the arguments, the result, and memory as it was before the call (plus
// what the trace says was written), and
// - gives the result its expression,
// - moves or makes expressions in memory,
// - adds conditions to the path (what the function found out about the input).
//
// A function without a model, or one whose model gives up, is treated by what
// it was given: arguments that depend on the input are made concrete, and so
// are strings and bytes that it may have looked at; the loss is counted by
// name.
#ifndef CULPRIT_REPLAY_MODELS_H
#define CULPRIT_REPLAY_MODELS_H

#include "replay/replay_internal.h"

typedef struct {
  const char *name;
  const IrValue *args; // non-opaque scalars first to last; opaque ones are 0
  const IrArg *types;
  uint32_t nargs;
  uint64_t result;
  unsigned width; // of the result; 0: none, or opaque
  Expr expr;      // of the result, to be set
} ModelCall;

// False: give up.
typedef bool ModelFunction(Replay *r, ModelCall *c);

typedef struct {
  const char *name;
  ModelFunction *model;
} ModelRow;

// NULL: there is none.
const ModelRow *model_find(const char *name);

// Runs the model, or does without; sets c->expr.
void model_run(Replay *r, ModelCall *c);

// Memory was written by a call that is under way.
void model_written(Replay *r, uint64_t at, const uint8_t *bytes, uint64_t n);

// --- for models
// The argument, 0 if there are not so many.
IrValue model_arg(const ModelCall *c, uint32_t i);
// Makes an argument (an address, a length) concrete with a condition.
uint64_t model_fixed(Replay *r, const ModelCall *c, uint32_t i);
// Sets the result's expression, if it gives the value that was returned.
bool model_result(Replay *r, ModelCall *c, Expr e);
// A byte of memory as an expression; false: its value is not known.
bool model_byte(Replay *r, uint64_t at, uint8_t *value, Expr *e);
// The length of the string; its bytes are not NUL: a condition each. Fails if a
// byte is not known before the end.
bool model_string(Replay *r, uint64_t at, uint64_t most, uint64_t *n);

// The stream that a FILE or a descriptor stands for; one that is not known yet
// is taken for standard input.
Stream *stream_find(Replay *r, uint64_t file, bool is_fd);
// The byte to be read next, -1 at the end; adds the condition that the input
// goes on, or ends. -2: the stream is none of the input's.
int stream_peek(Replay *r, Stream *s, Expr *e);

// --- the models, by file
ModelFunction model_none, model_memcpy, model_memset, model_strlen,
    model_strcpy, model_strcat, model_compare, model_chr, model_str, model_span,
    model_dup, model_strtok, model_strsep;
ModelFunction model_ctype, model_case, model_ctype_loc, model_number, model_abs,
    model_math, model_decimal;
ModelFunction model_malloc, model_calloc, model_realloc, model_free,
    model_qsort;
ModelFunction model_open, model_close, model_read, model_getc, model_ungetc,
    model_gets, model_fread, model_getline, model_scanf, model_seek,
    model_format, model_mmap, model_readv, model_bsearch, model_unfollowed,
    model_getopt;

#endif
