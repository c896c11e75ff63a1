<?php
// Classes with their pupils; one can be opened.
$chosen = input_id('id');
$classes = $db->rows('SELECT c.*, t.name AS teacher, t.room, t.email'
  . ' FROM classes c LEFT JOIN teachers t ON t.id = c.teacher_id'
  . ' ORDER BY c.name');

// Class teacher with room and address, as far as known.
function teacher_line($class) {
  if ($class['teacher'] === null) {
    return '<span class="none">no teacher</span>';
  }
  $html = e($class['teacher']);
  if ($class['room'] !== null) {
    $html .= ' <span class="room">' . e($class['room']) . '</span>';
  }
  if ($class['email'] != '') {
    $html .= ' <a href="mailto:' . e($class['email']) . '">mail</a>';
  }
  return $html;
}

function print_class_members($students) {
  if (count($students) == 0) {
    echo "<p>Nobody.</p>\n";
    return;
  }
  echo "<ol>\n";
  foreach ($students as $i => $student) {
    echo '<li>', anchor('student', array('id' => $student->id),
      $student->name);
    if ($i == 0) {
      echo ' <small>(speaker)</small>';
    }
    echo "</li>\n";
  }
  echo "</ol>\n";
}
?>
<h2>Classes</h2>
<div id="classes">
<?php foreach ($classes as $class) { ?>
<div class="class" id="class<?php echo $class['id']; ?>">
<h3><?php echo e($class['name']); ?></h3>
<p><?php echo teacher_line($class); ?></p>
<?php
  $students = Student::find('s.class_id = ? ORDER BY s.name', $class['id']);
  if ($class['id'] == $chosen) {
    print_class_members($students);
    echo '<p>', anchor('classes', array(), 'Close'), "</p>\n";
  } else {
    echo '<p>', anchor('classes', array('id' => $class['id']),
      count($students) . ' pupils'), "</p>\n";
  }
?>
</div>
<?php } ?>
</div>
