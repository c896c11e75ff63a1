<?php
$n = $_GET['n'] ?? 'none'; echo $n * 1; if ($n * 2 == 18) echo 'REACHED';
