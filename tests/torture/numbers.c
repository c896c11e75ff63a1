// Numbers read from text.
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  char line[64], *end;
  if (argc < 2 || !fgets(line, sizeof line, stdin))
    return 1;
  if (atoi(argv[1]) == 43) // atoi
    return 2;
  long n = strtol(line, &end, 10);
  if (n == 17 && *end == ';') // strtol
    return 3;
  if (strtoul("7f", NULL, 16) == 127) // constant
    puts("hex");
  return 0;
}
// args: 42
// stdin: -17;\n
// stop: end
// path: LINE(atoi) branch
// path: LINE(strtol) branch
// not: :LINE(constant)
// lost: nothing
