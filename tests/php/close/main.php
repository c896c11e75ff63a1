<?php
$done = true;
function show() {
  $title = 'zero';
  $got = include __DIR__ . '/included_in.php'; //< included_in.php:4
  echo $title, $got; //< included_in.php:3 5
}
$got = include __DIR__ . '/included.php'; //< included.php:6
echo $title, $done, $got; //< included.php:4 included.php:3 8
echo $note; //< included.php:5
show();
eval('$title = 3; $e = 4;');
echo $title, $e; //< main.php@12:1
try {
  $t = 1;
  try {
    $t = 2;
    throw new Exception('x');
  } finally {
    $u = $t; //< 17
  }
} catch (Exception $ex) {
  echo $t, $u, $ex->getMessage(); //< 17 20
}
function fails($n) {
  $m = $n; //< 32 34 37
  if ($m > 1) //< 26
    throw new LogicException($m); //< 26
  return $m; //< 26
}
try {
  $r = fails(1); //< 29
  echo $r; //< 32
  $r = fails(2);
} catch (LogicException) {
  try {
    fails(3);
  } catch (LogicException $ex) {
    echo $r; //< 32
  }
}
register_shutdown_function(function () use ($r) { //< 32
  echo $r; //< 42
});
