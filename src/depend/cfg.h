// The control flow of all functions of a suite, as localizers need it: blocks
// by number, the edges into and out of each, the blocks of a statement. Edges
// never leave their function, so this is one graph per function, all in one.
#ifndef CULPRIT_DEPEND_CFG_H
#define CULPRIT_DEPEND_CFG_H

#include <stddef.h>
#include <stdint.h>

#include "model/suite.h"

typedef struct {
  const Suite *suite;
  uint32_t nblocks, nedges;
  uint32_t *block;  // number -> entity
  uint32_t *number; // entity -> number; ENTITY_NONE if it is not a block
  // Edge entities: those out of block b are out[first_out[b]] up to
  // out[first_out[b + 1]], in the order of the suite; likewise those into it.
  // An edge from nowhere enters the function, one to nowhere leaves it.
  uint32_t *first_out, *out;
  uint32_t *first_in, *in;
} Cfg;

void cfg_init(Cfg *c, const Suite *suite);
void cfg_release(Cfg *c);

// Calls `each` for every statement and every block it stands in; a pair may
// come twice.
typedef void EachStanding(void *ctx, uint32_t statement, uint32_t block);
void cfg_each_standing(const Cfg *c, EachStanding *each, void *ctx);

#endif
