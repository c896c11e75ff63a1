<?php
$n = (int)($_GET['n'] ?? 0); if (($n ^ 0x55) === 0x0f) echo 'REACHED';
