// A binary search tree with links to parents.
#ifndef BST_H
#define BST_H

typedef struct Node {
  struct Node *left, *right, *parent;
  int key;
} Node;

typedef struct {
  Node *root;
  int size;
} Bst;

int bst_has(const Bst *t, int key);
int bst_ordered(const Node *n, long low, long high);
int bst_linked(const Node *n, const Node *parent);
int bst_count(const Node *n);
int bst_ok(const Bst *t);

#include "contract.h"

#endif
