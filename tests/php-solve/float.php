<?php
$n = (float)($_GET['n'] ?? 0); if ($n * 2 == 5.0) echo 'REACHED';
