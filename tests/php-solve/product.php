<?php
$a = (int)($_GET['a'] ?? 0); $b = (int)($_GET['b'] ?? 0); if ($a * $b == 391 && $a > 1 && $b > $a) echo 'REACHED';
