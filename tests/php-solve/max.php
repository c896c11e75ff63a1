<?php
$n = max((int)($_GET['n'] ?? 0), 3); if ($n == 30) echo 'REACHED';
