<?php
$x = $_GET['x'] ?? null; if ($x !== null) echo 'REACHED';
