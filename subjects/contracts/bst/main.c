// bst SIZE PLACE: makes a balanced tree of SIZE nodes with even keys 0, 2, ...,
// adds the key PLACE.
#include <stdio.h>
#include <stdlib.h>

#include "bst.h"

enum { MAX = 255 };

static Node nodes[MAX];

static Node *make(int low, int high, Node *parent) {
  if (low >= high)
    return NULL;
  int middle = low + (high - low) / 2;
  Node *n = &nodes[middle];
  n->key = 2 * middle;
  n->parent = parent;
  n->left = make(low, middle, n);
  n->right = make(middle + 1, high, n);
  return n;
}

int main(int argc, char **argv) {
  int size = argc > 1 ? atoi(argv[1]) : 3;
  int place = argc > 2 ? atoi(argv[2]) : 1;
  if (size < 0 || size > MAX)
    return 2;
  Bst tree = {make(0, size, NULL), size};
  Node fresh = {NULL, NULL, NULL, place};
  int added = bst_add(&tree, &fresh);
  printf("%d, size %d\n", added, tree.size);
  return 0;
}
