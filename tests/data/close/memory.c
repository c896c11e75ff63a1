// What the subjects lack, for tests/e2e/close-records: memory that is used
// again, parts of what was written, texts in buffers.
#include <alloca.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char kind;
  long value; // padding before it
  char name[10];
  struct {
    int first, second;
  } inner[2];
} Record;

typedef struct Node {
  int key;
  struct Node *left, *right;
} Node;

static Record records[3];
static int sizes[4] = {4, 3, 2, 1}, *cursor = sizes;
static Node *root;
static char buffer[32];
static __int128 huge;

// Only a part of it is written, by this call or another before.
static Record partial(int n) {
  Record r;
  r.kind = (char)n;
  if (n & 1)
    r.value = n;
  else
    r.inner[1].second = n;
  return r;
}

static int deep(int n) {
  int cells[8], sum = 0;
  if (n > 3)
    cells[n % 8] = n;
  int copy[8];
  memcpy(copy, cells, sizeof copy);
  if (n > 3)
    sum = copy[n % 8];
  return n > 0 ? sum + deep(n - 1) : sum;
}

static void again(int n) {
  int *first = malloc(4 * sizeof *first), copy[4];
  first[1] = n;
  first[2] = first[1] + 1;
  printf("%d\n", first[2]);
  free(first);
  int *second = malloc(4 * sizeof *second);
  memcpy(copy, second, sizeof copy);
  second[3] = n;
  memcpy(copy, second, sizeof copy);
  second = realloc(second, 400 * sizeof *second);
  second[50] = copy[3] + second[3];
  printf("%d\n", second[50]);
  free(second);
}

static void insert(Node **at, int key) {
  while (*at) {
    if ((*at)->key == key)
      return;
    at = key < (*at)->key ? &(*at)->left : &(*at)->right;
  }
  *at = calloc(1, sizeof **at);
  (*at)->key = key;
}

static int height(const Node *n) {
  if (!n)
    return 0;
  int l = height(n->left), r = height(n->right);
  return 1 + (l > r ? l : r);
}

static void clear(Node *n) {
  if (n) {
    clear(n->left);
    clear(n->right);
    free(n);
  }
}

static void parts(int n) {
  Record *r = &records[n & 1];
  *r = partial(n);
  records[2] = *r;
  r->inner[0] = r->inner[1];
  strncpy(r->name, "a name that is long", sizeof r->name);
  r->name[n & 7] = '\0';
  if (r->kind == records[2].kind && r->name[1])
    puts(r->name);
  long whole = (long)n * 65537;
  unsigned char *byte = (unsigned char *)&whole;
  byte[1] = 3;
  int sum = 0;
  for (size_t i = 0; i < sizeof whole; i++)
    sum += byte[i];
  short half;
  memcpy(&half, byte + 1, sizeof half);
  printf("%d %ld %d\n", sum, whole, half);
  huge = (__int128)whole << 40;
  huge -= n;
  if (huge > 5 && huge != whole)
    puts("huge");
}

static void lines(void) {
  char line[16], word[8];
  int c, n = 0;
  while (fgets(line, sizeof line, stdin)) {
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\n')
      line[--length] = '\0';
    if (sscanf(line, "%7[a-z]=%d", word, &n) == 2)
      printf("<%s> %d\n", word, n);
    else if (length == 0)
      break;
  }
  while ((c = getchar()) != EOF && c != '.')
    buffer[n++ & 31] = (char)toupper(c);
  size_t got = fread(line, 1, 4, stdin);
  printf("%zu %.*s\n", got, (int)got, line);
}

static void words(int n) {
  char text[] = "one two  three";
  char *save = NULL, *rest = buffer, *w;
  for (w = strtok(text, " "); w; w = strtok(NULL, " "))
    printf("%s,", w);
  snprintf(buffer, sizeof buffer, "%d:%d::%s", n, n + 1, text);
  while ((w = strsep(&rest, ":")))
    printf("%s;", w);
  strcpy(text, "a-b");
  for (w = strtok_r(text, "-", &save); w; w = strtok_r(NULL, "-", &save))
    printf("%c", *w);
  char *area = alloca((size_t)n + 2);
  memset(area, 'x', (size_t)n + 1);
  area[n + 1] = '\0';
  printf("\n%s %zu %d\n", area, strspn(area, "x"), strrchr(area, 'x') == area);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  bool small = n < 4, same = small == (n < 3);
  parts(n);
  parts(n + 1);
  printf("%d %d\n", deep(n), same);
  again(n);
  for (int i = 0; i < n; i++)
    insert(&root, i * 7 % 5);
  printf("%d %d\n", height(root), *cursor++);
  clear(root);
  *cursor += n;
  cursor = &sizes[n & 3];
  printf("%d %d\n", *cursor, sizes[1]--);
  lines();
  words(n);
  return 0;
}
