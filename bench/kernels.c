// Small kernels that load memory in different ways, to measure the cost of
// recording a trace (bench/run).
//
//   kernels NAME ROUNDS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, WORDS = 1 << 16, BYTES = 1 << 20, NODES = 100000 };

static unsigned next_random(unsigned *state) {
  return (*state = *state * 1103515245 + 12345) >> 8;
}

// --- arrays -----------------------------------------------------------------

static double a[N][N], b[N][N], c[N][N];

static void fill(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = i + j, b[i][j] = i - j;
}

// One matrix by rows, the other by columns.
static double product(int rounds) {
  fill();
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double sum = r;
        for (int k = 0; k < N; k++)
          sum += a[i][k] * b[k][j];
        c[i][j] = sum;
      }
  return c[1][2];
}

// Both by rows: as compilers like it.
static double product_by_rows(int rounds) {
  fill();
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < N; i++)
      for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++)
          c[i][j] += a[i][k] * b[k][j];
  return c[1][2];
}

static double stencil(int rounds) {
  static double cells[2][WORDS];
  for (int i = 0; i < WORDS; i++)
    cells[0][i] = i & 7;
  for (int r = 0; r < rounds; r++) {
    double *from = cells[r & 1], *to = cells[~r & 1];
    for (int i = 1; i + 1 < WORDS; i++)
      to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
  }
  return cells[0][WORDS / 2];
}

static double sum(int rounds) {
  int *numbers = malloc(WORDS * sizeof *numbers), total = 0;
  for (int i = 0; i < WORDS; i++)
    numbers[i] = i * 7;
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < WORDS; i++)
      total += numbers[i] ^ r;
  return total;
}

// --- bytes ------------------------------------------------------------------

static unsigned char *random_text(void) {
  unsigned char *text = malloc(BYTES);
  unsigned state = 1;
  for (int i = 0; i < BYTES; i++)
    text[i] = (unsigned char)(next_random(&state) >> 8);
  return text;
}

static double words(int rounds) {
  unsigned char *text = random_text();
  long n = 0;
  for (int r = 0; r < rounds; r++)
    for (int i = 0, in = 0; i < BYTES; i++) {
      if (text[i] <= ' ')
        in = 0;
      else if (!in)
        in = 1, n++;
    }
  return (double)n;
}

// Up to a byte that is looked for: nobody knows how far that is.
static double tokens(int rounds) {
  unsigned char *text = random_text();
  long n = 0;
  text[BYTES - 1] = ' ';
  for (int r = 0; r < rounds; r++)
    for (unsigned char *p = text, *end = text + BYTES - 1; p < end; p++) {
      while (*p > ' ')
        p++;
      n++;
    }
  return (double)n;
}

// --- pointers ---------------------------------------------------------------

typedef struct Node {
  struct Node *next;
  long value;
} Node;

static double list(int rounds) {
  Node *nodes = malloc(NODES * sizeof *nodes), *first = NULL;
  unsigned state = 1;
  long total = 0;
  for (int i = 0; i < NODES; i++)
    nodes[i] = (Node){NULL, i};
  for (int i = NODES - 1; i > 0; i--) {
    int j = (int)(next_random(&state) % (unsigned)(i + 1));
    long v = nodes[i].value;
    nodes[i].value = nodes[j].value;
    nodes[j].value = v;
  }
  for (int i = 0; i < NODES; i++) {
    Node *n = &nodes[nodes[i].value];
    n->next = first;
    first = n;
  }
  for (int r = 0; r < rounds; r++)
    for (const Node *n = first; n; n = n->next)
      total += n->value ^ r;
  return (double)total;
}

static double table(int rounds) {
  static struct { unsigned long key, count; } slots[WORDS];
  unsigned long x = 88172645463325252ul, hits = 0;
  for (int r = 0; r < rounds * WORDS; r++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    unsigned long key = x % 40000 + 1;
    unsigned i = (unsigned)(key * 0x9e3779b97f4a7c15ul >> 48);
    while (slots[i].key && slots[i].key != key)
      i = (i + 1) % WORDS;
    hits += slots[i].key == key;
    slots[i].key = key;
    slots[i].count++;
  }
  return (double)hits;
}

// --- calls ------------------------------------------------------------------

static void sort_range(int *v, int low, int high) {
  while (low < high) {
    int pivot = v[(low + high) / 2], i = low, j = high;
    while (i <= j) {
      while (v[i] < pivot)
        i++;
      while (v[j] > pivot)
        j--;
      if (i <= j) {
        int t = v[i];
        v[i++] = v[j];
        v[j--] = t;
      }
    }
    sort_range(v, low, j);
    low = i;
  }
}

static double sort(int rounds) {
  int *v = malloc(WORDS * sizeof *v), total = 0;
  unsigned state = 1;
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < WORDS; i++)
      v[i] = (int)next_random(&state);
    sort_range(v, 0, WORDS - 1);
    total ^= v[WORDS / 2];
  }
  return total;
}

static long fibonacci(long n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static double recursion(int rounds) {
  long total = 0;
  for (int r = 0; r < rounds; r++)
    total += fibonacci(28 + (r & 1));
  return (double)total;
}

typedef struct Tree {
  struct Tree *left, *right;
  int value;
} Tree;

static Tree *grow(int depth) {
  Tree *t = malloc(sizeof *t);
  *t = (Tree){depth ? grow(depth - 1) : NULL, depth ? grow(depth - 1) : NULL,
              depth};
  return t;
}

static long add_up(const Tree *t) {
  return t ? t->value + add_up(t->left) + add_up(t->right) : 0;
}

static double tree(int rounds) {
  Tree *t = grow(14);
  long total = 0;
  for (int r = 0; r < rounds; r++) {
    t->value = r;
    total += add_up(t);
  }
  return (double)total;
}

// --- the table --------------------------------------------------------------

static const struct {
  const char *name;
  double (*run)(int rounds);
} kernels[] = {
    {"product", product}, {"product_by_rows", product_by_rows},
    {"stencil", stencil}, {"sum", sum},
    {"words", words},     {"tokens", tokens},
    {"list", list},       {"table", table},
    {"sort", sort},       {"recursion", recursion},
    {"tree", tree},
};

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels && argc > 2; i++)
    if (!strcmp(kernels[i].name, argv[1])) {
      printf("%g\n", kernels[i].run(atoi(argv[2])));
      return 0;
    }
  fprintf(stderr, "usage: kernels NAME ROUNDS\n");
  return 2;
}
