<?php
if (isset($_GET['s']) && !preg_match('/^[a-z0-9]*$/', $_GET['s'])) echo 'REACHED';
