// Roman numerals from 1 to 3999.
char *roman(int n, char out[16]);
