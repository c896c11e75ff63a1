<?php
$s = $_GET['s'] ?? ''; if (strlen($s) == 9) echo 'REACHED';
