<?php
$x = $_GET['x'] ?? '0'; $y = $_GET['y'] ?? '0'; try { echo 1 % sqrt($x * $x + $y * $y); if ($x > $y && $y > 2) echo 'REACHED'; } catch (DivisionByZeroError $e) { echo 'zero'; }
