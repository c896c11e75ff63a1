<?php
// All courses; the office adds new ones.
$errors = array();
$classes = $db->map('SELECT id, name FROM classes ORDER BY name');
$teachers = $db->map('SELECT id, name FROM teachers ORDER BY name');
if (input('add') != '' && $user->role == 'admin') {
  if (input('title') == '') {
    $errors['title'] = 'What is it about?';
  }
  if (!isset($classes[input('class')])) {
    $errors['class'] = 'For whom is it?';
  }
  if (count($errors) == 0) {
    $teacher = isset($teachers[input('teacher')]) ? input('teacher') : null;
    $room = input('room') == '' ? null : input('room');
    $db->query('INSERT INTO courses (title, class_id, teacher_id, room)'
      . ' VALUES (?, ?, ?, ?)', input('title'), input('class'), $teacher,
      $room);
    say('Added: ' . input('title'));
    go_to('courses');
  }
}
$courses = $db->rows('SELECT c.*, k.name AS class_name, t.name AS teacher'
  . ' FROM courses c JOIN classes k ON k.id = c.class_id'
  . ' LEFT JOIN teachers t ON t.id = c.teacher_id'
  . ' ORDER BY k.name, c.title, c.id');
?>
<h2>Courses</h2>
<table>
<?php
$group = null;
foreach ($courses as $course) {
  if ($course['class_name'] !== $group) {
    if ($group !== null) {
      echo "</tbody>\n";
    }
    $group = $course['class_name'];
    echo "<tbody>\n<tr><th colspan=\"3\">", e($group), "</th></tr>\n";
  }
  echo '<tr><td>';
  if ($user->teaches($course)) {
    echo anchor('course', array('id' => $course['id']), $course['title']);
  } else {
    echo e($course['title']);
  }
  echo '</td><td>', $course['teacher'] === null ? '<em>nobody</em>'
    : e($course['teacher']), '</td><td>', e($course['room'] ?? '-'),
    "</td></tr>\n";
}
if ($group !== null) {
  echo "</tbody>\n";
}
?>
</table>
<?php
if ($user->role == 'admin') {
  echo "<section>\n<h3>New course</h3>\n";
  $form = new Form('courses', $errors);
  $form->text('title', 'Title', input('title'));
  $form->choice('class', 'Class', $classes, input('class'), 'choose');
  $form->choice('teacher', 'Teacher', $teachers, input('teacher'), 'nobody');
  $form->text('room', 'Room', input('room'));
  $form->end('Add', 'add');
  echo "</section>\n";
}
