<?php
// Administrators arrange the shelves.
require 'includes/start.php';
require_role('admin');
$errors = array();

function swap_topics($id, $step) {
  $topics = db_all('SELECT id, position FROM topics ORDER BY position');
  foreach ($topics as $i => $topic) {
    $other = $topics[$i + $step] ?? null;
    if ($topic['id'] == $id && $other !== null) {
      db_run('UPDATE topics SET position = ? WHERE id = ?',
        array($other['position'], $topic['id']));
      db_run('UPDATE topics SET position = ? WHERE id = ?',
        array($topic['position'], $other['id']));
      return true;
    }
  }
  return false;
}

switch (param('action')) {
case 'add':
  if (param('title') == '') {
    $errors['title'] = 'A topic needs a title.';
  } else {
    $last = (int) db_value('SELECT MAX(position) FROM topics');
    db_run('INSERT INTO topics (title, intro, position) VALUES (?, ?, ?)',
      array(param('title'), param('intro'), $last + 1));
    flash('Added: ' . param('title'));
  }
  break;
case 'up':
  if (!swap_topics(int_param('id'), -1)) {
    flash('It is the first one.', 'error');
  }
  break;
case 'down':
  if (!swap_topics(int_param('id'), 1)) {
    flash('It is the last one.', 'error');
  }
  break;
case 'delete':
  if (Entry::count('topic_id = ?', array(int_param('id'))) > 0) {
    flash('There are questions on this shelf.', 'error');
  } else {
    db_run('DELETE FROM topics WHERE id = ?', array(int_param('id')));
    flash('Deleted.');
  }
  break;
}

$topics = db_all('SELECT t.*, (SELECT COUNT(*) FROM entries e'
  . ' WHERE e.topic_id = t.id) AS n FROM topics t ORDER BY position');
$title = 'Shelves';
$section = 'topics.php';
include 'includes/header.php';
print_errors($errors);
?>
<table>
<?php foreach ($topics as $i => $topic) { ?>
<tr>
<td><?php print h($topic['title']); ?></td>
<td>
<form action="topics.php" method="post">
<input type="hidden" name="id" value="<?php print $topic['id']; ?>">
<?php
  if ($i > 0) {
    print "<button type=\"submit\" name=\"action\" value=\"up\">Up</button>\n";
  }
  if ($i < count($topics) - 1) {
    print '<button type="submit" name="action" value="down">Down</button>'
      . "\n";
  }
  if ($topic['n'] == 0) {
    print '<button type="submit" name="action" value="delete">Delete</button>'
      . "\n";
  } else {
    print '<span>' . plural($topic['n'], 'entry', 'entries') . "</span>\n";
  }
?>
</form>
</td>
</tr>
<?php } ?>
</table>
<h2>Add a topic</h2>
<form action="topics.php" method="post">
<?php
print text_field('title', 'Title', '');
print text_field('intro', 'Introduction', '');
?>
<button type="submit" name="action" value="add">Add</button>
</form>
<?php
include 'includes/footer.php';
