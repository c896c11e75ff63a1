--TEST--
culprit: nothing changes while experiments are possible but none is made
--INI--
culprit.dir={PWD}
culprit.collect=try
display_errors=1
--FILE--
<?php
$n = 3;
$text = <<<T
  a $n
  b {$n}
  T;
for ($i = 0; $i < $n; $i++); // without a statement in it
while (--$i);
echo $text, "\n", $i, "\n", eval('return __LINE__;'), "\n";
// Of this file and of no other: eval has no tokens.
echo count(glob(__DIR__ . '/maps/*.tokens')), "\n";
?>
--EXPECT--
a 3
b 3
0
1
1
--CLEAN--
<?php
@unlink(__DIR__ . '/request.rec');
foreach (glob(__DIR__ . '/maps/*') as $file) unlink($file);
@rmdir(__DIR__ . '/maps');
?>
