<?php
$n = (int)($_GET['n'] ?? 0); $c = 0; for ($i = 0; $i < $n && $i < 9; $i++) $c++; if ($c == 3) echo 'REACHED';
