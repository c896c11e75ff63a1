<div id="sidebar">
<h2>Often read</h2>
<?php
$popular = Entry::find("status = 'published' AND views > 50", array(),
  'views DESC', 3);
if (count($popular) > 0) {
  print "<ol>\n";
  foreach ($popular as $hit) {
    print '<li>' . link_to('question.php?id=' . $hit->id, $hit->question);
    if (has_role('editor')) {
      print " <small>{$hit->views}</small>";
    }
    print "</li>\n";
  }
  print "</ol>\n";
}
$cloud = db_all('SELECT tag, COUNT(*) AS n FROM tags GROUP BY tag'
  . ' ORDER BY tag');
?>
<h2>Tags</h2>
<?php
print "<p class=\"tags\">\n";
foreach ($cloud as $word) {
  $size = $word['n'] > 1 ? 'large' : 'small';
  print '<span class="' . $size . '">'
    . link_to('search.php?tag=' . urlencode($word['tag']), $word['tag'])
    . "</span>\n";
}
print "</p>\n";
?>
</div>
