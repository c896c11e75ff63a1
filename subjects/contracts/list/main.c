// list SIZE PLACE: makes a list of SIZE nodes, deletes the key at PLACE (from 0;
// beyond the end: a key that is not there).
#include <stdio.h>
#include <stdlib.h>

#include "list.h"

enum { MAX = 256 };

int main(int argc, char **argv) {
  static Node nodes[MAX];
  int size = argc > 1 ? atoi(argv[1]) : 3;
  int place = argc > 2 ? atoi(argv[2]) : 1;
  if (size < 0 || size > MAX)
    return 2;
  for (int i = 0; i < size; i++) {
    nodes[i].key = (i * 7 + 3) % 1009;
    nodes[i].next = i + 1 < size ? &nodes[i + 1] : NULL;
  }
  List list = {size ? nodes : NULL, size};
  int found = list_delete(&list, (place * 7 + 3) % 1009);
  printf("%d, %d left\n", found, list.size);
  return 0;
}
