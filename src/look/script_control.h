// What decides whether a statement of a PHP script is executed: the statements
// whose conditions it is control dependent on, within its function.
//
// Every block of a script may be left by an exception; that decides nothing
// here. A block leaves its function by itself if nothing comes behind it, or if
// its condition leads to one block only.
#ifndef CULPRIT_LOOK_SCRIPT_CONTROL_H
#define CULPRIT_LOOK_SCRIPT_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"

typedef struct ScriptControl ScriptControl;

// The unit must outlive it.
ScriptControl *script_control_new(const Unit *unit);
void script_control_free(ScriptControl *c);

// The statements that decide about this one: entities of the unit.
const uint32_t *script_control_of(const ScriptControl *c, uint32_t statement,
                                  size_t *n);

#endif
