<?php
// A CPU-bound script: nested loops, arithmetic, arrays, calls, strings. It measures
// the worst-case cost of the extension.
function fib(int $n): int {
  if ($n < 2) {
    return $n;
  }
  return fib($n - 1) + fib($n - 2);
}

function sieve(int $n): int {
  $composite = array_fill(0, $n + 1, false);
  $count = 0;
  for ($i = 2; $i <= $n; $i++) {
    if ($composite[$i]) {
      continue;
    }
    $count++;
    for ($j = $i * $i; $j <= $n; $j += $i) {
      $composite[$j] = true;
    }
  }
  return $count;
}

function mandelbrot(int $size): int {
  $inside = 0;
  for ($y = 0; $y < $size; $y++) {
    for ($x = 0; $x < $size; $x++) {
      $cr = 2.0 * $x / $size - 1.5;
      $ci = 2.0 * $y / $size - 1.0;
      $zr = $zi = 0.0;
      for ($i = 0; $i < 50 && $zr * $zr + $zi * $zi < 4.0; $i++) {
        $t = $zr * $zr - $zi * $zi + $cr;
        $zi = 2.0 * $zr * $zi + $ci;
        $zr = $t;
      }
      if ($i == 50) {
        $inside++;
      }
    }
  }
  return $inside;
}

function words(int $n): int {
  $text = '';
  $seen = [];
  for ($i = 0; $i < $n; $i++) {
    $word = 'w' . ($i * 7919 % 1000);
    $text .= $word . ' ';
    if (isset($seen[$word])) {
      $seen[$word]++;
    } else {
      $seen[$word] = 1;
    }
    if (strlen($text) > 5000) {
      $text = strtoupper(substr($text, 0, 100));
    }
  }
  ksort($seen);
  $sum = 0;
  foreach ($seen as $word => $count) {
    $sum += $count * strlen($word);
  }
  return $sum;
}

class Point {
  public function __construct(private int $x, private int $y) {}
  public function add(Point $o): Point {
    return new Point($this->x + $o->x, $this->y + $o->y);
  }
  public function norm(): int {
    return abs($this->x) + abs($this->y);
  }
}

function points(int $n): int {
  $p = new Point(0, 0);
  $step = new Point(1, -2);
  $max = 0;
  for ($i = 0; $i < $n; $i++) {
    $p = $p->add($step);
    $max = max($max, $p->norm());
  }
  return $max;
}

$rounds = (int)($argv[1] ?? 1);
for ($r = 0; $r < $rounds; $r++) {
  echo fib(25), ' ', sieve(300000), ' ', mandelbrot(80), ' ', words(100000),
      ' ', points(100000), "\n";
}
