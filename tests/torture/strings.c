// The string functions, each on bytes from the input.
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  char line[64], copy[64], more[128];
  if (argc < 2 || !fgets(line, sizeof line, stdin))
    return 1;
  strcpy(copy, line);
  strncpy(more, line, sizeof more);
  strcat(more, "!");
  if (strcmp(argv[1], "help") == 0) // strcmp
    return 2;
  if (strncmp(copy, "abc", 3) == 0) // strncmp
    return 3;
  if (memcmp(more, "abd", 3) == 0) // memcmp
    return 4;
  if (strchr("xyz", copy[0])) // strchr
    return 5;
  if (strstr(copy, "cd") != NULL) // strstr
    puts("found");
  if (strlen(copy) == 5) // strlen
    puts("five");
  char *dup = strdup(more);
  memmove(dup + 1, dup, 3);
  if (dup[1] == 'q') // moved
    return 6;
  if (strcspn(copy, ";\n") > 2) // span
    return 7;
  return 0;
}
// args: hex
// stdin: abe;\n
// stop: end
// path: LINE(strcmp) branch !(argv[1][4] == '\0' &&
// path: LINE(strncmp) branch
// path: LINE(memcmp) branch
// path: LINE(strchr) branch stdin[0] not in {'\0', 'x'..'z'}
// lost: nothing
