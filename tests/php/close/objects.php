<?php
class Box {
  public $n = 0;
  private $items = [];
  public static $made = 0;
  public ?Box $next = null;

  function __construct(public int $size, $n) {
    $this->n = $n; //< 35 44 45
  }

  function add($x) {
    $this->items[] = $x; //< 37 38
    $this->n += $x; //< 9 14 37 38
    return $this;
  }

  function first() {
    return $this->items[0]; //< 13
  }
}
class Magic {
  private $data = [];
  function __get($name) {
    return $this->data[$name]; //< 28 51
  }
  function __set($name, $value) {
    $this->data[$name] = $value; //< 50
  }
  function __destruct() {
    echo 'gone';
  }
}

$box = new Box(1, 2);
$size = $box->size; //< 35
$box->add(5); //< 35
$box->add(6)->size = 3; //< 35 15
echo $box->n, $box->first(), $box->size; //< 35 14 19 38
$same = $box; //< 35
$same->n = 0; //< 40
echo $box->n; //< 35 41
for ($i = 0; $i < 3; $i++) { //< 43
  $other = new Box(1, 1);
  $other->next = new Box(2, 2); //< 44
  echo $other->next->n; //< 44 45 9
}
echo isset($box->n), isset($box->no); //< 35 41
$magic = new Magic;
$magic->a = 1; //< 49
echo $magic->a; //< 49 25
$magic = null;
$copy = clone $box; //< 35
$copy->n = 4; //< 53
echo $copy->n, $box->n; //< 53 54 35 41
$p = 'n';
echo $box->$p; //< 35 56 41
unset($box->n); //< 35
$box->n = 1; //< 35
echo $box->n; //< 35 59
$std = new stdClass;
$std->list['a']['b'] = 2; //< 61
echo $std->list['a']['b']; //< 61 62
$std = (object)['list' => 3];
echo $std->list; //< 64
