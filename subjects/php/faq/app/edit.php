<?php
// Writes an answer, or a whole new entry.
require 'includes/start.php';
require_role('editor');
$id = int_param('id');
$entry = $id == 0 ? new Entry() : Entry::load($id);
$section = 'admin.php';
if ($entry === null) {
  http_response_code(404);
  $title = 'No such question';
  include 'includes/header.php';
  print '<p>' . link_to('admin.php', 'Back to the desk') . "</p>\n";
  include 'includes/footer.php';
  exit;
}
$errors = array();
$tags = implode(' ', $entry->tags());
$preview = param('send') == 'preview';
if (param('send') != '') {
  $entry->question = param('question');
  $entry->answer = str_replace("\r", '', rtrim($_POST['answer'] ?? ''));
  $entry->topicId = int_param('topic');
  $entry->status = param('status');
  $tags = param('tags');
  if ($entry->question == '') {
    $errors['question'] = 'There is no question.';
  }
  if (!isset(topic_options()[$entry->topicId])) {
    $errors['topic'] = 'There is no such topic.';
  }
  if (!isset($statuses[$entry->status])) {
    $errors['status'] = 'There is no such status.';
  } elseif ($entry->status == 'published' && $entry->answer == '') {
    $errors['answer'] = 'Published entries need an answer.';
  }
}
if (param('send') == 'save' && count($errors) == 0) {
  if ($entry->author == '') {
    $me = current_user();
    $entry->author = $me['login'];
  }
  $entry->save();
  $entry->setTags($tags);
  flash('Saved.');
  redirect('question.php?id=' . $entry->id);
}

$title = $id == 0 ? 'New entry' : 'Edit entry';
include 'includes/header.php';
print_errors($errors);
if ($preview) {
  open_box('Preview', 'preview');
  print '<h3>' . Markup::inline($entry->question) . "</h3>\n";
  print Markup::toHtml($entry->answer);
  $words = preg_split('/\s+/', $tags, -1, PREG_SPLIT_NO_EMPTY);
  if (count($words) > 0) {
    print "<ul class=\"tags\">\n";
    for ($i = 0; $i < count($words); $i++) {
      print '<li>' . h($words[$i]) . "</li>\n";
    }
    print "</ul>\n";
  }
  close_box();
}
?>
<form action="edit.php" method="post">
<input type="hidden" name="id" value="<?php print $id; ?>">
<?php
print text_field('question', 'Question', $entry->question);
print select_field('topic', 'Topic', topic_options(), $entry->topicId);
print select_field('status', 'Status', $statuses, $entry->status);
print area_field('answer', 'Answer', $entry->answer, 12);
print text_field('tags', 'Tags', $tags);
?>
<button type="submit" name="send" value="preview">Preview</button>
<button type="submit" name="send" value="save">Save</button>
</form>
<?php
include 'includes/footer.php';
