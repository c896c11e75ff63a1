// setjmp and longjmp, over several frames.
#include <setjmp.h>
#include <stdio.h>
static jmp_buf out;
static void deep(int n, int c) {
  if (n == 0)
    longjmp(out, c == 'd' ? 5 : 6); // jump
  deep(n - 1, c);
}
int main(void) {
  int c = getchar();
  int code = setjmp(out);
  if (code == 0)
    deep(4, c);
  if (getchar() == 'e') // behind
    return code;
  return 0;
}
// stdin: de
// stop: end
// path: LINE(behind) branch stdin[1] == 'e'
