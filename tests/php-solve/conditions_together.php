<?php
if (($_POST['user'] ?? '') == 'admin' && ($_POST['pw'] ?? '') == 'x' && ($_POST['role'] ?? '') == 'root') echo 'REACHED';
