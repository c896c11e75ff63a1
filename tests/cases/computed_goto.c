// A threaded interpreter: labels as values (GNU C).
#include <stdio.h>

static int interpret(const char *code) {
  static void *labels[128];
  labels['+'] = &&plus;
  labels['-'] = &&minus;
  labels['*'] = &&twice;
  labels['.'] = &&end;
  int acc = 0;
  goto *labels[(int)*code++];
plus:
  acc++;
  goto *labels[(int)*code++];
minus:
  acc--;
  goto *labels[(int)*code++];
twice:
  acc += 2; // BUG
  goto *labels[(int)*code++];
end:
  return acc;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    printf("%d\n", interpret(argv[i]));
  return argc < 2;
}

// run: . -> 0
// run: ++. -> 2
// run: +-. -> 0
// run: ++*. -> 4
// run: +++*. -> 6
// run: *. -> 0
// fails: 2
// cover: BUG 2 1
// rank: ochiai --entities statement BUG within 2
