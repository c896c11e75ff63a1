<?php
if (preg_match('~^(?:cat|dog)s?/\d+$~i', $_GET['s'] ?? '') && str_starts_with($_GET['s'], 'dog')) echo 'REACHED';
