<?php
$m = ['k1' => 1, 'k2' => 2]; if (array_key_exists($_GET['k'] ?? '', $m)) echo 'REACHED';
