<?php
// The editors' desk: what waits, what was left lying, how we are doing.
require 'includes/start.php';
require_role('editor');

if (param('action') == 'delete') {
  $entry = Entry::load(int_param('id'));
  if ($entry === null) {
    flash('There is no such question.', 'error');
  } elseif ($entry->status == 'published' && !has_role('admin')) {
    flash('Only administrators delete answers.', 'error');
  } else {
    $entry->setTags('');
    db_run('DELETE FROM entries WHERE id = ?', array($entry->id));
    flash('Deleted: ' . $entry->question);
  }
  redirect('admin.php');
}

function print_queue($heading, $entries) {
  open_box($heading);
  if (count($entries) == 0) {
    print "<p class=\"empty\">Nothing.</p>\n";
  } else {
    print "<table>\n<tr><th>Date</th><th>Question</th><th>By</th>"
      . "<th></th></tr>\n";
    foreach ($entries as $entry) {
      $author = $entry->author == '' ? '<em>unknown</em>' : h($entry->author);
      print '<tr><td>' . format_date($entry->created) . '</td><td>'
        . link_to('edit.php?id=' . $entry->id, $entry->question)
        . "</td><td>$author</td><td>\n";
      print_delete_button($entry);
      print "</td></tr>\n";
    }
    print "</table>\n";
  }
  close_box();
}

function print_delete_button($entry) {
?>
<form action="admin.php" method="post">
<input type="hidden" name="id" value="<?php print $entry->id; ?>">
<button type="submit" name="action" value="delete">Delete</button>
</form>
<?php
}

// Of each topic: answers, questions without, share of votes that say yes.
function topic_statistics() {
  $rows = array();
  foreach (db_all('SELECT * FROM topics ORDER BY position') as $topic) {
    $sum = db_row("SELECT COUNT(*) AS n, SUM(status = 'published') AS done,"
      . ' SUM(helpful) AS yes, SUM(unhelpful) AS no, MAX(views) AS most'
      . ' FROM entries WHERE topic_id = ?', array($topic['id']));
    $votes = $sum['yes'] + $sum['no'];
    $rows[] = array($topic['title'], (int) $sum['done'],
      $sum['n'] - (int) $sum['done'],
      $votes == 0 ? '-' : round(100 * $sum['yes'] / $votes) . ' %',
      $sum['most'] === null ? '-' : $sum['most']);
  }
  return $rows;
}

$title = 'Desk';
$section = 'admin.php';
include 'includes/header.php';
print_queue('Waiting', Entry::find("status = 'pending'", array(), 'id'));
print_queue('Drafts', Entry::find("status = 'draft'", array(), 'id'));
if (has_role('admin')) {
  print_queue('Never helped', Entry::find("status = 'published' AND"
    . ' helpful = 0', array(), 'id'));
}
?>
<h2>Topics</h2>
<table class="statistics">
<thead>
<tr>
<?php
foreach (array('Topic', 'Answers', 'Open', 'Helpful', 'Most read') as $head) {
  print "<th>$head</th>\n";
}
?>
</tr>
</thead>
<tbody>
<?php foreach (topic_statistics() as $number => $row) { ?>
<tr class="<?php print $number % 2 ? 'odd' : 'even'; ?>">
<?php
  for ($i = 0; $i < count($row); $i++) {
    print '<td>' . h($row[$i]) . "</td>\n";
  }
?>
</tr>
<?php } ?>
</tbody>
</table>
<p><?php print link_to('edit.php', 'Write a new entry'); ?></p>
<?php
include 'includes/footer.php';
