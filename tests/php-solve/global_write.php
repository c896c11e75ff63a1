<?php
$_POST['a'] = trim($_POST['a'] ?? ''); if ($_POST['a'] == 'w') echo 'x'; if (isset($_POST['b']) && $_POST['b'] == 'later') echo 'REACHED';
