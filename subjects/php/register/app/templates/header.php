<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title><?php echo e(setting('school')); ?></title>
</head>
<body<?php if ($user === null) { echo ' class="outside"'; } ?>>
<header>
<h1><?php echo e(setting('school')); ?></h1>
<?php if ($user !== null) { ?>
<nav>
<ul>
<?php
  foreach ($pages as $name => $about) {
    if ($about[0] == '' || !$user->may($name)) {
      continue;
    }
    echo '<li>';
    if ($name == $page) {
      echo '<strong>', e($about[0]), '</strong>';
    } else {
      echo anchor($name, array(), $about[0]);
    }
    echo "</li>\n";
  }
?>
</ul>
</nav>
<p><?php echo e($user->name()); ?>,
<?php echo show_date(setting('today')); ?>,
<?php echo anchor('logout', array(), 'log out'); ?></p>
<?php } ?>
</header>
<main>
<?php
foreach ($_SESSION['messages'] ?? array() as $message) {
  echo '<p class="message">', e($message), "</p>\n";
}
unset($_SESSION['messages']);
