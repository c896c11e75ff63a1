<?php
$h = md5($_GET['s'] ?? ''); if (isset($_GET['s']) && $_GET['s'] == 'known') echo 'x'; if ($h == md5('known')) echo 'REACHED';
