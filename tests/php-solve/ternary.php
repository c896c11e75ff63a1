<?php
echo ($_GET['t'] ?? '') ? (($_GET['t'] == 'yes') ? 'REACHED' : 2) : 3;
