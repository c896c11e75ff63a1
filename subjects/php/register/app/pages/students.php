<?php
// All pupils, or those of a class, or those with a name.
$class = input_id('class');
$search = input('search');
$sorts = array('name' => 's.name, s.id', 'born' => 's.born, s.id',
  'class' => 'c.name, s.name');
$sort = isset($sorts[input('sort')]) ? input('sort') : 'name';
$where = '1';
$values = array();
if ($class > 0) {
  $where .= ' AND s.class_id = ?';
  $values[] = $class;
}
if ($search != '') {
  $where .= ' AND s.name LIKE ?';
  $values[] = '%' . addcslashes($search, '%_') . '%';
}
$total = Student::count($where, ...$values);
$per_page = (int) setting('per_page');
$parts = max(1, (int) ceil($total / $per_page));
$part = min(max(1, input_id('part')), $parts);
$students = Student::find("$where ORDER BY {$sorts[$sort]} LIMIT $per_page"
  . ' OFFSET ' . ($part - 1) * $per_page, ...$values);
$more = array('class' => $class, 'search' => $search);
?>
<h2>Pupils</h2>
<?php
$form = new Form('students', array(), array('sort' => $sort), 'get');
$form->text('search', 'Name', $search, 'search');
$form->choice('class', 'Class', $db->map('SELECT id, name FROM classes'
  . ' ORDER BY name'), $class, 'all');
$form->end('Show');
?>
<p>Sort by
<?php
$links = array();
foreach ($sorts as $name => $order) {
  $links[] = $name == $sort ? "<b>$name</b>"
    : anchor('students', $more + array('sort' => $name), $name);
}
echo implode(', ', $links);
?>
</p>
<?php
$table = new Table(array('Name', 'Class', 'Age', ''),
  $total == 1 ? '1 pupil' : "$total pupils");
foreach ($students as $student) {
  $tools = anchor('report', array('id' => $student->id), 'report');
  if ($user->may('student_edit')) {
    $tools .= ' ' . anchor('student_edit', array('id' => $student->id), 'edit');
  }
  $table->row(array(
    anchor('student', array('id' => $student->id), $student->name),
    $student->className === null ? '-' : e($student->className),
    age($student->born, setting('today')), $tools),
    $student->note != '' ? 'noted' : '');
}
$table->end('Nobody has such a name.');
$more['sort'] = $sort;
include 'templates/pages.php';
if ($user->may('student_edit')) {
  echo '<p>', anchor('student_edit', array(), 'Add a pupil'), "</p>\n";
}
