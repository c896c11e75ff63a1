<?php
$n = (int)($_GET['n'] ?? 0); if ($n + 5 == 123) echo 'REACHED';
