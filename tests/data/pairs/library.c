// The C library: what it reads and writes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char a[32], b[32];
  strcpy(a, "12 and");            // [copy]
  strcat(a, " 34");               // [cat] <- copy
  size_t n = strlen(a);           // [n] <- cat
  a[0] = '7';                     // [a0]
  strncpy(b, a, 3);               // [ncpy] <- a0 cat
  b[3] = 0;                       // [b3]
  char *end;
  long v = strtol(b, &end, 10);   // [v] <- ncpy b3
  int rest = *end == ' ';         // [rest] <- v ncpy
  int x = 0, y = 0;               // [xy]
  int got = sscanf(a, "%d and %d", // [scan] <- a0 cat
                   &x, &y);
  int sum = x + y + got;          // [sum] <- scan
  sprintf(b, "%d %s", sum, a);    // [print] <- sum a0 cat
  char *d = strdup(b);            // [dup] <- print
  int c = d[0];                   // [c] <- dup
  char *p = realloc(d, 1000);     // [p] <- dup
  c += p[1];                      // [c2] <- c p dup
  p[1] = 'z';                     // [p1] <- p
  c += memcmp(p, b, 3) != 0;      // [c3] <- c2 p dup p1 print
  FILE *f = tmpfile();            // [f]
  if (!f)                         // <- f
    return 2;
  fputs(p, f);                    // <- p dup p1 f
  rewind(f);                      // <- f
  char line[64];
  if (!fgets(line, 64, f))        // [gets] <- f
    return 3;
  rewind(f);                      // <- f
  char raw[4];
  if (fread(raw, 1, 4, f) != 4)   // [read] <- f
    return 4;
  c += line[2] + raw[2];          // [c4] <- c3 gets read
  char *word = strtok(line, " "); // [tok] <- gets
  c += word[0] + !word[2];        // [c5] <- c4 tok gets
  fclose(f);                      // <- f
  free(p);                        // <- p
  return c + (int)n + (int)v + rest == 0; // <- c5 n v rest
}
