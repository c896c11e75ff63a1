<?php
class Count {
  public static $n = 0;
  protected static array $list = [];
  public int $typed = 1;
  public readonly int $once;
  static function add($x) {
    self::$n += $x; //< 18 19 8
    static::$list[] = $x; //< 18 19
    return static::$list[0]; //< 9
  }
  function set() {
    $this->once = 1;
    $this->once = 2;
  }
}
class Sub extends Count {}
Count::add(1);
echo Sub::add(2); //< 10
echo Count::$n, Sub::$n; //< 8
Count::$n = 7;
echo isset(Sub::$n), Count::$n++; //< 21
echo Count::$n; //< 22
$r = &Count::$n;
$r = 1;
echo Sub::$n; //< 25

$c = new Count;
$v = 3;
try {
  $v = $v + intdiv(1, 0);
} catch (DivisionByZeroError) {
  echo $v; //< 29
}
try {
  $v += []; //< 29
} catch (TypeError) {
  echo $v; // whether line 36 wrote it is not known
}
try {
  $c->typed = 'no'; //< 28
} catch (TypeError) {
  echo $c->typed; //< 28
}
try {
  $c->set(); //< 28
} catch (Error) {
  echo $c->once; //< 28
}
$x = 1;
include __DIR__ . '/names.php';
$x = 2;
echo $x, $late; //< 52 names.php:3
register_shutdown_function(function () {
  global $x, $late;
  echo $x, $late; //< 52 names.php:3
});
function inner() {
  $held = 1;
  include __DIR__ . '/names.php';
  return $held; //< names.php:4
}
echo inner(); //< 61
