<?php
$n = (int)($_GET['n'] ?? 0); if ($n > 10 && $n < 12) echo 'REACHED';
