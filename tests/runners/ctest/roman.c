#include "roman.h"

#include <string.h>

static const struct {
  int value;
  const char *text;
} digits[] = {
    {1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"},
    {50, "L"},   {40, "XL"},  {10, "X"},  {9, "IX"},   {5, "V"},   {4, "IV"},
    {1, "I"},
};

static int take(int n, int value) {
  if (value == 9)
    return n - 8; // BUG
  return n - value;
}

char *roman(int n, char out[16]) {
  out[0] = '\0';
  for (int i = 0; i < 13; i++)
    while (n >= digits[i].value) {
      strcat(out, digits[i].text);
      n = take(n, digits[i].value);
    }
  return out;
}
