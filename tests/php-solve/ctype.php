<?php
$s = $_GET['s'] ?? ''; if (ctype_digit($s) && strlen($s) == 4) echo 'REACHED';
