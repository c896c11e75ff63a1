// --allow-write and --allow-connect: what runs that nobody has seen may do
// besides, for every command that has such runs.
#ifndef CULPRIT_CLI_CONFINE_OPTIONS_H
#define CULPRIT_CLI_CONFINE_OPTIONS_H

#include <stdint.h>

#include "confine/confine.h"
#include "util/arena.h"
#include "util/array.h"

typedef struct {
  ConfinePlan plan; // complete after confine_options_end
  ARRAY(const char *) writable;
  ARRAY(uint16_t) ports;
} ConfineOptions;

// -1: not a directory; not a port.
int confine_take_write(ConfineOptions *o, Arena *arena, const char *dir);
int confine_take_connect(ConfineOptions *o, const char *port);
// All options were taken.
void confine_options_end(ConfineOptions *o);
void confine_options_release(ConfineOptions *o);

// Says, on standard error, what is not confined here, and what the first run was
// kept from doing, if anything.
void confine_explain(Confine *const *list, size_t n);

// Their lines of --help.
#define CONFINE_HELP                                                           \
  "  --allow-write DIR  runs may really change what is in DIR; may be\n"       \
  "                     repeated\n"                                            \
  "  --allow-connect PORT  runs may connect to this TCP port; may be\n"        \
  "                     repeated\n"

#endif
