<?php
$n = $_GET['n'] ?? ''; if (is_numeric($n) && $n > 5) echo 'REACHED';
