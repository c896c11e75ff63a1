// getc, ungetc, fgets, fread, read, getline: one after the other.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  char line[8], *long_line = NULL, block[4];
  size_t room = 0;
  int c = getc(stdin);
  ungetc(c, stdin);
  if (fgetc(stdin) != 'a') // again
    return 1;
  if (!fgets(line, sizeof line, stdin) || line[0] == 'x') // fgets
    return 2;
  if (getline(&long_line, &room, stdin) < 0 || long_line[1] == 'x') // getline
    return 3;
  if (fread(block, 1, 3, stdin) != 3 || block[2] == 'x') // fread
    return 4;
  if (getchar() != EOF) // eof
    return 5;
  free(long_line);
  return 0;
}
// stdin: ab\ncd\nefg
// stop: end
// path: LINE(again) branch stdin[0] == 'a'
// path: LINE(fgets) branch stdin[1] != 'x'
// path: LINE(getline) branch stdin[4] != 'x'
// path: LINE(fread) branch stdin[8] != 'x'
// path: LINE(eof) eof stdin.size <= 9
// lost: nothing
