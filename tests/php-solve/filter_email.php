<?php
if (filter_var($_GET['m'] ?? '', FILTER_VALIDATE_EMAIL)) echo 'REACHED';
