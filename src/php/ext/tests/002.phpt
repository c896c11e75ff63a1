--TEST--
culprit: stack traces, buffers and errors look the same while recording
--INI--
culprit.dir={PWD}
display_errors=1
--FILE--
<?php
function f($x) { return strlen($x) + count([$x]); }
try { f([]); } catch (TypeError $e) { echo $e->getMessage(), "\n", basename($e->getFile()), ':', $e->getLine(), "\n"; }
try { call_user_func('f', []); } catch (TypeError $e) { echo count($e->getTrace()), "\n"; }
ob_start(fn($b) => strrev($b));
echo 'abc';
var_dump(ob_get_status()['type'], ob_get_level());
ob_end_flush();
echo "\n", $nothing ?? 'default', "\n";
echo $undefined;
?>
--EXPECTF--
strlen(): Argument #1 ($string) must be of type string, array given
002.php:2
1

)1(tni
)1(tnicba
default

Warning: Undefined variable $undefined in %s on line %d
--CLEAN--
<?php
@unlink(__DIR__ . '/request.rec');
foreach (glob(__DIR__ . '/maps/*') as $map) unlink($map);
@rmdir(__DIR__ . '/maps');
?>
