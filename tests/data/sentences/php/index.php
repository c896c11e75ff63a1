<?php
$x = $_GET['x'];
$y = $_GET['y'];
$r = 0;
if (!$x)
  $r = 1;
if (!!$x)
  $r = 2;
if (!($x == $y))
  $r = 3;
if ($x !== $y)
  $r = 4;
if (!($x && $y))
  $r = 5;
if (!$x || !$y)
  $r = 6;
$r += !$x ? 1 : 2;
for ($i = 0; !($i == $x); $i++)
  $r++;
while (!($i >= 1))
  $i++;
$b = !$x && $y;
if (!isset($_GET['z']))
  $r = 7;
if (!empty($x))
  $r = 8;
if (!$x) {
  $r = 9;
} elseif (!$y) {
  $r = 10;
}
switch ($x) {
case '1':
  $r = 11;
  break;
case '0':
  $r = 12;
  break;
}
$m = match (true) {
  !$x => 1,
  default => 2,
};
echo $r + $m;
