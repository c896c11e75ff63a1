// Locals: assignments, loops, branches, conditional expressions, switch.
// A line's pairs: `// [label] <- labels of the definitions it uses`.
static int sign(int n) { // the parameter is defined by the call
  if (n < 0)     // <- neg pos
    return -1;   // [minus]
  return n > 0;  // [plus] <- pos
}

int main(void) {
  int sum = 0;                    // [sum]
  int i;
  for (i = 0;                     // [i0]
       i < 3;                     // <- i0 inc
       i++)                       // [inc] <- i0 inc
    sum += i;                     // [add] <- sum add i0 inc
  int unused = sum;               // <- add
  int x = sum > 2 ? i : 7;        // [x] <- add inc
  switch (x) {                    // <- x
  case 3:
    x = 4;                        // [x4]
    break;
  default:
    x = 5;
  }
  int y;
  if (x == 4)                     // <- x4
    y = 1;                        // [y1]
  else
    y = 2;
  int z = y;                      // [z] <- y1
  z = z + z;                      // [zz] <- z
  z++;                            // [z1] <- zz
  int a = sign(-2);               // [neg] <- minus
  int b = sign(z);                // [pos] <- z1 plus
  return a + b + (z && y) != 1;   // <- neg pos z1 y1
}
