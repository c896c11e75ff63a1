<h1>Sample</h1>
<?php
function half($n) {
  if ($n < 2 && $n != 0)
    throw new RangeException("too small");
  return intdiv($n, 2);
}
foreach ([4, 2] as $n)
  echo half($n), "\n";
echo $missing;
include 'part.php';
try {
  half(1);
} catch (RangeException $e) {
  echo "caught\n";
}
