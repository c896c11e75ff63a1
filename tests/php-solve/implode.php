<?php
$s = implode('/', ['x', $_GET['a'] ?? '', 'z']); if ($s == 'x/y/z') echo 'REACHED';
