test "$(echo Zoo | ./rot 1)" = App
