<?php
// Expected after //<: the lines that wrote what the line uses.
function inc(&$n) {
  $n = $n + 1; //< 8 15 24
  return $n; //< 4
}

$a = 1;
inc($a);
echo $a; //< 4
$b = &$a;
$b = 5;
echo $a, $b; //< 12
unset($b);
$b = 7;
echo $a, $b; //< 12 15
inc($b);
echo $b; //< 4
$list = [1, 2, 3];
foreach ($list as &$v) { //< 19
  $v = $v * 2;
}
unset($v);
$w = 1;
inc($w);
echo $list[0], $list[2]; //< 19 21
$copy = $list; //< 19
$copy[1] = 9;
echo $list[1], $copy[1], $copy[2]; //< 19 21 27 28
$e = ['k' => 1];
$r = &$e['k'];
$r = 2;
echo $e['k']; //< 30 32
unset($r);
$f = $e; //< 30
$f['z'] = 0;
echo $f['k']; //< 32 35
$swap = [&$a, &$b];
$swap[0] = 3;
echo $a; //< 39
function &pick(array &$from) {
  return $from['k'];
}
$p = &pick($e); //< 42
$p = 11;
echo $e['k']; //< 30 45
preg_match('/x(y)/', 'xy', $m);
echo $m[1]; //< 47
sort($list); //< 19 21
echo $list[0]; //< 49 21
end($list); //< 49 21
echo $list[1]; //< 49 21
