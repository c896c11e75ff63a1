<?php
if (isset($_GET['n']) && $_GET['n'] == 42) echo 'REACHED';
