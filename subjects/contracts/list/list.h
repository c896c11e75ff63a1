// A singly linked list of different keys.
#ifndef LIST_H
#define LIST_H

typedef struct Node {
  struct Node *next;
  int key;
} Node;

typedef struct {
  Node *header;
  int size;
} List;

int list_has(const List *l, int key);
int list_ok(const List *l);

#include "contract.h"

#endif
