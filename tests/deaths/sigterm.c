// A signal that ends the program by default but is no crash.
#include <signal.h>
#include <stdio.h>

static void end(int really) {
  if (really)
    raise(SIGTERM); // BEFORE
}

int main(int argc, char **argv) {
  (void)argv;
  puts("working"); // BEFORE
  end(argc > 1);   // BEFORE
  puts("done");    // AFTER
  return 0;
}

// kind: signal
