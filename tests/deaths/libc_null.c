// A crash inside a function of libc.
#include <stdio.h>
#include <string.h>

static const char *volatile text = "text";
static volatile size_t first, size, second;

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    text = 0;
  first = 1;           // BEFORE
  size = strlen(text); // BEFORE
  second = size + 1;   // AFTER
  return 0;
}

// kind: signal
