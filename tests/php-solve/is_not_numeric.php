<?php
if (isset($_GET['n']) && !is_numeric($_GET['n'])) echo 'REACHED';
