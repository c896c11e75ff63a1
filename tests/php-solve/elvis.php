<?php
$v = ($_GET['v'] ?? '') ?: 'none'; if ($v == 'some') echo 'REACHED';
