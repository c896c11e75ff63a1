<?php require 'db.php';
$name = $_GET['name'] ?? '';
if (strlen($name) > 9)
  throw new Exception("No account of the name " . $name);
?>
<!DOCTYPE html>
<html><head><title>find</title></head><body>
<form action="find.php"><p><input name="name"><input type="submit"></p></form>
<?php
$r = mysqli_query($db, "SELECT * FROM account WHERE name='$name'");
while ($row = mysqli_fetch_assoc($r))
  echo "<p>$row[name]</p>\n";
?>
</body></html>
