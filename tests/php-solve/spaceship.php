<?php
$n = (int)($_GET['n'] ?? 0); if (($n <=> 50) === 0) echo 'REACHED';
