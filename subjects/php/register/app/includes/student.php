<?php
// Pupils.

class Student {
  public $id;
  public $name;
  public $born;
  public $note;
  public $classId;
  public $className;
  public $guardianId;

  private function __construct($row) {
    $this->id = (int) $row['id'];
    $this->name = $row['name'];
    $this->born = $row['born'];
    $this->note = $row['note'];
    $this->classId = $row['class_id'];
    $this->className = $row['class_name'];
    $this->guardianId = $row['guardian_id'];
  }

  public static function find($where, ...$values) {
    $students = array();
    $rows = Database::get()->rows('SELECT s.*, c.name AS class_name'
      . ' FROM students s LEFT JOIN classes c ON c.id = s.class_id'
      . " WHERE $where", ...$values);
    foreach ($rows as $row) {
      $students[] = new Student($row);
    }
    return $students;
  }

  public static function load($id) {
    $found = self::find('s.id = ?', $id);
    return count($found) == 1 ? $found[0] : null;
  }

  public static function count($where, ...$values) {
    return (int) Database::get()->value('SELECT COUNT(*) FROM students s'
      . " WHERE $where", ...$values);
  }

  public function courses() {
    return Database::get()->rows('SELECT * FROM courses WHERE class_id = ?'
      . ' ORDER BY title', $this->classId);
  }

  public function guardian() {
    return Database::get()->row('SELECT * FROM users WHERE id = ?',
      $this->guardianId);
  }

  // How many days of each state.
  public function attendance() {
    return Database::get()->map('SELECT state, COUNT(*) FROM attendance'
      . ' WHERE student_id = ? GROUP BY state', $this->id);
  }

  // The share of days here, in percent; null if nothing is known.
  public function presence() {
    $days = $this->attendance();
    $total = array_sum($days);
    if ($total == 0) {
      return null;
    }
    $here = ($days['present'] ?? 0) + ($days['late'] ?? 0);
    return 100 * $here / $total;
  }
}
