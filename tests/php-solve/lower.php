<?php
if (strtolower($_GET['s'] ?? '') == 'mixed') echo 'REACHED';
