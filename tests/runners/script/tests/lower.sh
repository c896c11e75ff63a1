test "$(echo hello | ./rot 13)" = uryyb
