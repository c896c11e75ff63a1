// Deletes a key from a list.
#include "list.h"

#include <stddef.h>

int list_has(const List *l, int key) {
  for (const Node *n = l->header; n; n = n->next)
    if (n->key == key)
      return 1;
  return 0;
}

// The size is the number of nodes, and the list ends.
int list_ok(const List *l) {
  int n = 0;
  for (const Node *at = l->header; at && n <= l->size; at = at->next)
    n++;
  return n == l->size;
}

int list_delete(List *l, int key) {
  Node *prev = NULL;
  Node *node = l->header;
  while (node != NULL) {
    if (node->key == key) {
      if (prev != NULL)
        prev->next = node->next;
      else
        l->header = node->next;
      l->size = l->size - 1;
      return 1;
    }
    prev = node;
    node = node->next;
  }
  return 0;
}
