#!/bin/sh
echo 1..2
[ "$(echo a b c | ./words)" = 3 ] && echo "ok 1 - three" || echo "not ok 1 - three"
[ "$(echo | ./words)" = 0 ] && echo "ok 2 - none" || echo "not ok 2 - none"
