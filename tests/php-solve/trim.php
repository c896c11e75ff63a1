<?php
$s = trim($_GET['s'] ?? ''); if ($s == 'ok') echo 'REACHED';
