<?php
$n = (int)($_GET['n'] ?? 0); $n++; ++$n; $n += 3; $n--; if ($n === 20) echo 'REACHED';
