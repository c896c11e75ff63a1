// Tests in one program: each segment has its own pairs, whatever came before.
static int cell;

static void set(int n) {
  cell = n;                       // [set] <- a b
}

static void test_first(void) {
  cell = 1;                       // [first]
  set(cell);                      // [a] <- first
}

static void test_second(void) {
  int x = cell;                   // [x] <- set
  set(x);                         // [b] <- x
}

static void test_third(void) {
  int y = cell;                   // <- set
}

int main(void) {
  test_first();
  test_second();
  test_third();
  return cell != 1;               // <- set
}
