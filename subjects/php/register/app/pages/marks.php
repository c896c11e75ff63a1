<?php
// The marks of one assignment, as a form with a line for each pupil.
$assignment = $db->row('SELECT * FROM assignments WHERE id = ?',
  input_id('id'));
$course = $assignment === null ? null
  : $db->row('SELECT * FROM courses WHERE id = ?', $assignment['course_id']);
if ($course === null || !$user->teaches($course)) {
  http_response_code($course === null ? 404 : 403);
  $reason = 'These marks are not yours.';
  include 'templates/refused.php';
  return;
}
$book = new Gradebook($course);
$students = Student::find('s.class_id = ? ORDER BY s.name',
  $course['class_id']);

// What was typed for a pupil: (points or null, note, what is wrong).
function typed_mark($student, $most) {
  $text = trim($_POST['points'][$student->id] ?? '');
  $note = trim($_POST['note'][$student->id] ?? '');
  if ($text == '') {
    return array(null, $note, '');
  }
  if (!ctype_digit($text)) {
    return array(null, $note, 'not a number');
  }
  if ((int) $text > $most) {
    return array((int) $text, $note, "more than $most");
  }
  return array((int) $text, $note, '');
}

$problems = array();
if (input('save') != '') {
  $saved = 0;
  foreach ($students as $student) {
    list($points, $note, $problem) = typed_mark($student,
      $assignment['points']);
    if ($problem != '') {
      $problems[$student->name] = $problem;
    } elseif ($points !== null || $note != '') {
      $book->save($student->id, $assignment['id'], $points, $note);
      $saved++;
    }
  }
  if (count($problems) == 0) {
    say("$saved marks saved.");
    go_to('course', array('id' => $course['id']));
  }
  $book = new Gradebook($course);
}
?>
<h2><?php echo e($assignment['title']); ?></h2>
<p><?php echo e($course['title']), ', ', $assignment['points'], ' points';
if ($assignment['due'] > setting('today')) {
  echo ' <em>not yet due</em>';
}
?></p>
<?php if (count($problems) > 0) { ?>
<div class="error">
<ul>
<?php
  foreach ($problems as $name => $problem) {
    echo '<li>', e($name), ': ', e($problem), "</li>\n";
  }
?>
</ul>
</div>
<?php } ?>
<form action="index.php" method="post">
<div>
<input type="hidden" name="page" value="marks">
<input type="hidden" name="id" value="<?php echo $assignment['id']; ?>">
</div>
<?php
$table = new Table(array('Name', 'Points', 'Note'));
foreach ($students as $student) {
  $mark = $book->mark($student->id, $assignment['id']);
  $points = $mark === null ? '' : $mark['points'];
  $note = $mark === null ? '' : $mark['note'];
  $table->row(array(
    '<label for="p' . $student->id . '">' . e($student->name) . '</label>',
    '<input name="points[' . $student->id . ']" id="p' . $student->id
      . '" value="' . e($points) . '">',
    '<input name="note[' . $student->id . ']" value="' . e($note)
      . '" aria-label="Note">'));
}
$table->end('Nobody to mark.');
?>
<p><button type="submit" name="save" value="1">Save</button></p>
</form>
