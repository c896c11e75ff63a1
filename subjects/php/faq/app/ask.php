<?php
// A visitor's question. Editors answer it later.
require 'includes/start.php';
$errors = array();
$question = param('question');
$name = param('name');
$similar = array();

// Published questions that share a longer word with this one.
function similar_questions($question) {
  $found = array();
  foreach (preg_split('/\W+/', $question, -1, PREG_SPLIT_NO_EMPTY) as $word) {
    if (strlen($word) < 5) {
      continue;
    }
    foreach (Entry::find("status = 'published' AND question LIKE ?",
      array("%$word%"), 'id') as $entry) {
      $found[$entry->id] = $entry;
    }
  }
  return $found;
}

if (param('send') != '') {
  if ($question == '') {
    $errors['question'] = 'There is no question.';
  } elseif (strlen($question) > MAX_QUESTION) {
    $errors['question'] = 'The question is longer than ' . MAX_QUESTION
      . ' characters.';
  }
  if (!isset(topic_options()[int_param('topic')])) {
    $errors['topic'] = 'Please choose a topic.';
  }
  if (count($errors) == 0 && param('sure') == '') {
    $similar = similar_questions($question);
  }
  if (count($errors) == 0 && count($similar) == 0) {
    $entry = new Entry();
    $entry->topicId = int_param('topic');
    $entry->question = $question;
    $entry->author = $name;
    $entry->status = 'pending';
    $entry->save();
    flash('Your question was sent.');
    redirect('index.php');
  }
}

$title = 'Ask a question';
$section = 'ask.php';
include 'includes/header.php';
print_errors($errors);
if (count($similar) > 0) {
  open_box('Is it one of these?');
  print "<ol>\n";
  foreach ($similar as $entry) {
    print '<li>' . link_to('question.php?id=' . $entry->id, $entry->question)
      . "</li>\n";
  }
  print "</ol>\n";
  close_box();
}
?>
<form action="ask.php" method="post">
<fieldset>
<legend>Your question</legend>
<?php
print text_field('question', 'Question', $question);
print select_field('topic', 'Topic', topic_options('choose one'),
  int_param('topic'));
if (current_user() === null) {
  print text_field('name', 'Your name', $name);
}
if (count($similar) > 0) {
?>
<div><input type="checkbox" name="sure" id="sure" value="1">
<label for="sure">No, mine is different</label></div>
<?php } ?>
</fieldset>
<button type="submit" name="send" value="1">Send</button>
</form>
<?php
include 'includes/footer.php';
