<?php
$s = $_GET['s'] ?? ''; if ($s != '' && strpos($s, 'needle') !== false) echo 'REACHED';
