// The run crashes: what the address depends on. What was in the buffer of
// standard output is lost.
#include <stdio.h>

typedef struct Node {
  int value;
  struct Node *next;
} Node;

int main(int argc, char **argv) {
  Node last = {3, NULL};   // in
  Node first = {1, &last}; // in
  int sum = 0;
  const Node *n = &first;              // in
  for (int i = 0; i < argc + 2; i++) { // in
    sum += n->value;                   // in
    printf("%d\n", sum);
    n = n->next; // in
  }
  return !argv;
}
// expect: 1\n4\n
// at: 0 -
