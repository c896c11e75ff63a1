<?php
function area($w, $h = 2, ...$more) {
  $sum = $w * $h; //< 9 10 12
  foreach ($more as $m) //< 10
    $sum += $m; //< 3 4 5
  return $sum; //< 3 5
}

$x = area(3); //< 6
$y = area($x, 4, 5, 6); //< 9 6
$args = [1, 2];
$z = area(...$args); //< 11 6
echo $x, $y, $z; //< 9 10 12

function gen($from) {
  for ($i = $from; $i < 3; $i++) { //< 16
    $got = yield $i; //< 16
    echo $got; //< 17
  }
  return 9;
}
$g = gen(1);
foreach ($g as $n) { //< 22
  echo $n; //< 23
}
echo $g->getReturn(); //< 22

$factor = 3;
$times = function ($n) use ($factor, &$total) { //< 28
  $total = $n * $factor; //< 33 35 29
  return $total; //< 30
};
$times(2); //< 29
echo $total; //< 30
$all = array_map($times, [4, 5]); //< 29
echo $all[0], $total; //< 35 30
$arrow = fn($k) => $k + $factor; //< 28 38 37
echo $arrow(1); //< 37

function kept() {
  static $n = 10;
  $n++; //< 41 42
  return $n; //< 42
}
kept();
echo kept(); //< 43
function reads() {
  global $x;
  $x = $x + 1; //< 9
  return $GLOBALS['y'] + $x; //< 10 49
}
echo reads(), $x; //< 50 49
$name = 'dyn';
$$name = 4; //< 53
echo $dyn; //< 54
extract(['dyn' => 6, 'new' => 1]);
echo $dyn, $new; //< 56
function none() {}
$v = none();
echo $v; //< 59
