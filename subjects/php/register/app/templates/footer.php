</main>
<footer>
<?php
if ($user !== null && $user->role == 'admin') {
  $counts = array();
  foreach (array('students', 'teachers', 'courses') as $table) {
    $counts[] = Database::get()->value("SELECT COUNT(*) FROM $table") . ' '
      . $table;
  }
  echo '<p>', implode(', ', $counts), "</p>\n";
} else {
  echo '<p>', e(setting('school')), "</p>\n";
}
?>
</footer>
</body>
</html>
