--TEST--
culprit: generators, fibers and finally while recording
--INI--
culprit.dir={PWD}
--FILE--
<?php
function g() { try { $x = yield 1; echo "got $x\n"; yield 2; } finally { echo "finally\n"; } }
$g = g();
echo $g->current(), "\n", $g->send('it'), "\n";
unset($g);
$f = new Fiber(function () { foreach (g() as $v) Fiber::suspend($v); return 'end'; });
$f->start();
while (!$f->isTerminated()) $f->resume();
echo $f->getReturn(), "\n";
function r($n) { return $n ? r($n - 1) + 1 : 0; }
echo r(100000), "\n";
?>
--EXPECT--
1
got it
2
finally
got 
finally
end
100000
--CLEAN--
<?php
@unlink(__DIR__ . '/request.rec');
foreach (glob(__DIR__ . '/maps/*') as $map) unlink($map);
@rmdir(__DIR__ . '/maps');
?>
