# Numbers, arrays, functions. sieve.awk -v scale=N
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2)
}

BEGIN {
  for (round = 0; round < scale; round++) {
    delete composite
    for (i = 2; i < 60000; i++) {
      if (i in composite)
        continue
      primes++
      for (j = i * 2; j < 60000; j += i)
        composite[j] = 1
    }
    total += fib(20)
  }
  print primes, total
}
