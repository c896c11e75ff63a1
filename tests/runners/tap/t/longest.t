#!/bin/sh
echo 1..1
if [ "$(echo a bcd e | ./words -l)" = 3 ]; then
  echo "ok 1 - bcd"
else
  echo "not ok 1 - bcd"
fi
