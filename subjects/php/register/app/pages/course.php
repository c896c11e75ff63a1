<?php
// One course: its pupils and its assignments.
$course = $db->row('SELECT c.*, k.name AS class_name FROM courses c'
  . ' JOIN classes k ON k.id = c.class_id WHERE c.id = ?', input_id('id'));
if ($course === null || !$user->teaches($course)) {
  http_response_code($course === null ? 404 : 403);
  $reason = $course === null ? 'There is no such course.'
    : 'This is not your course.';
  include 'templates/refused.php';
  return;
}
$errors = array();
if (input('add') != '') {
  if (input('title') == '') {
    $errors['title'] = 'A title, please.';
  }
  if (!is_date(input('due'))) {
    $errors['due'] = 'Dates look like 2010-12-31.';
  }
  if (input_id('points') == 0) {
    $errors['points'] = 'How many points?';
  }
  if (count($errors) == 0) {
    $db->query('INSERT INTO assignments (course_id, title, due, points)'
      . ' VALUES (?, ?, ?, ?)', $course['id'], input('title'), input('due'),
      input_id('points'));
    go_to('course', array('id' => $course['id']));
  }
}
$book = new Gradebook($course);
$students = Student::find('s.class_id = ? ORDER BY s.name',
  $course['class_id']);

// "mean (least to greatest)" of an assignment.
function spread_text($spread) {
  if ($spread === null) {
    return '-';
  }
  list($mean, $least, $greatest) = $spread;
  return bar($mean) . ' (' . round($least) . ' to ' . round($greatest) . ')';
}
?>
<h2><?php echo e($course['title']); ?>, <?php echo e($course['class_name']); ?>
</h2>
<?php
$columns = array('Name');
foreach ($book->assignments as $assignment) {
  $columns[] = $assignment['title'];
}
$columns[] = 'Mark';
$table = new Table($columns, 'Pupils');
foreach ($students as $student) {
  $average = $book->average($student->id);
  $table->startRow($average !== null && $average < setting('pass_mark')
    ? 'failing' : '');
  $table->cell(anchor('student', array('id' => $student->id),
    $student->name));
  foreach ($book->assignments as $assignment) {
    $mark = $book->mark($student->id, $assignment['id']);
    if ($mark === null) {
      $table->cell('');
    } elseif ($mark['points'] === null) {
      $table->cell('<i>' . e($mark['note']) . '</i>');
    } else {
      $table->cell($mark['points']);
    }
  }
  $table->cell(show_average($average));
  $table->endRow();
}
$table->end('This class is empty.');
?>
<h3>Assignments</h3>
<?php
if (count($book->assignments) == 0) {
  echo "<p>None yet.</p>\n";
} else {
  echo "<dl>\n";
  foreach ($book->assignments as $assignment) {
    echo '<dt>', anchor('marks', array('id' => $assignment['id']),
      $assignment['title']), "</dt>\n<dd>", show_date($assignment['due']),
      ', ', $assignment['points'], ' points, ',
      spread_text($book->spread($assignment)), "</dd>\n";
  }
  echo "</dl>\n";
}
$form = new Form('course', $errors, array('id' => $course['id']));
$form->text('title', 'Title', input('title'));
$form->text('due', 'Due', input('due'));
$form->text('points', 'Points', input('points'), 'number');
$form->end('Add', 'add');
