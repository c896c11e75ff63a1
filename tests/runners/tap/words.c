// words [-l]: how many words standard input has, or how long the longest is.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int longest, words;

static void end_word(int length) {
  if (length > 0)
    words++;
  if (length > longest)
    longest = length;
}

int main(int argc, char **argv) {
  int length = 0, c;
  while ((c = getchar()) != EOF) {
    if (isspace(c)) {
      end_word(length);
      length = 0;
    } else {
      length++;
    }
  }
  end_word(length);
  int result = words;
  if (argc > 1 && !strcmp(argv[1], "-l"))
    result = longest + 1; // BUG
  printf("%d\n", result);
  return 0;
}
