<?php
// A topic, or everything, as one long page to print.
require 'includes/start.php';
$only = int_param('topic');
$topics = $only > 0
  ? db_all('SELECT * FROM topics WHERE id = ?', array($only))
  : db_all('SELECT * FROM topics ORDER BY position');
$chapters = array();
foreach ($topics as $topic) {
  $entries = Entry::find("topic_id = ? AND status = 'published'",
    array($topic['id']), 'id');
  if (count($entries) > 0) {
    $chapters[] = array('topic' => $topic, 'entries' => $entries);
  }
}
?>
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title><?php print FAQ_TITLE; ?></title>
</head>
<body>
<h1><?php print FAQ_TITLE; ?></h1>
<?php if (count($chapters) > 1) { ?>
<ol id="contents">
<?php foreach ($chapters as $number => $chapter) { ?>
<li><a href="#chapter<?php print $number + 1; ?>"><?php
print h($chapter['topic']['title']);
?></a>
<ol>
<?php
    foreach ($chapter['entries'] as $entry) {
      print "<li><a href=\"#entry{$entry->id}\">" . h($entry->question)
        . "</a></li>\n";
    }
?>
</ol>
</li>
<?php } ?>
</ol>
<?php
} elseif (count($chapters) == 0) {
  print "<p>There is nothing to print.</p>\n";
}
foreach ($chapters as $number => $chapter) {
  print '<div class="chapter">' . "\n";
  print '<h2 id="chapter' . ($number + 1) . '">'
    . h($chapter['topic']['title']) . "</h2>\n";
  foreach ($chapter['entries'] as $position => $entry) {
    print "<h3 id=\"entry{$entry->id}\">" . ($number + 1) . '.'
      . ($position + 1) . ' ' . Markup::inline($entry->question) . "</h3>\n";
    print Markup::toHtml($entry->answer);
    $related = $entry->related();
    if (count($related) > 0) {
      $names = array();
      foreach ($related as $other) {
        $names[] = '<cite>' . h($other->question) . '</cite>';
      }
      print '<p>See also: ' . implode(', ', $names) . "</p>\n";
    }
  }
  print "</div>\n";
}
?>
</body>
</html>
