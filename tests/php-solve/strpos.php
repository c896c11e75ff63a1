<?php
$s = $_GET['s'] ?? ''; if (strpos($s, '@') === 3) echo 'REACHED';
