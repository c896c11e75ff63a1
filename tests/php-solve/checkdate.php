<?php
if (preg_match('/^(\d{1,2})\.(\d{1,2})\.(\d{4})$/', $_GET['s'] ?? '', $d) && checkdate((int) $d[2], (int) $d[1], (int) $d[3]) && (int) $d[3] > 1949 && $d[3] < 1960) echo 'REACHED';
