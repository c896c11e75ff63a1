<?php
// One shelf: its questions, a page at a time.
require 'includes/start.php';
$id = int_param('id');
$topic = db_row('SELECT * FROM topics WHERE id = ?', array($id));
$section = 'index.php';
$sidebar = true;
if ($topic === null) {
  http_response_code(404);
  $title = 'No such topic';
  include 'includes/header.php';
  print '<p>' . link_to('index.php', 'All topics') . "</p>\n";
  include 'includes/footer.php';
  exit;
}
$orders = array('id' => 'Oldest first', 'created DESC' => 'Newest first',
  'views DESC' => 'Most read');
$sort = param('sort', 'id');
if (!isset($orders[$sort])) {
  $sort = 'id';
}
$where = has_role('editor') ? 'topic_id = ?'
  : "topic_id = ? AND status = 'published'";
$count = Entry::count($where, array($id));
$pager = new Pager($count, setting('per_page'), int_param('page', 1),
  "topic.php?id=$id&sort=" . urlencode($sort));
$entries = Entry::find($where, array($id), $sort, $pager->limit(),
  $pager->from());

$title = $topic['title'];
include 'includes/header.php';
if ($topic['intro'] != '') {
  print '<div class="intro">' . Markup::toHtml($topic['intro']) . "</div>\n";
}
if ($count > 1) {
?>
<form action="topic.php" method="get">
<input type="hidden" name="id" value="<?php print $id; ?>">
<?php print select_field('sort', 'Order', $orders, $sort); ?>
<button type="submit">Sort</button>
</form>
<?php
}
$empty = 'Nothing on this shelf.';
include 'includes/entry_list.php';
$pager->show();
?>
<p><?php print link_to("print.php?topic=$id", 'Print this topic'); ?></p>
<?php
include 'includes/footer.php';
