<?php
$n = (int)($_GET['n'] ?? 1); if ($n / 4 == 7) echo 'REACHED';
