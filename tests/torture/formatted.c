// sprintf: what it copies, and the digits of what it converts, are followed.
#include <stdio.h>
int main(void) {
  char word[16], out[64];
  if (!fgets(word, sizeof word, stdin))
    return 1;
  snprintf(out, sizeof out, "<%s%c>", word, word[0]);
  if (out[2] == 'q') // copied
    return 2;
  sprintf(out, "%d", word[0] - 'a'); // converted
  if (out[0] == '7') // text
    return 3;
  printf("%s", word);
  return 0;
}
// stdin: abc\n
// stop: end
// path: LINE(copied) branch stdin[1] != 'q'
// path: LINE(converted) libc
// path: LINE(text) branch
// lost: nothing
