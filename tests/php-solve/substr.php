<?php
$s = $_GET['s'] ?? ''; if (substr($s, 2, 3) == 'cde') echo 'REACHED';
