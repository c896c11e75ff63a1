<?php
$n = (int)($_GET['n'] ?? 0); if ($n * 3 == 111) echo 'REACHED';
