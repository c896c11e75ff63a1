int x;
int y;
