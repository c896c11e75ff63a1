<?php
// The only way in: finds the page that was asked for and puts header and footer
// around it.
require 'includes/config.php';
require 'includes/common.php';
require 'includes/database.php';
require 'includes/session.php';
require 'includes/student.php';
require 'includes/gradebook.php';
require 'includes/table.php';
require 'includes/form.php';

$page = input('page', 'home');
$error = '';
if ($page == 'login' && input('enter') != '') {
  $error = User::check(input('login'), input('password'));
  if ($error == '') {
    go_to('home');
  }
} elseif ($page == 'logout') {
  unset($_SESSION['user']);
  go_to('home');
}

$db = Database::get();
$user = User::current();
$reason = '';
if ($user !== null && !isset($pages[$page])) {
  http_response_code(404);
  $reason = 'There is no such page.';
} elseif ($user !== null && !$user->may($page)) {
  http_response_code(403);
  $reason = 'This page is not for you.';
}

ob_start();
if ($user === null) {
  include 'templates/login.php';
} elseif ($reason != '') {
  include 'templates/refused.php';
} else {
  include "pages/$page.php";
}
$content = ob_get_clean();
include 'templates/header.php';
echo $content;
include 'templates/footer.php';
