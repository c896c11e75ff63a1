<?php
$a = $_GET['a'] ?? 'same'; if (isset($_GET['a']) && $a != 'w' && $a !== '1') echo 'REACHED';
