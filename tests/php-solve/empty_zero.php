<?php
if (isset($_GET['z']) && empty($_GET['z'])) echo 'REACHED';
