// Linked to a program whose main is called covered_main: makes the file that
// $RETURNED names when main returns, so only if no call was left by exit.
#undef main
#include <stdio.h>
#include <stdlib.h>

int covered_main(int argc, char **argv);

int main(int argc, char **argv) {
  int status = covered_main(argc, argv);
  FILE *f = fopen(getenv("RETURNED"), "w");
  if (f)
    fclose(f);
  return status;
}
