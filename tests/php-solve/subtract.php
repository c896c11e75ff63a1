<?php
$n = (int)($_GET['n'] ?? 0); if (100 - $n == 37) echo 'REACHED';
