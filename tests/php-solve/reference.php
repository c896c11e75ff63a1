<?php
$a = ['x' => $_GET['x'] ?? '']; foreach ($a as &$v) $v = trim($v); unset($v); if ($a['x'] == 'ref') echo 'REACHED';
