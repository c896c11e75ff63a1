<?php
$k = $_GET['k'] ?? ''; $f = function () use ($k) { return strrev($k); }; if ($f() == 'cba') echo 'REACHED';
