// longjmp brings a value back; structs are passed by value.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

typedef struct {
  long a, b, c;
} Three;

static void leave(Three t) {
  if (t.b > 2)               // in
    longjmp(back, (int)t.c); // in
}

int main(int argc, char **argv) {
  Three t = {1, 2, 3};
  t.a = argc;
  t.b = 5;                   // in
  t.c = 6;                   // in
  int code = setjmp(back);   // in
  if (!code)                 // in
    leave(t);                // in
  printf("code %d\n", code); // in
  return !argv;
}
// expect: code 7\n
// at: 5 printf
