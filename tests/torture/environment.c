// An environment variable as input.
#include <stdlib.h>
#include <string.h>
int main(void) {
  const char *v = getenv("INPUT_VARIABLE");
  if (v && v[1] == 'q') // byte
    return 1;
  return v && strlen(v) > 7; // length
}
// stop: end
// path: LINE(byte) branch env:INPUT_VARIABLE[1] != 'q'
// path: LINE(length) libc env:INPUT_VARIABLE[5] == '\0'
// lost: nothing
