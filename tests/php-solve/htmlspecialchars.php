<?php
$s = htmlspecialchars($_GET['s'] ?? '', ENT_QUOTES); if ($s == '&lt;b&gt;') echo 'REACHED';
