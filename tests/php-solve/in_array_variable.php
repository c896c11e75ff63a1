<?php
$l = ['p' . 1, 'q' . 2]; if (in_array($_GET['a'] ?? '', $l, true)) echo 'REACHED';
