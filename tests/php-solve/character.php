<?php
$s = $_GET['s'] ?? ''; if (strlen($s) > 2 && $s[1] == 'q') echo 'REACHED';
