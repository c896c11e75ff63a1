<?php
// Where the database is; the environment wins.
$config = array(
  'socket' => getenv('REGISTER_SOCKET') ?: '/run/mysqld/mysqld.sock',
  'user' => getenv('REGISTER_USER') ?: 'register',
  'password' => getenv('REGISTER_PASSWORD') ?: '',
  'database' => getenv('REGISTER_DB') ?: 'register',
);

$days = array(1 => 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday');
define('PERIODS', 5);

$states = array('present' => 'Present', 'late' => 'Late', 'absent' => 'Absent',
  'excused' => 'Excused');

// The least percentage for a letter, best first.
$letters = array('A' => 90, 'B' => 75, 'C' => 60, 'D' => 50, 'F' => 0);

// Page, title in the menu, who may see it.
$pages = array(
  'home' => array('Home', array('admin', 'teacher', 'student', 'parent')),
  'students' => array('Pupils', array('admin', 'teacher')),
  'classes' => array('Classes', array('admin', 'teacher')),
  'courses' => array('Courses', array('admin', 'teacher')),
  'attendance' => array('Attendance', array('admin', 'teacher')),
  'timetable' => array('Timetable', array('admin', 'teacher', 'student')),
  'news' => array('News', array('admin', 'teacher', 'student', 'parent')),
  'users' => array('Accounts', array('admin')),
  'import' => array('Import', array('admin')),
  // Not in the menu:
  'student' => array('', array('admin', 'teacher')),
  'student_edit' => array('', array('admin')),
  'course' => array('', array('admin', 'teacher')),
  'marks' => array('', array('admin', 'teacher')),
  'report' => array('', array('admin', 'teacher', 'student', 'parent')),
);
