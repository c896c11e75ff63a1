<?php
// The card of a pupil.
$student = Student::load(input_id('id'));
if ($student === null) {
  http_response_code(404);
  $reason = 'There is no such pupil.';
  include 'templates/refused.php';
  return;
}
$guardian = $student->guardian();
$presence = $student->presence();
?>
<section class="card">
<h2><?php echo e($student->name); ?></h2>
<dl>
<dt>Born</dt>
<dd><?php echo show_date($student->born); ?></dd>
<dt>Class</dt>
<?php if ($student->className === null) { ?>
<dd>none</dd>
<?php } else { ?>
<dd><?php echo anchor('classes', array('id' => $student->classId),
  $student->className); ?></dd>
<?php
}
if ($guardian !== null) {
  echo "<dt>Guardian</dt>\n<dd>", e($guardian['login']);
  if (!$guardian['active']) {
    echo ' <em>(switched off)</em>';
  }
  echo "</dd>\n";
}
if ($student->note != '') {
  echo "<dt>Note</dt>\n<dd>", e($student->note), "</dd>\n";
}
?>
</dl>
<h3>Courses</h3>
<?php
$table = new Table(array('Course', 'Mark'));
foreach ($student->courses() as $course) {
  $book = new Gradebook($course);
  $table->row(array(anchor('course', array('id' => $course['id']),
    $course['title']), show_average($book->average($student->id))));
}
$table->end('No courses.');
?>
<h3>Attendance</h3>
<?php
if ($presence === null) {
  echo "<p>Nothing is known.</p>\n";
} else {
  echo '<p>', bar($presence), "</p>\n<ul>\n";
  foreach ($student->attendance() as $state => $count) {
    echo "<li class=\"$state\">", $states[$state], ": $count</li>\n";
  }
  echo "</ul>\n";
}
?>
</section>
<p><?php
echo anchor('report', array('id' => $student->id), 'Report');
if ($user->may('student_edit')) {
  echo ', ', anchor('student_edit', array('id' => $student->id), 'edit');
}
?></p>
