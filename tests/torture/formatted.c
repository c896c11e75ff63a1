// sprintf: what it copies is followed, what it converts is made concrete.
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
// path: LINE(converted) libc stdin[0] == 'a'
// not: :LINE(text)
// lost: sprintf, once
