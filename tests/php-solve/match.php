<?php
echo match ($_GET['op'] ?? '') { 'a' => 1, 'b' => 'REACHED', default => 0 };
