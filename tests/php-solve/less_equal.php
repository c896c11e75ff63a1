<?php
$n = intval($_GET['n'] ?? 0); if ($n >= 1000) if ($n <= 1000) echo 'REACHED';
