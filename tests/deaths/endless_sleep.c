// Waits for ever, with all signals but SIGKILL blocked: killed at the timeout.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void wait_for_ever(void) {
  for (;;)
    sleep(1000); // BEFORE
}

int main(int argc, char **argv) {
  (void)argv;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, 0);
  puts("working"); // BEFORE
  if (argc > 1)
    wait_for_ever(); // BEFORE
  puts("done");      // AFTER
  return 0;
}

// kind: timeout
// timeout: 4
// imprecise
