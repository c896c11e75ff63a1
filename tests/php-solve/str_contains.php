<?php
$s = $_GET['s'] ?? ''; if (str_contains($s, 'abc') && str_contains($s, 'xyz')) echo 'REACHED';
