<?php
function f(string $s) { return g(trim($s)); } function g($s) { return $s . '!'; } if (f($_GET['s'] ?? '') == 'hey!') echo 'REACHED';
