// strtok cuts its text in place.
#include <stdio.h>
#include <string.h>
int main(void) {
  char line[64];
  int n = 0;
  if (!fgets(line, sizeof line, stdin))
    return 1;
  for (char *t = strtok(line, " \n"); t; t = strtok(NULL, " \n")) {
    n++;
    if (!strcmp(t, "go")) // word
      return 2;
  }
  return n;
}
// stdin: to do\n
// stop: end
// path: LINE(word) branch
// lost: nothing
