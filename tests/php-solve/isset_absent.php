<?php
if (isset($_GET['a'])) { if (!isset($_GET['b'])) { if (isset($_GET['c'])) echo 'REACHED'; } }
