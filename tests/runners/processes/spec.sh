#!/bin/sh
# Examples, each with a process of the program.
failed=0
example() {
  want=$1
  shift
  got=$(./span "$@" 2>&1)
  [ "$got" = "$want" ] && return
  echo "span $*: expected $want, got $got"
  failed=$((failed + 1))
}
example 1 1-1
example 5 1-5
example 0 5-1
example '' x
example 1-5 1-5 1-5
example 3-5 3-5 1-5
example 3-5 1-5 3-8
example 1-4 1-5 1-4
example '' 1-5 x
example 2-3 1-5 2-3
echo "$failed of 10 examples fail"
[ $failed = 0 ]
