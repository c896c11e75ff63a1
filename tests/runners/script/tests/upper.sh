test "$(echo HELLO | ./rot 13)" = URYYB
