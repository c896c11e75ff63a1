--TEST--
culprit: references, generators, fibers and destructors while looking closely
--INI--
culprit.dir={PWD}
culprit.collect=close
--FILE--
<?php
class D { public $l = []; function __destruct() { global $d; $d[] = count($this->l); } }
function g(array &$a) { try { foreach ($a as $k => &$v) { $v = yield $k => $v; } } finally { $a['end'] = 1; } }
$a = ['x' => 1, 'y' => 2];
$b = $a;
$g = g($a);
foreach ($g as $k => $v) { echo "$k=$v\n"; $o = new D; $o->l[$k][] = $v; }
unset($g, $o);
echo json_encode([$a, $b, $d]), "\n";
$f = new Fiber(function ($n) { static $s = 0; while ($n--) { $s += $n; Fiber::suspend($s); } return $s; });
echo $f->start(3), $f->resume(), $f->resume(), "\n";
function r($n, &$deep) { $deep = max($deep, $n); return $n ? r($n - 1, $deep) + 1 : 0; }
$deep = 0;
echo r(20000, $deep), $deep, "\n";
try { (function (int ...$n) { throw new Exception(array_sum($n)); })(1, 2, 3); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
$name = 'a';
foreach ($$name as $key => $value) { unset($a[$key]); $GLOBALS['seen'][$key] = $value; }
extract($seen, EXTR_PREFIX_ALL, 'e');
echo count($a), isset($e_end), "\n";
?>
--EXPECT--
x=1
y=2
[{"x":null,"y":null,"end":1},{"x":1,"y":2},[1,1]]
233
2000020000
6
01
--CLEAN--
<?php
@unlink(__DIR__ . '/request.rec');
foreach (glob(__DIR__ . '/maps/*') as $map) unlink($map);
@rmdir(__DIR__ . '/maps');
?>
