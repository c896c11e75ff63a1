// ctype, as macros and as functions.
#include <ctype.h>
#include <stdio.h>
int main(void) {
  int c = getchar(), d = getchar();
  if (isdigit(c)) // macro
    return 1;
  if ((isupper)(d)) // function
    return 2;
  if (toupper(c) == 'Q') // upper
    return 3;
  return (tolower)(d) == 'w'; // lower
}
// stdin: de
// stop: end
// path: LINE(macro) branch
// path: LINE(function) branch
// path: LINE(upper) branch
// not: address
// lost: nothing
