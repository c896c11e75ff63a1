<?php
$d = explode('-', $_GET['s'] ?? '');
if (count($d) == 3 && checkdate((int) $d[1], (int) $d[2], (int) $d[0])) echo 'REACHED';
