// The outcome of a relation as a clause, in the words of the source.
#ifndef CULPRIT_CLOSE_RELATION_TEXT_H
#define CULPRIT_CLOSE_RELATION_TEXT_H

#include "close/relations.h"

// What a site is about, as the source writes it, in the plan's arena; a text is
// NULL if that is not known.
typedef struct {
  const char *left, *right;
  uint32_t col_lo, col_hi; // of all of it; 0: not known, or not on one line
} RelationWords;

RelationWords relation_words(CloseUnit *u, const RelationSite *site);

// "`a` equals `b`", in the plan's arena.
const char *relation_clause(CloseUnit *u, const RelationSite *site,
                            const RelationWords *words,
                            RelationOutcome outcome);

// What a store assigns to, as the source writes it; NULL: not known.
const char *stored_text(CloseUnit *u, LLVMValueRef store);

#endif
