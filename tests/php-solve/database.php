<?php
$db = new PDO('sqlite::memory:'); $db->exec("CREATE TABLE u (name, pw)"); $db->exec("INSERT INTO u VALUES ('eve', 'p4ss')"); $row = $db->query('SELECT * FROM u')->fetch(PDO::FETCH_ASSOC); if (($_POST['pw'] ?? '') == $row['pw']) { if (($_POST['u'] ?? '') === $row['name']) echo 'REACHED'; }
