#!/bin/sh
echo 1..2
[ "$(printf '' | ./words)" = 0 ] && echo "ok 1 - empty" || echo "not ok 1 - empty"
[ "$(echo a-b | ./words)" = 2 ] && echo "ok 2 - a-b" || echo "not ok 2 - a-b # TODO hyphens"
