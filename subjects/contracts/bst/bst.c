// Adds a node to a binary search tree.
#include "bst.h"

#include <stddef.h>

enum { DEPTH_MAX = 64 }; // of a tree that is searched: a broken one may cycle

int bst_has(const Bst *t, int key) {
  const Node *n = t->root;
  for (int depth = 0; n && depth < DEPTH_MAX; depth++) {
    if (n->key == key)
      return 1;
    n = key < n->key ? n->left : n->right;
  }
  return 0;
}

int bst_ordered(const Node *n, long low, long high) {
  if (!n)
    return 1;
  return low < n->key && n->key < high && bst_ordered(n->left, low, n->key) &&
         bst_ordered(n->right, n->key, high);
}

int bst_linked(const Node *n, const Node *parent) {
  if (!n)
    return 1;
  return n->parent == parent && bst_linked(n->left, n) &&
         bst_linked(n->right, n);
}

int bst_count(const Node *n) {
  return n ? 1 + bst_count(n->left) + bst_count(n->right) : 0;
}

// Order first: an ordered tree has no cycle.
int bst_ok(const Bst *t) {
  return bst_ordered(t->root, -3000000000, 3000000000) &&
         bst_linked(t->root, NULL) && bst_count(t->root) == t->size;
}

int bst_add(Bst *t, Node *node) {
  Node *parent = NULL;
  Node *at = t->root;
  int less = 0;
  while (at != NULL) {
    if (at->key == node->key)
      return 0;
    parent = at;
    less = node->key < at->key;
    if (less)
      at = at->left;
    else
      at = at->right;
  }
  node->parent = parent;
  if (parent == NULL)
    t->root = node;
  else if (less)
    parent->left = node;
  else
    parent->right = node;
  t->size = t->size + 1;
  return 1;
}
