<?php
require 'includes/start.php';
$errors = array();
$login = param('login');
if (param('send') != '') {
  $user = find_user($login, param('password'));
  if ($login == '') {
    $errors['login'] = 'Type your name.';
  } elseif ($user === null) {
    $errors['password'] = 'Name or password is wrong.';
  } elseif ($user['locked']) {
    $errors['login'] = 'This account is locked.';
  } else {
    $_SESSION['user_id'] = $user['id'];
    flash('Welcome, ' . $user['name'] . '.');
    $wanted = $_SESSION['wanted'] ?? 'index.php';
    unset($_SESSION['wanted']);
    redirect($wanted);
  }
  $_SESSION['tries'] = ($_SESSION['tries'] ?? 0) + 1;
}
$title = 'Log in';
$section = '';
include 'includes/header.php';
print_errors($errors);
if (($_SESSION['tries'] ?? 0) > 2) {
  open_box('Help');
  print '<p>See ' . link_to('question.php?id=4', 'I forgot my password')
    . ".</p>\n";
  close_box();
}
?>
<form action="login.php" method="post">
<?php
print text_field('login', 'Name', $login);
print text_field('password', 'Password', '', 'password');
?>
<button type="submit" name="send" value="1">Log in</button>
</form>
<?php
include 'includes/footer.php';
