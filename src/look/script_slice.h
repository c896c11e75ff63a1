// What lines of output depend on: the statements that wrote the values they
// used in that request, that decided whether they were executed, and that called
// their functions; and what those depend on.
//
// Statements count as a whole: if line 5 used what line 3 wrote at any time in
// the request, it depends on line 3. A function whose value was used depends on
// the statement that used it, not on the others that called it.
#ifndef CULPRIT_LOOK_SCRIPT_SLICE_H
#define CULPRIT_LOOK_SCRIPT_SLICE_H

#include "look/script_control.h"
#include "php/record/php_record.h"
#include "util/array.h"

// A script of the record: its unit and what decides in it.
typedef struct {
  const Unit *unit; // NULL: its map cannot be read
  const ScriptControl *control;
} SliceScript;

typedef ARRAY(PhpSpot) Spots;

// Adds to `spots`, statements of the record, all that they depend on. `scripts`
// are those of the record, in its order.
void script_slice(const SliceScript *scripts, const PhpRecord *record,
                  Spots *spots);

#endif
