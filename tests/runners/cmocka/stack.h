// A stack of at most eight numbers.
typedef struct {
  int items[8], top;
} Stack;

int stack_push(Stack *s, int n); // 0: no room
int stack_pop(Stack *s);         // -1: empty
int stack_peek(const Stack *s, int below);
