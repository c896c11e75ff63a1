<?php
// Who was here: one class on one day.
$classes = $db->map('SELECT id, name FROM classes ORDER BY name');
$class = input_id('class');
$day = input('day', setting('today'));
$error = '';
if ($class > 0 && !isset($classes[$class])) {
  $error = 'There is no such class.';
} elseif (!is_date($day)) {
  $error = 'Dates look like 2010-12-31.';
} elseif ($day > setting('today')) {
  $error = 'That day is still to come.';
}
$ready = $class > 0 && $error == '';
$students = $ready ? Student::find('s.class_id = ? ORDER BY s.name', $class)
  : array();
if ($ready && input('save') != '') {
  foreach ($students as $student) {
    $state = $_POST['state'][$student->id] ?? '';
    if (isset($states[$state])) {
      $db->query('REPLACE INTO attendance VALUES (?, ?, ?)', $student->id,
        $day, $state);
    }
  }
  say('Saved for ' . show_date($day) . '.');
  go_to('attendance', array('class' => $class, 'day' => $day));
}
echo "<h2>Attendance</h2>\n";
if ($error != '') {
  echo '<p class="error">', e($error), "</p>\n";
}
$form = new Form('attendance', array(), array(), 'get');
$form->choice('class', 'Class', $classes, $class, 'choose');
$form->text('day', 'Day', $day);
$form->end('Show');
if ($ready) {
  $known = $db->map('SELECT student_id, state FROM attendance WHERE day = ?',
    $day);
  echo '<form action="index.php" method="post">', "\n<fieldset>\n<legend>",
    e($classes[$class]), ', ', show_date($day), "</legend>\n";
  echo '<input type="hidden" name="page" value="attendance">', "\n",
    '<input type="hidden" name="class" value="', $class, "\">\n",
    '<input type="hidden" name="day" value="', e($day), "\">\n";
  foreach ($students as $student) {
    echo "<div class=\"pupil\">\n<span>", e($student->name), "</span>\n";
    foreach ($states as $state => $text) {
      $mark = ($known[$student->id] ?? '') == $state ? ' checked' : '';
      echo "<label><input type=\"radio\" name=\"state[{$student->id}]\"",
        " value=\"$state\"$mark> $text</label>\n";
    }
    if (!isset($known[$student->id])) {
      echo "<em>new</em>\n";
    }
    echo "</div>\n";
  }
  if (count($students) == 0) {
    echo "<p>Nobody is in this class.</p>\n";
  } else {
    echo '<button type="submit" name="save" value="1">Save</button>', "\n";
  }
  echo "</fieldset>\n</form>\n";
}
