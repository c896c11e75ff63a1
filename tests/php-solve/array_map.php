<?php
$p = array_map('trim', explode(';', $_GET['s'] ?? '')); if (count($p) == 3 && $p[1] == 'mid') echo 'REACHED';
