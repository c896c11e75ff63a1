<?php require 'db.php'; ?>
<!DOCTYPE html>
<html><head><title>ledger</title></head><body>
<h1>Ledger</h1>
<ul>
<?php
$order = $_GET['order'] ?? 'id';
$r = q("SELECT id, name FROM account ORDER BY $order");
while ($row = mysqli_fetch_assoc($r))
  echo "<li><a href='edit.php?id=$row[id]'>$row[name]</a></li>\n";
?>
</ul>
<p><a href="index.php?order=name">by name</a> <a href="find.php?name=bank">find</a></p>
</body></html>
