<?php
$s = str_replace('-', '', $_GET['s'] ?? ''); if ($s == '1234' && strlen($_GET['s']) == 4) echo 'REACHED';
