<?php
$a = (int)($_GET['a'] ?? 0); $b = (int)($_GET['b'] ?? 0); if ($a + $b == 100 && $a - $b == 20) echo 'REACHED';
