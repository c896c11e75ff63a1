<?php
// Who is logged in.
session_start();

class User {
  public $id;
  public $login;
  public $role;
  public $personId;
  private $name = null;

  public static function current() {
    static $user = false;
    if ($user === false) {
      $row = Database::get()->row('SELECT * FROM users WHERE id = ?'
        . ' AND active = 1', $_SESSION['user'] ?? 0);
      $user = $row === null ? null : new User($row);
    }
    return $user;
  }

  public static function check($login, $password) {
    $row = Database::get()->row('SELECT * FROM users WHERE login = ?', $login);
    if ($row === null
      || hash('sha256', $row['salt'] . $password) != $row['hash']) {
      return 'Wrong name or password.';
    }
    if (!$row['active']) {
      return 'This account is switched off.';
    }
    $_SESSION['user'] = $row['id'];
    return '';
  }

  private function __construct($row) {
    $this->id = (int) $row['id'];
    $this->login = $row['login'];
    $this->role = $row['role'];
    $this->personId = (int) $row['person_id'];
  }

  public function name() {
    if ($this->name === null) {
      $table = array('teacher' => 'teachers', 'student' => 'students');
      if (isset($table[$this->role])) {
        $this->name = Database::get()->value('SELECT name FROM '
          . $table[$this->role] . ' WHERE id = ?', $this->personId);
      } else {
        $this->name = $this->login;
      }
    }
    return $this->name;
  }

  public function may($page) {
    global $pages;
    return isset($pages[$page]) && in_array($this->role, $pages[$page][1]);
  }

  // The pupils whose reports this user may read.
  public function ownStudents() {
    if ($this->role == 'student') {
      return Student::find('s.id = ?', $this->personId);
    }
    if ($this->role == 'parent') {
      return Student::find('s.guardian_id = ?', $this->id);
    }
    return array();
  }

  public function teaches($course) {
    return $this->role == 'admin' || ($this->role == 'teacher'
      && $course['teacher_id'] == $this->personId);
  }
}
