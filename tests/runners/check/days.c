#include "days.h"

int is_leap(int year) {
  if (year % 400 == 0)
    return 1;
  if (year % 100 == 0)
    return 1; // BUG
  return year % 4 == 0;
}

int days_in(int month, int year) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12)
    __builtin_trap();
  return days[month - 1] + (month == 2 && is_leap(year));
}
