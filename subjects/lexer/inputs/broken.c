int f( {
  char *s = "oops;
  x = 09 + 1e;
  return s[0];
)
