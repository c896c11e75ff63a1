<?php
$n = (int)($_GET['n'] ?? 0); if ($n % 7 == 3 && $n > 20) echo 'REACHED';
