<?php
$s = 'user-' . ($_GET['s'] ?? ''); if ($s == 'user-admin') echo 'REACHED';
