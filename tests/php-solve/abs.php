<?php
$n = (int)($_GET['n'] ?? 0); if (abs($n) == 6 && $n < 0) echo 'REACHED';
