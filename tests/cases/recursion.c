// Recursive descent over an expression: a wrong sign in one production.
#include <ctype.h>
#include <stdio.h>

static const char *at;

static int sum(void);

static int atom(void) {
  if (*at == '(') {
    at++;
    int v = sum();
    at++;
    return v;
  }
  int v = 0;
  while (isdigit((unsigned char)*at))
    v = v * 10 + (*at++ - '0');
  return v;
}

static int product(void) {
  int v = atom();
  while (*at == '*') {
    at++;
    v *= atom();
  }
  return v;
}

static int sum(void) {
  int v = product();
  while (*at == '+' || *at == '-') {
    if (*at++ == '+')
      v += product();
    else
      v = product() - v; // BUG
  }
  return v;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    at = argv[i];
    printf("%d\n", sum());
  }
  return argc < 2;
}

// run: 1 -> 1
// run: 1+2 -> 3
// run: 2*3+4 -> 10
// run: '(1+2)*(3+4)' -> 21
// run: 8-8 -> 0
// run: 9-4 -> 5
// run: '2*(7-3)' -> 8
// run: '((((5))))' -> 5
// fails: 2
// cover: BUG 2 1
// rank: ochiai --entities statement BUG first
// rank: ochiai BUG within 3
