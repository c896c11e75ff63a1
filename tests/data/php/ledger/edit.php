<?php require 'db.php';
$id = $_REQUEST['id'] ?? '';
if (isset($_POST['save'])) {
  q("UPDATE account SET name='$_POST[name]',
    kind='$_POST[kind]',
    note='$_POST[note]',
    amount=$_POST[amount]
    WHERE id=$id");
}
if (isset($_POST['quick']))
  update('account', ['note' => $_POST['note'], 'nmae' => $_POST['name']], $id);
$row = mysqli_fetch_assoc(q("SELECT * FROM account WHERE id=$id"));
?>
<!DOCTYPE html>
<html><head><title>edit</title></head><body>
<form method="post" action="edit.php"><p>
<input type="hidden" name="id" value="<?= $row['id'] ?? '' ?>">
<input name="name" value="<?= $row['name'] ?? '' ?>">
<select name="kind"><option>a</option><option>b</option></select>
<input name="note" value="<?= $row['note'] ?? '' ?>">
<input name="amount" value="<?= $row['amount'] ?? '' ?>">
<input type="submit" name="save" value="save"><input type="submit" name="quick" value="quick">
</p></form>
</body></html>
