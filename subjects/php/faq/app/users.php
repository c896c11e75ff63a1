<?php
// Administrators: who may do what.
require 'includes/start.php';
require_role('admin');
$me = current_user();
$id = int_param('id');
$user = db_row('SELECT * FROM users WHERE id = ?', array($id));

if (param('action') == 'role' && $user !== null) {
  if (!isset($roles[param('role')])) {
    flash('There is no such role.', 'error');
  } elseif ($id == $me['id']) {
    flash('Somebody else must change your role.', 'error');
  } else {
    db_run('UPDATE users SET role = ? WHERE id = ?', array(param('role'), $id));
    flash($user['name'] . ' is now ' . param('role') . '.');
  }
} elseif (param('action') == 'lock' && $user !== null) {
  db_run('UPDATE users SET locked = 1 - locked WHERE id = ?', array($id));
  flash($user['locked'] ? 'Unlocked.' : 'Locked.');
}

$users = db_all('SELECT u.*, (SELECT COUNT(*) FROM entries e'
  . " WHERE e.author = u.login AND e.status = 'published') AS written"
  . ' FROM users u ORDER BY u.login');
$title = 'People';
$section = 'users.php';
include 'includes/header.php';
?>
<table>
<thead>
<tr><th>Name</th><th>Role</th><th>Answers</th><th>Account</th></tr>
</thead>
<tbody>
<?php foreach ($users as $user) { ?>
<tr>
<td><?php
  if ($user['locked']) {
    print '<del>' . h($user['name']) . '</del>';
  } else {
    print h($user['name']);
  }
?></td>
<td>
<?php
  if ($user['id'] == $me['id']) {
    print '<strong>' . h($user['role']) . "</strong>\n";
  } else {
    $options = array_combine(array_keys($roles), array_keys($roles));
?>
<form action="users.php" method="post">
<input type="hidden" name="id" value="<?php print $user['id']; ?>">
<select name="role" aria-label="Role">
<?php
    foreach ($options as $role) {
      $mark = $role == $user['role'] ? ' selected' : '';
      print "<option$mark>$role</option>\n";
    }
?>
</select>
<button type="submit" name="action" value="role">Change</button>
</form>
<?php } ?>
</td>
<td><?php
  if ($user['written'] > 0) {
    print link_to('search.php?author=' . urlencode($user['login']),
      $user['written']);
  } else {
    print 'none';
  }
?></td>
<td>
<form action="users.php" method="post">
<input type="hidden" name="id" value="<?php print $user['id']; ?>">
<button type="submit" name="action" value="lock"><?php
  print $user['locked'] ? 'Unlock' : 'Lock';
?></button>
</form>
</td>
</tr>
<?php } ?>
</tbody>
</table>
<?php
include 'includes/footer.php';
