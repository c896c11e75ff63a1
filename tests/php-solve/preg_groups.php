<?php
if (preg_match('/^(\w+)@(\w+)\.org$/', $_GET['s'] ?? '', $m)) { if ($m[1] == 'root' && $m[2] == 'host') echo 'REACHED'; }
