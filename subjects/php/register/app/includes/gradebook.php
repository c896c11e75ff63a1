<?php
// Marks of a course.

class Gradebook {
  private $course;
  public $assignments;
  private $marks = array();

  public function __construct($course) {
    $db = Database::get();
    $this->course = $course;
    $this->assignments = $db->rows('SELECT * FROM assignments'
      . ' WHERE course_id = ? ORDER BY due', $course['id']);
    foreach ($db->rows('SELECT m.* FROM marks m JOIN assignments a'
      . ' ON a.id = m.assignment_id WHERE a.course_id = ?',
      $course['id']) as $row) {
      $this->marks[$row['student_id']][$row['assignment_id']] = $row;
    }
  }

  // The row of table marks, or null.
  public function mark($student, $assignment) {
    return $this->marks[$student][$assignment] ?? null;
  }

  // Percentage over everything that was marked; null if nothing was.
  public function average($student) {
    $got = 0;
    $possible = 0;
    foreach ($this->assignments as $assignment) {
      $mark = $this->mark($student, $assignment['id']);
      if ($mark !== null && $mark['points'] !== null) {
        $got += $mark['points'];
        $possible += $assignment['points'];
      }
    }
    return $possible == 0 ? null : 100 * $got / $possible;
  }

  // Mean, least and greatest percentage of an assignment, or null.
  public function spread($assignment) {
    $percents = array();
    foreach ($this->marks as $marks) {
      $mark = $marks[$assignment['id']] ?? null;
      if ($mark !== null && $mark['points'] !== null) {
        $percents[] = 100 * $mark['points'] / $assignment['points'];
      }
    }
    if (count($percents) == 0) {
      return null;
    }
    return array(array_sum($percents) / count($percents), min($percents),
      max($percents));
  }

  public function save($student, $assignment, $points, $note) {
    Database::get()->query('REPLACE INTO marks VALUES (?, ?, ?, ?)',
      $assignment, $student, $points, $note);
  }
}

function letter($percent) {
  global $letters;
  foreach ($letters as $letter => $least) {
    if ($percent >= $least) {
      return $letter;
    }
  }
  return 'F';
}

function show_average($percent) {
  if ($percent === null) {
    return '<span class="none">no marks</span>';
  }
  return '<b>' . letter($percent) . '</b> ' . bar($percent);
}
