<?php
// Opens the page: $title, $section (the menu entry to mark); $sidebar = true
// adds a column. footer.php closes what is opened here.
$sidebar = $sidebar ?? false;
$menu = array('index.php' => 'Topics', 'search.php' => 'Search',
  'ask.php' => 'Ask');
if (has_role('editor')) {
  $menu['admin.php'] = 'Desk';
}
if (has_role('admin')) {
  $menu['topics.php'] = 'Shelves';
  $menu['users.php'] = 'People';
}
?>
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title><?php print h($title); ?> - <?php print FAQ_TITLE; ?></title>
<link rel="stylesheet" href="style/faq.css">
</head>
<body>
<div id="page">
<div id="top">
<h1><?php print h($title); ?></h1>
<ul class="menu">
<?php
foreach ($menu as $page => $text) {
  $class = $page == $section ? 'here' : '';
  print '<li>' . link_to($page, $text, $class) . "</li>\n";
}
?>
</ul>
<?php if (current_user() === null) { ?>
<p class="who"><?php print link_to('login.php', 'Log in'); ?></p>
<?php } else { ?>
<div class="who">
<?php $me = current_user(); ?>
<span><?php print h($me['name']); ?></span>
<?php if ($me['role'] != 'reader') { ?>
<em>(<?php print h($me['role']); ?>)</em>
<?php } ?>
<form action="logout.php" method="post">
<button type="submit">Log out</button>
</form>
</div>
<?php } ?>
</div>
<?php
$flashes = take_flashes();
if (count($flashes) > 0) {
  print "<ul class=\"flashes\">\n";
  foreach ($flashes as $flash) {
    print '<li class="' . h($flash['kind']) . '">' . h($flash['text'])
      . "</li>\n";
  }
  print "</ul>\n";
}
if ($sidebar) {
  print "<div id=\"columns\">\n";
  include __DIR__ . '/sidebar.php';
}
?>
<div id="main">
