<?php
$p = explode(',', $_GET['s'] ?? ''); if (($p[0] ?? '') == 'one') { if (isset($_GET['s']) && $p[0] === 'one') echo 'REACHED'; }
