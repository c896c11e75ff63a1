<?php
// Accounts: who they belong to, on and off, new passwords.
$account = $db->row('SELECT * FROM users WHERE id = ?', input_id('id'));
$error = '';
if (input('switch') != '' && $account !== null) {
  if ($account['id'] == $user->id) {
    $error = 'You cannot switch yourself off.';
  } else {
    $db->query('UPDATE users SET active = 1 - active WHERE id = ?',
      $account['id']);
    say($account['login'] . ' is now ' . ($account['active'] ? 'off' : 'on'));
    go_to('users');
  }
} elseif (input('password') != '' && $account !== null) {
  if (strlen(input('password')) < 5) {
    $error = 'A password has five characters or more.';
  } else {
    $db->query('UPDATE users SET hash = ? WHERE id = ?',
      hash('sha256', $account['salt'] . input('password')), $account['id']);
    say('New password for ' . $account['login']);
    go_to('users');
  }
}
$roles = array('admin' => 'Office', 'teacher' => 'Teachers',
  'student' => 'Pupils', 'parent' => 'Guardians');
$names = array(
  'teacher' => $db->map('SELECT id, name FROM teachers'),
  'student' => $db->map('SELECT id, name FROM students'),
);
$children = array();
foreach (Student::find('s.guardian_id IS NOT NULL') as $student) {
  $children[$student->guardianId][] = $student->name;
}
?>
<h2>Accounts</h2>
<?php if ($error != '') { ?>
<p class="error"><?php echo e($error); ?></p>
<?php
}
foreach ($roles as $role => $heading) {
  $table = new Table(array('Login', 'Person', 'State', 'Password'), $heading);
  foreach ($db->rows('SELECT * FROM users WHERE role = ? ORDER BY login',
    $role) as $row) {
    $table->startRow($row['active'] ? '' : 'off');
    $table->cell(e($row['login']));
    if ($role == 'parent') {
      $table->cell(e(implode(', ', $children[$row['id']] ?? array())));
    } else {
      $table->cell(e($names[$role][$row['person_id']] ?? '-'));
    }
    echo "<td>\n";
    $form = new Form('users', array(), array('id' => $row['id']));
    $form->end($row['active'] ? 'Switch off' : 'Switch on', 'switch');
    echo "</td><td>\n";
    $form = new Form('users', array(), array('id' => $row['id']));
    echo '<input name="password" aria-label="New password">', "\n";
    $form->end('Change');
    echo '</td>';
    $table->endRow();
  }
  $table->end();
}
