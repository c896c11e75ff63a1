<?php
// Who is looking at us, and what may they do.
session_start();

function current_user() {
  static $user = false;
  if ($user === false) {
    $user = null;
    if (isset($_SESSION['user_id'])) {
      $user = db_row('SELECT * FROM users WHERE id = ?',
        array($_SESSION['user_id']));
    }
  }
  return $user;
}

function has_role($role) {
  global $roles;
  $user = current_user();
  if ($user === null || $user['locked']) {
    return false;
  }
  return $roles[$user['role']] >= $roles[$role];
}

// The user of that name and password, or null.
function find_user($login, $password) {
  $user = db_row('SELECT * FROM users WHERE login = ?', array($login));
  if ($user === null) {
    return null;
  }
  $hash = hash('sha256', $user['salt'] . $password);
  return $hash === $user['hash'] ? $user : null;
}

function redirect($where) {
  header('Location: ' . $where, true, 302);
  exit;
}

// Shows the login form, or a refusal, instead of the page.
function require_role($role) {
  if (has_role($role)) {
    return;
  }
  if (current_user() === null) {
    $_SESSION['wanted'] = basename($_SERVER['SCRIPT_NAME']);
    redirect('login.php');
  }
  http_response_code(403);
  $title = 'Not allowed';
  $section = '';
  include FAQ_ROOT . '/includes/header.php';
  print "<p class=\"error\">You need to be $role to see this page.</p>\n";
  include FAQ_ROOT . '/includes/footer.php';
  exit;
}

function flash($message, $kind = 'info') {
  $_SESSION['flash'][] = array('text' => $message, 'kind' => $kind);
}

function take_flashes() {
  $flashes = $_SESSION['flash'] ?? array();
  unset($_SESSION['flash']);
  return $flashes;
}
