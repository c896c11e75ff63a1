// tree HAS ADDS: a node with HAS children gets a nil node with ADDS children
// added; ADDS -1: one plain child, -2: nothing.
#include <stdio.h>
#include <stdlib.h>

#include "tree.h"

enum { MAX = 100 };

static Tree nodes[2 * MAX];

static void make(Tree *t, int first, int n) {
  for (int i = 0; i < n; i++) {
    Tree *c = &nodes[first + i];
    c->parent = t;
    c->index = i;
    c->next = i + 1 < n ? c + 1 : NULL;
    t->last = c;
  }
  t->first = n ? &nodes[first] : NULL;
  t->count = n;
}

int main(int argc, char **argv) {
  int has = argc > 1 ? atoi(argv[1]) : 2;
  int adds = argc > 2 ? atoi(argv[2]) : 2;
  if (has < 0 || has > MAX || adds > MAX)
    return 2;
  static Tree t, child;
  make(&t, 0, has);
  make(&child, MAX, adds > 0 ? adds : 0);
  child.nil = adds >= 0;
  tree_add_child(&t, adds == -2 ? NULL : &child);
  printf("%d children\n", t.count);
  return 0;
}
