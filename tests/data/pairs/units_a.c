// Two units: globals, arguments, results and memory of one in the other.
extern int shared;
int half(int *p, int n);
int main(void) {
  int cell = 8;                   // [cell]
  shared = 3;                     // [shared]
  int h = half(&cell, 2);         // [call] <- ret
  return h + cell == 0;           // <- call cut
}
