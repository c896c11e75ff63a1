// Loops over arrays are not recorded load by load: what they read is shown to
// the stream once, and stored to by the replay. On the heap and on the stack,
// forwards, backwards and by columns, with what code outside writes in between.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 64 };
typedef struct {
  int rows, columns;
  double *cells;
} Matrix;
static double dot(const Matrix *m, int column, const double *v) {
  double sum = 0;
  for (int i = 0; i < m->rows; i++)
    sum += m->cells[i * m->columns + column] * v[i];
  return sum;
}
static int backwards(const unsigned char *s, size_t n) {
  int h = 0;
  for (const unsigned char *p = s + n - 1; p != s - 1; p--)
    h ^= *p;
  return h;
}
int main(void) {
  unsigned char text[4 * N];
  unsigned long sum = 0;
  Matrix m = {N, N, malloc(sizeof(double) * N * N)};
  double v[N], total = 0;
  memset(text, 'x', sizeof text);
  for (int i = 0; i < N * N; i++)
    m.cells[i] = i % 7;
  for (int i = 0; i < N; i++)
    v[i] = i;
  for (int round = 0; round < 9; round++) {
    for (int j = 0; j < N; j++)
      total += dot(&m, j, v);
    for (int i = 0; i < N; i++)
      v[i] = v[i] + 1; // stored and loaded again
    for (unsigned i = 0; i < sizeof text; i += 2)
      sum += text[i];
    if (round == 4 && fread(text, 1, 9, stdin) != 9) // written outside
      return 1;
    memmove(m.cells, v, sizeof v);
  }
  if (total < 30000 || backwards(text, sizeof text) == 7) // values
    return 2;
  if (sum == 4 * 'q' + 54321) // read
    return 3;
  for (int i = 0; i < N; i++)
    if (text[i] == '!' && i > 7) // each
      return 4;
  return 0;
}
// stdin: 123456789
// stop: end
// path: LINE(each) branch stdin[8] != '!'
// lost: nothing
