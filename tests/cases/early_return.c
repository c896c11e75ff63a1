// A guard that returns too early.
#include <stdio.h>
#include <string.h>

// Is `text` a hexadecimal number, with or without 0x?
static int is_hex(const char *text) {
  if (text[0] == '0' && text[1] == 'x')
    text += 2;
  if (!*text)
    return 0;
  for (; *text; text++) {
    if (*text >= '0' && *text <= '9')
      continue;
    if (*text >= 'a' && *text <= 'f')
      return 1; // BUG
    return 0; // NO
  }
  return 1;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    puts(is_hex(argv[i]) ? "yes" : "no");
  return argc < 2;
}

// run: 123 -> yes
// run: 0xff -> yes
// run: '' -> no
// run: 0x -> no
// run: 12g -> no
// run: ag -> no
// run: 0xfz -> no
// run: beef -> yes
// fails: 2
// cover: BUG 2 2
// cover: NO 0 1
// rank: ochiai --entities statement BUG within 2
