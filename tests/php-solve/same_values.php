<?php
$p = $_POST['p'] ?? ''; $q = $_POST['q'] ?? ''; if (strlen($p) >= 6 && $p === $q) echo 'REACHED';
