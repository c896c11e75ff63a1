// Bytes through strings, buffers and the functions that copy them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  char *copy = malloc(32); // in
  char line[64];
  int number = 40; // in
  number += 2;     // in
  int other = 7;
  strcpy(copy, "v=");                    // in
  sprintf(line, "%d", number);           // in
  strcat(copy, line);                    // in
  memmove(line, copy, strlen(copy) + 1); // in
  other--;
  fputs(line, stdout); // in
  printf(" %d\n", other);
  free(copy);
  return argc > 3 && !argv;
}
// expect: v=41 6\n
// at: 3 fputs
