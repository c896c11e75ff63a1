// tokenizer TEXT: cuts TEXT into tokens; "\n" in it stands for a new line.
#include <stdio.h>
#include <string.h>

#include "tokenizer.h"

enum { MAX = 256 };

int main(int argc, char **argv) {
  static char text[4096];
  static Token tokens[MAX];
  const char *from = argc > 1 ? argv[1] : "int x = 10;";
  size_t n = 0;
  while (*from && n + 1 < sizeof text) {
    if (from[0] == '\\' && from[1] == 'n') {
      text[n++] = '\n';
      from += 2;
    } else {
      text[n++] = *from++;
    }
  }
  int count = tokenize(text, tokens, MAX);
  for (int i = 0; i < count; i++)
    printf("%d:%d %.*s\n", tokens[i].line, tokens[i].kind, tokens[i].length,
           text + tokens[i].start);
  return 0;
}
