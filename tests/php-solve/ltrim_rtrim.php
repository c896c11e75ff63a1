<?php
$s = rtrim(ltrim($_GET['s'] ?? '', '/'), '.'); if ($s == 'path') echo 'REACHED';
