// A ring buffer that forgets one of its fields when it wraps.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 3 };
typedef struct {
  int items[SIZE];
  int head, len;
} Ring;

static void push(Ring *r, int v) {
  r->items[(r->head + r->len) % SIZE] = v;
  if (r->len < SIZE)
    r->len++;
  else
    r->len = 1; // BUG
}

static int pop(Ring *r) {
  if (!r->len)
    return -1;
  int v = r->items[r->head];
  r->head = (r->head + 1) % SIZE;
  r->len--;
  return v;
}

int main(int argc, char **argv) {
  Ring r = {0};
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "-") != 0)
      push(&r, atoi(argv[i]));
    else
      printf("%d\n", pop(&r));
  printf("%d left\n", r.len);
  return 0;
}

// run: 1 - -> 1\n0 left
// run: - -> -1\n0 left
// run: 1 2 3 -> 3 left
// run: 1 2 - 3 4 -> 1\n3 left
// run: 1 2 3 4 -> 3 left
// run: 1 2 3 4 5 -> 3 left
// fails: 2
// cover: BUG 2 0
// rank: ochiai --entities statement BUG first
