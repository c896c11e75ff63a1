void loop(void) {
	int i = 10;
	while (i-- > 0) {
		if (i % 2 == 0) continue;
		else if (i == 7) break;
		do { i -= 1; } while (i & 1);
	}
}
