<?php
// Words, a topic, a tag: all that is given must fit.
require 'includes/start.php';

// The WHERE clause and its arguments.
function search_condition($words, $topic, $tag, $author) {
  $where = array("status = 'published'");
  $args = array();
  foreach ($words as $word) {
    $where[] = '(question LIKE ? OR answer LIKE ?)';
    $args[] = "%$word%";
    $args[] = "%$word%";
  }
  if ($topic > 0) {
    $where[] = 'topic_id = ?';
    $args[] = $topic;
  }
  if ($tag != '') {
    $where[] = 'id IN (SELECT entry_id FROM tags WHERE tag = ?)';
    $args[] = $tag;
  }
  if ($author != '') {
    $where[] = 'author = ?';
    $args[] = $author;
  }
  return array(implode(' AND ', $where), $args);
}

$query = param('q');
$topic = int_param('topic');
$tag = param('tag');
$author = param('author');
$words = preg_split('/\s+/', $query, -1, PREG_SPLIT_NO_EMPTY);
$asked = count($words) > 0 || $topic > 0 || $tag . $author != '';
$short = array();
foreach ($words as $word) {
  if (strlen($word) < 2) {
    $short[] = $word;
  }
}

$title = 'Search';
$section = 'search.php';
include 'includes/header.php';
?>
<form action="search.php" method="get" id="search">
<?php
print text_field('q', 'Words', $query, 'search');
print select_field('topic', 'Topic', topic_options('all topics'), $topic);
?>
<button type="submit">Search</button>
</form>
<?php
if (count($short) > 0) {
  print '<p class="error">Too short: ';
  foreach ($short as $i => $word) {
    if ($i > 0) {
      print ', ';
    }
    print '<q>' . h($word) . '</q>';
  }
  print "</p>\n";
} elseif ($asked) {
  list($where, $args) = search_condition($words, $topic, $tag,
    $author);
  $count = Entry::count($where, $args);
  $url = 'search.php?q=' . urlencode($query) . '&topic=' . $topic . '&tag='
    . urlencode($tag) . '&author=' . urlencode($author);
  $pager = new Pager($count, setting('per_page'), int_param('page', 1), $url);
  $entries = Entry::find($where, $args, 'id', $pager->limit(),
    $pager->from());
  print '<div class="found">';
  if ($tag != '') {
    print '<h2>Tag <q>' . h($tag) . '</q></h2>';
  }
  print '<p>' . plural($count, 'answer', 'answers') . " found.</p></div>\n";
  $empty = 'Try other words.';
  include 'includes/entry_list.php';
  $pager->show();
} else {
?>
<p>Type a word, choose a topic, or do both.</p>
<?php
}
include 'includes/footer.php';
