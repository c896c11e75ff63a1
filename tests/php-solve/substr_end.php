<?php
$s = $_GET['s'] ?? ''; if (substr($s, -4) == '.php') echo 'REACHED';
