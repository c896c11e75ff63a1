<?php
$s = $_GET['s'] ?? ''; if (str_starts_with($s, 'http') && str_ends_with($s, '/') && strlen($s) > 6) echo 'REACHED';
