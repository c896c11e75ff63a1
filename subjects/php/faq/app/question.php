<?php
// One question: answer, votes, comments.
require 'includes/start.php';
$entry = Entry::load(int_param('id'));
$section = 'index.php';
if ($entry === null || !$entry->isVisible()) {
  http_response_code(404);
  $title = 'No such question';
  include 'includes/header.php';
  print '<p>' . link_to('ask.php', 'Ask it yourself') . ' or '
    . link_to('search.php', 'search') . ".</p>\n";
  include 'includes/footer.php';
  exit;
}

function print_comment($entry, $comment) {
  $name = $comment['name'] == '' ? 'Somebody' : $comment['name'];
  print "<li id=\"c{$comment['id']}\">\n";
  print '<b>' . h($name) . '</b>, ' . format_date($comment['created']) . "\n";
  print '<p>' . h($comment['body']) . "</p>\n";
  $replies = $entry->comments($comment['id']);
  if (count($replies) > 0) {
    print "<ul>\n";
    foreach ($replies as $reply) {
      print_comment($entry, $reply);
    }
    print "</ul>\n";
  }
  print "</li>\n";
}

$errors = array();
$action = param('action');
if ($action == 'vote') {
  if (isset($_SESSION['voted'][$entry->id])) {
    flash('You have voted before.', 'error');
  } else {
    $column = param('helped') == 'yes' ? 'helpful' : 'unhelpful';
    db_run("UPDATE entries SET $column = $column + 1 WHERE id = ?",
      array($entry->id));
    $_SESSION['voted'][$entry->id] = true;
    flash('Thank you.');
  }
  redirect('question.php?id=' . $entry->id);
}
if ($action == 'comment') {
  $body = param('body');
  if ($body == '') {
    $errors['body'] = 'The comment is empty.';
  } elseif (strlen($body) > MAX_COMMENT) {
    $errors['body'] = 'The comment is too long.';
  }
  if (strlen(param('name')) > 20) {
    $errors['name'] = 'The name is too long.';
  }
  if (count($errors) == 0) {
    db_run('INSERT INTO comments (entry_id, name, body, created, reply_to)'
      . ' VALUES (?, ?, ?, ?, ?)', array($entry->id, param('name'), $body,
      setting('today'), int_param('reply_to')));
    redirect('question.php?id=' . $entry->id);
  }
}
if (!isset($_SESSION['seen'][$entry->id])) {
  db_run('UPDATE entries SET views = views + 1 WHERE id = ?',
    array($entry->id));
  $_SESSION['seen'][$entry->id] = true;
}

$topic = $entry->topic();
$tags = $entry->tags();
$related = $entry->related();
$comments = $entry->comments();
list($before, $after) = $entry->neighbours();

$title = $entry->question;
$sidebar = true;
include 'includes/header.php';
?>
<p class="path"><?php
print link_to('index.php', 'Topics') . ' / '
  . link_to('topic.php?id=' . $topic['id'], $topic['title']);
?></p>
<?php
if ($entry->answer == '') {
  print "<p class=\"empty\">Nobody has answered yet.</p>\n";
} else {
  print '<div class="answer">' . "\n" . Markup::toHtml($entry->answer)
    . "</div>\n";
}
?>
<table class="facts">
<tr><th>Asked</th><td><?php print format_date($entry->created); ?></td></tr>
<?php if ($entry->author != '') { ?>
<tr><th>By</th><td><?php print h($entry->author); ?></td></tr>
<?php } ?>
<tr><th>Helpful</th><td><?php
print stars($entry->helpful, $entry->unhelpful);
?></td></tr>
<?php if (count($tags) > 0) { ?>
<tr><th>Tags</th><td>
<?php
foreach ($tags as $tag) {
  print link_to('search.php?tag=' . urlencode($tag), $tag) . "\n";
}
?>
</td></tr>
<?php } ?>
</table>
<form action="question.php" method="post">
<div>
<input type="hidden" name="id" value="<?php print $entry->id; ?>">
<input type="hidden" name="action" value="vote">
Did this help you?
<button type="submit" name="helped" value="yes">Yes</button>
<button type="submit" name="helped" value="no">No</button>
</div>
</form>
<?php
if (count($related) > 0) {
  open_box('See also');
  print "<ul>\n";
  foreach ($related as $other) {
    print '<li>' . link_to('question.php?id=' . $other->id, $other->question)
      . "</li>\n";
  }
  print "</ul>\n";
  close_box();
}
open_box('Comments', 'comments');
if (count($comments) > 0) {
  print "<ul>\n";
  foreach ($comments as $comment) {
    print_comment($entry, $comment);
  }
  print "</ul>\n";
}
print_errors($errors);
?>
<form action="question.php" method="post">
<input type="hidden" name="id" value="<?php print $entry->id; ?>">
<input type="hidden" name="action" value="comment">
<?php
print text_field('name', 'Name', param('name'));
print area_field('body', 'Comment', param('body'), 3);
if (count($comments) > 0) {
  $choices = array(0 => 'nobody');
  foreach ($comments as $comment) {
    $choices[$comment['id']] = $comment['name'] == '' ? 'Somebody'
      : $comment['name'];
  }
  print select_field('reply_to', 'In reply to', $choices,
    int_param('reply_to'));
}
?>
<button type="submit">Send</button>
</form>
<?php
close_box();
if ($before !== null || $after !== null) {
  print "<p class=\"step\">";
  if ($before !== null) {
    print link_to('question.php?id=' . $before->id, 'Before');
  }
  if ($after !== null) {
    print ' ' . link_to('question.php?id=' . $after->id, 'After');
  }
  print "</p>\n";
}
include 'includes/footer.php';
