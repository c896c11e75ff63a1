<?php
// The week as a grid. A lesson of two periods is a cell of two rows.

// Day => period => lesson.
function week($where, $value) {
  $week = array();
  foreach (Database::get()->rows('SELECT l.*, c.title, c.room,'
    . ' k.name AS class_name FROM lessons l JOIN courses c'
    . ' ON c.id = l.course_id JOIN classes k ON k.id = c.class_id'
    . " WHERE $where ORDER BY l.day, l.period, k.name", $value) as $lesson) {
    $week[$lesson['day']][$lesson['period']] = $lesson;
  }
  return $week;
}

function print_lesson($lesson) {
  $span = $lesson['length'] > 1 ? " rowspan=\"{$lesson['length']}\"" : '';
  echo "<td$span>\n<b>", e($lesson['title']), '</b> ',
    e($lesson['class_name']), "\n";
  if ($lesson['room'] !== null) {
    echo '<span class="room">', e($lesson['room']), "</span>\n";
  }
  echo "</td>\n";
}

function print_week($week, $days) {
  echo "<table class=\"week\">\n<thead>\n<tr><th></th>\n";
  foreach ($days as $day) {
    echo "<th>$day</th>\n";
  }
  echo "</tr>\n</thead>\n<tbody>\n";
  $busy = array_fill_keys(array_keys($days), 0);
  for ($period = 1; $period <= PERIODS; $period++) {
    echo "<tr><th>$period</th>\n";
    foreach ($days as $day => $name) {
      $lesson = $week[$day][$period] ?? null;
      if ($busy[$day] > 0) {
        $busy[$day]--;
      } elseif ($lesson !== null) {
        print_lesson($lesson);
        $busy[$day] = $lesson['length'] - 1;
      } else {
        echo "<td></td>\n";
      }
    }
    echo "</tr>\n";
  }
  echo "</tbody>\n</table>\n";
}

$class = input_id('class');
$week = array();
if ($user->role == 'student') {
  $me = Student::load($user->personId);
  $class = (int) $me->classId;
  $week = week('c.class_id = ?', $class);
} elseif ($class > 0) {
  $week = week('c.class_id = ?', $class);
} elseif ($user->role == 'teacher') {
  $week = week('c.teacher_id = ?', $user->personId);
}
echo "<h2>Timetable</h2>\n";
if ($user->role != 'student') {
  $form = new Form('timetable', array(), array(), 'get');
  $form->choice('class', 'Class', $db->map('SELECT id, name FROM classes'
    . ' ORDER BY name'), $class, 'my own');
  $form->end('Show');
}
if (count($week) > 0) {
  print_week($week, $days);
  $hours = 0;
  foreach ($week as $lessons) {
    $hours += array_sum(array_column($lessons, 'length'));
  }
  echo "<p>$hours periods on ", count($week), " days, ",
    round($hours / count($week), 1), " a day.</p>\n";
} else {
  echo "<p class=\"none\">No lessons.</p>\n";
}
