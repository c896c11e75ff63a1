<?php
$p = explode('-', $_GET['s'] ?? 'a-b-c'); if (count($p) == 3 && isset($_GET['s']) && $p[1] == 'mid') echo 'REACHED';
