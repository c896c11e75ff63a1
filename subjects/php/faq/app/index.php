<?php
// The shelves, with how many answers stand on each.
require 'includes/start.php';
$topics = db_all('SELECT t.*, COUNT(e.id) AS n FROM topics t'
  . ' LEFT JOIN entries e'
  . " ON e.topic_id = t.id AND e.status = 'published'"
  . ' GROUP BY t.id ORDER BY t.position');
$newest = Entry::find("status = 'published'", array(), 'created DESC', 3);

$title = 'Topics';
$section = 'index.php';
$sidebar = true;
include 'includes/header.php';
?>
<table class="topics">
<thead>
<tr><th>Topic</th><th>Answers</th></tr>
</thead>
<tbody>
<?php
$total = 0;
foreach ($topics as $topic) {
  print '<tr><td>';
  if ($topic['n'] > 0) {
    print link_to('topic.php?id=' . $topic['id'], $topic['title']);
  } else {
    print h($topic['title']);
  }
  if ($topic['intro'] != '') {
    print '<p>' . Markup::inline($topic['intro']) . '</p>';
  }
  print '</td><td>' . $topic['n'] . "</td></tr>\n";
  $total += $topic['n'];
}
?>
</tbody>
<tfoot>
<tr><td>Together</td><td><?php print $total; ?></td></tr>
</tfoot>
</table>
<?php
open_box('New answers', 'newest');
print "<ul>\n";
foreach ($newest as $entry) {
  print '<li>' . link_to('question.php?id=' . $entry->id, $entry->question)
    . ', ' . format_date($entry->created) . "</li>\n";
}
print "</ul>\n";
close_box();
if (has_role('editor')) {
  $waiting = Entry::count("status = 'pending'");
  open_box('For editors');
  if ($waiting > 0) {
    print '<p>' . link_to('admin.php', plural($waiting, 'question waits',
      'questions wait')) . "</p>\n";
  } else {
    print "<p>Nothing waits.</p>\n";
  }
  close_box();
}
include 'includes/footer.php';
