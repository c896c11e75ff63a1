#define X 1
int y = X;
