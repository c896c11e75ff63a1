int primes[] = {2, 3, 5, 7, 11, 13, 0x11, 023};
float half = .5, big = 1e9;
char *s = "text";
