<?php
$a = (int)($_GET['a'] ?? 0); if ($a > 3) { if ($a % 2 == 0) { if ($a < 6) echo 'REACHED'; } }
