// A tree whose nodes know their parent, their place among its children, and
// their children as a list. A nil node is no node of its own, but stands for
// the list of its children (as in the trees of ANTLR).
#ifndef TREE_H
#define TREE_H

typedef struct Tree {
  struct Tree *parent;
  struct Tree *first, *last; // children
  struct Tree *next;         // sibling
  int count;                 // of children
  int index;                 // among its siblings, from 0
  int nil;
} Tree;

int tree_links_ok(const Tree *t);
int tree_indexes_ok(const Tree *t);
int tree_count_ok(const Tree *t);
int tree_ok(const Tree *t);

#include "contract.h"

#endif
