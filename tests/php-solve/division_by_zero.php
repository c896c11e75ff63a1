<?php
$n = (int)($_GET['n'] ?? 1); try { echo 10 % ($n - 5); } catch (DivisionByZeroError $e) { echo 'REACHED'; }
