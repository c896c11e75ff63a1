<?php
$n = (int)($_GET['n'] ?? 0); if ($n == 2 ** 10) echo 'REACHED';
