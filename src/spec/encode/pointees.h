// What a pointer may point to when the statement that sets it is off or the
// state before the call is changed: objects of the same kind. The lowered code
// declares no kinds; they are learned from one run. Objects are of one kind if
// the same instruction read or wrote them, or if they lay in the same cell or
// in the same field of objects of one kind. So are objects with the same
// layout: pointers at the same two or more offsets, to the same kinds unless
// null (a node that is not linked in yet).
//
// A pointer that was seen to point to a field that holds a pointer
// (`Node **link = &node->next`) may point to every cell that holds one of that
// kind, or null, including fields whose address the run never took.
#ifndef CULPRIT_SPEC_ENCODE_POINTEES_H
#define CULPRIT_SPEC_ENCODE_POINTEES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"
#include "util/hashmap.h"

typedef struct {
  uint64_t site;   // instruction
  uint64_t cell;   // where the pointer lies: address, or a key (see below)
  uint64_t target; // 0: null
} PointerUse;

typedef struct {
  ARRAY(PointerUse) uses;
  ARRAY(uint64_t) objects; // ascending
  ARRAY(uint32_t) kind;    // of each: number of an object (union-find)
  Hashmap sites;           // site, cell, (kind, offset) -> an object
  Hashmap seen;            // uses noted
  ARRAY(uint64_t) cells;   // addresses where pointers lie, ascending
  Hashmap fields;          // addresses of fields that were computed
} Pointees;

void pointees_release(Pointees *p);

// `cell`: an address of the process, or any number above 2^63 that stands for a
// variable of the code.
void pointees_note(Pointees *p, uint64_t site, uint64_t cell, uint64_t target);
// The run computed the address of a field.
void pointees_note_field(Pointees *p, uint64_t address);
// After the run: makes the kinds.
void pointees_learn(Pointees *p);

// Null and what a pointer set at `site` in `cell` may point to; `now` is always
// among them. If nothing is known, all objects. Appended to `out`.
typedef ARRAY(uint64_t) Targets;
void pointees_of(const Pointees *p, uint64_t site, uint64_t cell, uint64_t now,
                 Targets *out);
// All cells that hold pointers of the same kind as the cell `now`, or null, and
// are not in `out` yet.
void pointees_cells(const Pointees *p, uint64_t now, Targets *out);

#endif
