<?php
$l = $_GET['l'] ?? []; if (isset($_GET['l'][1]) && $_GET['l'][1] === 'b') echo 'REACHED';
