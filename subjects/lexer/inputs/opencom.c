int x; /* never
ends *
int y;
