test "$(echo 1, 2. | ./rot 5)" = "1, 2."
