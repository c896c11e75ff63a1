<?php
if (in_array($_GET['a'] ?? '', ['red', 'green', 'blue'])) echo 'REACHED';
