<?php
function g($s) { yield $s . '1'; yield $s . '2'; } foreach (g($_GET['s'] ?? '') as $v) if ($v == 'gen2') echo 'REACHED';
