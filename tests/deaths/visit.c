// The shared library of library.c.
void visit(void (*action)(int *), int *number);

static volatile int count;

void visit(void (*action)(int *), int *number) {
  count = 1;      // BEFORE
  action(number); // BEFORE
  count = 2;      // AFTER
  if (*number > 2)
    count = 3;
}

// part
