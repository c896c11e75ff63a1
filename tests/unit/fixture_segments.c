// The test program whose records test_segments.c reads. Line numbers are named
// there: keep them.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf out;
static int calls;

static void common(void) { calls++; }

static void test_one(void) {
  calls += 1; // 14
}

static void test_two(void) {
  calls += 2; // 18
  common();
}

static void test_leaves(void) {
  calls += 3; // 23
  longjmp(out, 1);
}

static void test_exits(void) {
  calls += 4; // 28
  exit(3);
}

static void test_suite_a(void) {
  test_one();
  test_two();
}

static void test_suite_b(void) {
  test_two();
  test_one();
}

static void jump(void) {
  if (!setjmp(out))
    test_leaves();
  test_one();
  if (!setjmp(out))
    test_leaves();
  test_two();
}

static void five(void) {
  calls += 5; // 52
}

static void six(void) {
  calls += 6; // 56
}

static void seven(void) {
  calls += 7; // 60
}

static void lines(void) {
  five();
  printf("ok 1 - five\n");
  six();
  printf("not ok %d - six\n", 2);
  seven();
  printf("ok %d - seven # SKIP\n", 3);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  calls = 8; // 74
  if (!strcmp(what, "nested")) {
    test_suite_a();
    test_suite_b();
  } else if (!strcmp(what, "jump")) {
    jump();
  } else if (!strcmp(what, "lines")) {
    lines();
  } else {
    test_one();
    test_two();
    test_exits();
  }
  return calls == 0;
}
