struct point { int x; int y; };

long dist(struct point *p, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum += p[i].x * p[i].x + p->y;
  return sum;
}
