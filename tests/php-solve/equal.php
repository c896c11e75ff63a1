<?php
if ($_GET['a'] == 'x7') echo 'REACHED';
