<h2>Welcome, <?php echo e($user->name()); ?></h2>
<?php
// What the user wants to see first.

function print_birthdays($students, $today) {
  $names = array();
  foreach ($students as $student) {
    if (substr($student->born, 5) == substr($today, 5)) {
      $names[] = $student->name . ' (' . age($student->born, $today) . ')';
    }
  }
  if (count($names) > 0) {
    echo '<p class="birthday">Birthday: ', e(implode(', ', $names)), "</p>\n";
  }
}

function print_courses($courses) {
  if (count($courses) == 0) {
    echo "<p>You have no courses.</p>\n";
    return;
  }
  echo "<ul class=\"courses\">\n";
  foreach ($courses as $course) {
    echo '<li>', anchor('course', array('id' => $course['id']),
      $course['title'] . ', ' . $course['class_name']);
    if ($course['room'] !== null) {
      echo ' <span class="room">', e($course['room']), '</span>';
    }
    if ($course['open'] > 0) {
      echo "\n<em>", $course['open'], " to come</em>\n";
    }
    echo "</li>\n";
  }
  echo "</ul>\n";
}

$today = setting('today');
switch ($user->role) {
case 'admin':
  $homeless = Student::find('s.class_id IS NULL');
  print_birthdays(Student::find('1'), $today);
  if (count($homeless) > 0) {
?>
<section class="warning">
<h3>Without a class</h3>
<ul>
<?php
    foreach ($homeless as $student) {
      echo '<li>', anchor('student', array('id' => $student->id),
        $student->name), "</li>\n";
    }
?>
</ul>
</section>
<?php
  }
  break;
case 'teacher':
  print_courses($db->rows('SELECT c.*, k.name AS class_name, (SELECT COUNT(*)'
    . ' FROM assignments a WHERE a.course_id = c.id AND a.due > ?) AS open'
    . ' FROM courses c JOIN classes k ON k.id = c.class_id'
    . ' WHERE c.teacher_id = ? ORDER BY c.title, c.id', $today,
    $user->personId));
  $own = $db->row('SELECT * FROM classes WHERE teacher_id = ?',
    $user->personId);
  if ($own !== null) {
    echo '<h3>Your class: ', e($own['name']), "</h3>\n";
    print_birthdays(Student::find('s.class_id = ?', $own['id']), $today);
    echo '<p>', anchor('attendance', array('class' => $own['id']),
      'Attendance'), "</p>\n";
  }
  break;
default:
  $children = $user->ownStudents();
  echo "<div class=\"children\">\n";
  foreach ($children as $student) {
    $presence = $student->presence();
    echo "<div class=\"child\">\n<h3>", e($student->name), "</h3>\n";
    echo '<p>Class: ', $student->className === null ? 'none'
      : e($student->className), "</p>\n";
    if ($presence !== null) {
      echo '<p>Present: ', bar($presence), "</p>\n";
    }
    echo '<p>', anchor('report', array('id' => $student->id), 'Report'),
      "</p>\n</div>\n";
  }
  if (count($children) == 0) {
    echo "<p>No child is registered for you.</p>\n";
  }
  echo "</div>\n";
}
$news = $db->rows('SELECT * FROM announcements WHERE audience IN (?, ?)'
  . ' ORDER BY posted DESC LIMIT 2', 'all', $user->role);
?>
<aside>
<h3>News</h3>
<?php foreach ($news as $item) { ?>
<article>
<h4><?php echo e($item['title']); ?></h4>
<?php echo format_text($item['body']); ?>
</article>
<?php } ?>
</aside>
