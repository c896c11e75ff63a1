#include "stack.h"

int stack_push(Stack *s, int n) {
  if (s->top >= 8)
    return 0;
  s->items[s->top++] = n;
  return 1;
}

int stack_pop(Stack *s) {
  if (s->top == 0)
    return -1;
  return s->items[--s->top];
}

int stack_peek(const Stack *s, int below) {
  if (below >= s->top)
    return -1;
  return s->items[s->top - below]; // BUG
}
