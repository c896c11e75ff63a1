// A program for measuring replay: about a fifth of what it executes depends on
// its input. Reads lines "NAME AMOUNT", keeps a balance per name, and prints
// the names with their balances and a checksum.
//
//   ledger < FILE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 64, LENGTH = 12 };

typedef struct {
  char name[LENGTH];
  long balance;
  unsigned lines;
} Account;

static Account accounts[NAMES];
static unsigned used, history[256];

static int same(const char *a, const char *b) {
  for (; *a && *a == *b; a++, b++)
    ;
  return *a == *b;
}

static Account *account(const char *name) {
  for (unsigned i = 0; i < used; i++)
    if (same(accounts[i].name, name))
      return &accounts[i];
  if (used == NAMES)
    return &accounts[0];
  strcpy(accounts[used].name, name);
  return &accounts[used++];
}

static int read_name(char *name) {
  int c, n = 0;
  while ((c = getchar()) != EOF && c != ' ' && c != '\n')
    if (n < LENGTH - 1)
      name[n++] = (char)c;
  name[n] = '\0';
  return c;
}

static long read_amount(int c) {
  long amount = 0, sign = 1;
  while ((c = getchar()) != EOF && c != '\n') {
    if (c == '-')
      sign = -1;
    else if (c >= '0' && c <= '9')
      amount = amount * 10 + (c - '0');
  }
  return sign * amount;
}

// Work that does not look at the input.
static void note(unsigned line) {
  for (unsigned i = 0; i < 20; i++)
    history[(line + i * 7) % 256] += line ^ i;
}

int main(void) {
  char name[LENGTH];
  unsigned line = 0, checksum = 1;
  int c;
  while ((c = read_name(name)) != EOF) {
    long amount = c == ' ' ? read_amount(c) : 0;
    Account *a = account(name);
    a->balance += amount;
    a->lines++;
    checksum = checksum * 31 + (unsigned)amount;
    note(line++);
  }
  for (unsigned i = 0; i < used; i++)
    printf("%s %ld %u\n", accounts[i].name, accounts[i].balance,
           accounts[i].lines);
  printf("%u %u\n", checksum, history[line % 256]);
  return 0;
}
