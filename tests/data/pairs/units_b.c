int shared;
int half(int *p, int n) {
  int old = *p;                   // [old] <- call cell
  *p = old / n;                   // [cut] <- call old
  return shared + *p;             // [ret] <- call shared cut
}
