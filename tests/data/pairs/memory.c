// Memory: arrays, structs, unions, pointers, globals, copies.
#include <stdlib.h>
#include <string.h>

struct point { int x, y; };
struct pair { struct point a, b; };
union word { int i; char c[4]; };

static int counter;               // its initial value has no definition
static struct point origin = {1, 2};

static void bump(int *p) {
  *p += 1;                        // [bump] <- call1 call2 zero bump
}

int main(void) {
  int a[4] = {0};                 // [a0]
  a[1] = 5;                       // [a1]
  a[2] = a[1] + a[0];             // [a2] <- a1 a0
  int k = 2;                      // [k]
  int s = a[k] + a[3];            // [s] <- k a2 a0
  struct point p = origin;        // [p]
  p.y = s;                        // [py] <- s
  int q = p.x + p.y;              // [q] <- p py
  struct point r = p;             // [r] <- p py
  union word w;
  w.i = q;                        // [wi] <- q
  w.c[1] = 0;                     // [wc]
  int u = w.c[0] + w.c[1];        // [u] <- wi wc
  int first = w.i;                // [first] <- wi
  int z = 0;                      // [zero]
  bump(&z);                       // [call1]
  bump(&z);                       // [call2]
  counter += z;                   // [count] <- bump
  counter++;                      // [again] <- count
  struct pair *h = malloc(        // [block]
      sizeof *h);
  h->a = r;                       // [ha] <- block r
  h->b = h->a;                    // [hb] <- block ha
  h->b.y = 3;                     // [hby] <- block
  struct pair *g = h;             // [g] <- block
  int t = g->b.x + g->b.y;        // [t] <- g hb hby
  int *zeros = calloc(2, 4);      // [calloc]
  t += zeros[1];                  // [t2] <- t calloc
  free(h);                        // <- block
  free(zeros);                    // <- calloc
  char text[8];
  memset(text, 'x', 7);           // [set]
  text[7] = 0;                    // [end]
  text[0] = 'y';                  // [y]
  return counter + t + u + first < // <- again t2 u first
         (text[0] == 'y') + (text[3] == 'x') + text[7]; // <- y set end
}
