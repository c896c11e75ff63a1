<?php
$b = (bool)($_GET['b'] ?? ''); if ($b) echo 'REACHED';
