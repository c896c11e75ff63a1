<?php
$n = (int)($_GET['n'] ?? 0); if (sqrt($n + 1) == 12) echo 'REACHED';
