<?php
$s = 'a'; $s .= $_GET['s'] ?? ''; $s .= 'z'; if ($s == 'abcz') echo 'REACHED';
