<?php
switch ($_GET['op'] ?? '') { case 'add': echo 1; break; case 'del': echo 2; break; case 'mod': echo 'REACHED'; }
