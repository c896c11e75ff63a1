// strtok and strsep end tokens with a NUL; strtok goes on where it was.
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  char line[] = "one two"; // in
  char other[] = "a,b";
  char *rest = other;
  char *first = strtok(line, " ");  // in
  char *second = strtok(NULL, " "); // in
  const char *letter = strsep(&rest, ",");
  printf("%s|%s|%s|%s\n", first, letter, rest, second); // in
  return argc > 5 && !argv;
}
// expect: one|a|b|three\n
// at: 9 printf
