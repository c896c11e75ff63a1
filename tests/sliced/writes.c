// fwrite, puts, putc and write; the first wrong byte comes from an array.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  int id;
  char name[8];
} Item;

static Item items[3];

static void set(int i, const char *name) {
  items[i].id = i;
  strncpy(items[i].name, name, sizeof items[i].name); // in
}

int main(void) {
  char buffer[16];
  set(0, "zero");
  set(1, "two"); // in
  set(2, "three");
  puts(items[0].name);
  fwrite(items[1].name, 1, 3, stdout); // in
  putc('\n', stdout);
  fflush(stdout);
  memcpy(buffer, items[2].name, 5);
  if (write(1, buffer, 5) != 5)
    return 1;
  return items[1].id != 1;
}
// expect: zero\none\nthree
// at: 5 fwrite
