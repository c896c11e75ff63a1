<?php
function twice(int $n): int { return $n * 2; } if (is_numeric($_GET['n'] ?? '') && twice($_GET['n']) == 64) echo 'REACHED';
