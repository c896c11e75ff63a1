// One line that uses a place twice: it adds nothing unless the place, or the way
// to it, was changed in between.
struct box { int n; };
static struct box one, two, three, four;
static struct { struct box *in; } hold;

static void through(struct box *b) {
  for (; b->n < 3; b->n += 3)           // [mstep] <- call1 n1 mbody mstep
    b->n = 1;                           // [mbody] <- call1
}

int main(void) {
  int a = 0;                            // [a0]
  for (; a < 3; a += 3)                 // [step] <- a0 body step
    a = 1;                              // [body]
  one.n = 0;                            // [n1]
  through(&one);                        // [call1]
  two.n = 0;                            // [n2]
  three.n = 1;                          // [n3]
  struct box *q = &two;                 // [q2]
  for (; q->n < 3; q->n += 3)           // [qstep] <- q2 q3 n2 n3 qstep
    q = &three;                         // [q3]
  two.n = 0;                            // [m2]
  four.n = 1;                           // [n4]
  hold.in = &two;                       // [h2]
  for (; hold.in->n < 3; hold.in->n += 3) // [hstep] <- h2 h4 m2 n4 hstep
    hold.in = &four;                    // [h4]
  int s = a + a == 8 && a + a > 7;      // [s] <- step
  return s + s - 2;                     // <- s
}
