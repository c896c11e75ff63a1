<?php
$a = ['x' => 1, 'y' => ['z' => 2]];
echo $a['x'], $a['y']['z']; //< 2
$a['y']['z'] = 3;
echo $a['y']['z']; //< 2 4
$b = $a; //< 2
$b['y']['z'] = 4;
echo $a['y']['z'], $b['y']['z']; //< 2 4 6 7
[$p, [, $q]] = [1, [2, 3]];
echo $p + $q; //< 9
['x' => $p] = $a; //< 2
echo $p; //< 11
$n = [];
$n[] = 1;
$n[] = 2;
unset($n[0]); // the next one is at 2
$n[] = 3;
echo $n[1], $n[2]; //< 13 15 17
foreach ($n as $k => $v) { //< 13 15 17
  echo $k, $v; //< 19
}
$n = [7];
echo $n[0]; //< 22
function fresh($i) {
  $t = [];
  $t['k'] = $i; //< 31
  return $t; //< 25
}
$sum = 0;
for ($i = 0; $i < 5; $i++) { //< 30
  $one = fresh($i); //< 30 27
  $sum += $one['k']; //< 29 34 31 26
  $two = ['k' => 2];
  $sum += $two['k']; //< 32 33
}
$s = 'abc';
$s[1] = 'X';
echo $s; //< 37
$o = new ArrayObject;
$o['a'] = 1;
echo $o['a']; //< 39
$c = $n['missing'] ?? 5; //< 22
echo $c; //< 42
$d['new'][] = $c; //< 42
echo count($d), $d['new'][0]; //< 44
echo implode(',', $n), json_encode($d); //< 22 44
$n[] = 1;
$n = array_reverse($n); //< 22 47
echo $n[0]; //< 48
$w = $n[0] <=> 1; //< 48
$t = match (true) { //< 50
  $w == 0 => 'zero',
  default => 'other',
};
echo $t; //< 51
$u = [1, 2, 3];
$u[1]++;
--$u[1]; //< 57
$u[2] .= 'x';
echo $u[1], $u[2]; //< 56 58 59
