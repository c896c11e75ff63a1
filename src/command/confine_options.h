// --allow-write and --allow-connect: what confined runs may do besides, for
// every command that confines runs.
#ifndef CULPRIT_COMMAND_CONFINE_OPTIONS_H
#define CULPRIT_COMMAND_CONFINE_OPTIONS_H

#include <stdint.h>

#include "command/options.h"
#include "confine/confine.h"
#include "util/arena.h"
#include "util/array.h"

typedef struct {
  ConfinePlan plan; // complete after confine_options_end
  Texts writable;
  ARRAY(uint16_t) ports;
} ConfineOptions;

extern const Option confine_options[]; // of a ConfineOptions
// All options were taken.
void confine_options_end(ConfineOptions *o, Arena *arena);
void confine_options_release(ConfineOptions *o);

// Says, on standard error, what is not confined here, and what the runs tried
// and were refused, if anything.
void confine_explain(Confine *const *list, size_t n);

#endif
