// The control flow of one function, as needed for placing counters.
//
// LLVM's blocks are first joined into nodes: a node is a chain of blocks each
// of which is the only successor of the one before and has no other
// predecessor. A node is cut into parts: a new one starts at the first
// statement behind a call that might not return. Parts carry counters, or
// follow from others.
//
// Nodes that hold no statement and only jump on are contracted: they are not
// block entities, and an edge through them is one edge. Their counters, if any,
// count that edge.
#ifndef CULPRIT_PLAN_FLOW_H
#define CULPRIT_PLAN_FLOW_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan/leave.h"
#include "plan/place.h"
#include "util/array.h"
#include "util/graph.h"
#include "util/hashmap.h"

#define NONE UINT32_MAX

// A statement standing in a part of a node.
typedef struct {
  Place place;
  uint32_t part, node;
} Occurrence;

typedef struct {
  LLVMValueRef start; // counted in front of this instruction
  uint32_t counter;   // NONE: derived
  bool from_succs, from_preds;
  bool can_end; // something in it may trap or not return
} BlockPart;

typedef struct {
  LLVMBasicBlockRef head, tail;
  uint32_t first_part, nparts;
  NumberList succs, preds; // nodes; one entry per edge
  bool reached, header, on_path;
  bool statements;
  bool forwards;   // contracted
  uint32_t entity; // its block, once there is one
} FlowNode;

typedef struct {
  Plan *plan;
  const Leavers *leavers;
  LLVMValueRef function;
  ARRAY(LLVMBasicBlockRef) blocks;
  Hashmap block_numbers;
  NumberList *succs, *preds; // of blocks
  NumberList node_of;        // block -> node, or NONE
  ARRAY(FlowNode) nodes;
  ARRAY(BlockPart) parts;
  ARRAY(Occurrence) occurrences; // in the order of the nodes
} Flow;

// Fills everything from plan, leavers and function; takes counters and probes
// from the plan.
void flow_build(Flow *f);
void flow_release(Flow *f);

// Append the counters that stand for a part, for entering a node, for taking
// the edge between two nodes. The last is exact unless the edge could not be
// split (computed goto): then it is hit when the target is.
void flow_part_refs(const Flow *f, const FlowNode *n, const BlockPart *s,
                    NumberList *out);
void flow_entry_refs(const Flow *f, const FlowNode *n, NumberList *out);
void flow_edge_refs(const Flow *f, const FlowNode *from, const FlowNode *to,
                    NumberList *out);

// Where an edge into node `n` really leads: past contracted nodes.
uint32_t flow_landing(const Flow *f, uint32_t n);

#endif
