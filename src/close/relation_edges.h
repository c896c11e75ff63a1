// Where a comparison decides a branch, each side of it knows the outcome, or part
// of it: what is left to be worked out there is little or nothing.
#ifndef CULPRIT_CLOSE_RELATION_EDGES_H
#define CULPRIT_CLOSE_RELATION_EDGES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

typedef struct {
  LLVMValueRef branch;
  bool negated; // it goes to its first block if the comparison is false
} RelationBranch;

// The branch that the comparison of integers decides, alone and in its own block;
// false: there is none, or nothing can be put on its edges.
bool relation_branch(LLVMValueRef compare, RelationBranch *out);

// Puts the code that follows where the branch has gone that way, and nobody else.
void relation_stand_on(LLVMBuilderRef b, const RelationBranch *r, bool is_true);

// How the functions are named that tell outcomes apart (relations.c); calls of
// them may stand between a comparison and its branch.
#define RELATION_HELPER "__culprit_close_relation"

// The outcomes that are possible if the comparison is true, or false: a set.
enum { ORDER_LESS = 1, ORDER_EQUAL = 2, ORDER_GREATER = 4 };
unsigned relation_possible(LLVMValueRef compare, bool is_true);

#endif
