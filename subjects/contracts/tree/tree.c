// Adds a child, or the children of a nil node, to a tree.
#include "tree.h"

#include <stddef.h>

enum { CHILDREN_MAX = 300 }; // of a node that is looked at

int tree_links_ok(const Tree *t) {
  int n = 0;
  for (const Tree *c = t->first; c && n < CHILDREN_MAX; c = c->next, n++)
    if (c->parent != t)
      return 0;
  return 1;
}

int tree_indexes_ok(const Tree *t) {
  int n = 0;
  for (const Tree *c = t->first; c && n < CHILDREN_MAX; c = c->next, n++)
    if (c->index != n)
      return 0;
  return 1;
}

int tree_count_ok(const Tree *t) {
  int n = 0;
  const Tree *last = NULL;
  for (const Tree *c = t->first; c && n < CHILDREN_MAX; c = c->next, n++)
    last = c;
  return n == t->count && last == t->last;
}

int tree_ok(const Tree *t) {
  return tree_count_ok(t) && tree_links_ok(t) && tree_indexes_ok(t);
}

static void append(Tree *t, Tree *child) {
  if (t->last == NULL)
    t->first = child;
  else
    t->last->next = child;
  t->last = child;
  t->count = t->count + 1;
}

void tree_add_child(Tree *t, Tree *child) {
  if (child == NULL)
    return;
  if (child->nil) {
    Tree *c = child->first;
    int n = child->count;
    for (int i = 0; i < n; i++) {
      Tree *next = c->next;
      c->next = NULL;
      append(t, c);
      c->parent = t;
      c->index = t->count - 1;
      c = next;
    }
  } else {
    append(t, child);
    child->parent = t;
    child->index = t->count - 1;
  }
}
