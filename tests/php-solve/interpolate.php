<?php
$n = (int)($_GET['n'] ?? 0); $s = $_GET['s'] ?? ''; if ("n{$n}:$s!" === 'n12:go!') echo 'REACHED';
