<?php
// Announcements: everybody reads, school writes.
$audiences = array('all' => 'everybody', 'teacher' => 'teachers',
  'student' => 'pupils', 'parent' => 'guardians');
$writes = $user->role == 'admin' || $user->role == 'teacher';
$errors = array();
if ($writes && input('post') != '') {
  if (strlen(input('title')) < 3) {
    $errors['title'] = 'A longer title, please.';
  }
  if (input('body') == '') {
    $errors['body'] = 'There is nothing in it.';
  }
  if (!isset($audiences[input('audience')])) {
    $errors['audience'] = 'Who shall read it?';
  }
  if (count($errors) == 0) {
    $db->query('INSERT INTO announcements (title, body, audience, posted,'
      . ' author) VALUES (?, ?, ?, ?, ?)', input('title'),
      str_replace("\r", '', input('body')), input('audience'),
      setting('today'), $user->login);
    say('Posted.');
    go_to('news');
  }
} elseif ($writes && input_id('remove') > 0) {
  $item = $db->row('SELECT * FROM announcements WHERE id = ?',
    input_id('remove'));
  if ($item !== null && ($user->role == 'admin'
    || $item['author'] == $user->login)) {
    $db->query('DELETE FROM announcements WHERE id = ?', $item['id']);
    say('Removed: ' . $item['title']);
  } else {
    say('You cannot remove this.');
  }
  go_to('news');
}
$all = $user->role == 'admin' ? '1' : "audience IN ('all', '{$user->role}')";
$items = $db->rows("SELECT * FROM announcements WHERE $all"
  . ' ORDER BY posted DESC, id');

function print_item($item, $user, $audiences) {
?>
<article id="news<?php echo $item['id']; ?>">
<h3><?php echo e($item['title']); ?></h3>
<div class="body">
<?php echo format_text($item['body']); ?>
</div>
<p class="from"><?php
  echo e($item['author']), ', ', show_date($item['posted']);
  if ($item['audience'] != 'all') {
    echo ', <em>for ', e($audiences[$item['audience']]), '</em>';
  }
?></p>
<?php
  if ($user->role == 'admin' || $item['author'] == $user->login) {
    $form = new Form('news', array(), array('remove' => $item['id']));
    $form->end('Remove');
  }
  echo "</article>\n";
}

echo "<h2>News</h2>\n";
if (count($items) == 0) {
  echo "<p>There is no news.</p>\n";
}
foreach ($items as $item) {
  print_item($item, $user, $audiences);
}
if ($writes) {
  echo "<section>\n<h3>Write</h3>\n";
  $form = new Form('news', $errors);
  $form->text('title', 'Title', input('title'));
  $form->area('body', 'Text', input('body'));
  $form->choice('audience', 'For', $audiences, input('audience', 'all'));
  $form->end('Post', 'post');
  echo "</section>\n";
}
