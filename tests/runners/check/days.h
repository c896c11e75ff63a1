// Days of months, 1 to 12.
int days_in(int month, int year);
int is_leap(int year);
