<?php
$m = ['view' => 'f', 'edit' => 'g']; $a = $_GET['a'] ?? ''; if (isset($m[$a])) { if ($m[$a] == 'g') echo 'REACHED'; }
