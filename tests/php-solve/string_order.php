<?php
$s = $_GET['s'] ?? ''; if (strcmp($s, 'mm') > 0 && $s < 'mn') echo 'REACHED';
