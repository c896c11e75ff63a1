<?php
$a = $_GET['a'] ?? ''; $b = $_GET['b'] ?? ''; if (strlen($a) + strlen($b) == 7 && strlen($a) == 2 * strlen($b) + 1) echo 'REACHED';
