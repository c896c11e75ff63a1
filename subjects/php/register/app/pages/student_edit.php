<?php
// Adds or changes a pupil.
$id = input_id('id');
$classes = $db->map('SELECT id, name FROM classes ORDER BY name');
$guardians = $db->map("SELECT id, login FROM users WHERE role = 'parent'"
  . ' ORDER BY login');
$values = array('name' => '', 'born' => '', 'class_id' => '',
  'guardian_id' => '', 'note' => '');
if ($id > 0) {
  $row = $db->row('SELECT * FROM students WHERE id = ?', $id);
  if ($row === null) {
    say('There is no such pupil.');
    go_to('students');
  }
  foreach ($values as $name => $value) {
    $values[$name] = $row[$name];
  }
}

function student_errors($values, $classes, $guardians) {
  $errors = array();
  if ($values['name'] == '') {
    $errors['name'] = 'A name, please.';
  } elseif (strlen($values['name']) > 40) {
    $errors['name'] = 'This name is too long.';
  }
  if (!is_date($values['born'])) {
    $errors['born'] = 'Dates look like 1999-12-31.';
  } elseif (age($values['born'], setting('today')) < 5) {
    $errors['born'] = 'Too young for this school.';
  }
  if ($values['class_id'] != '' && !isset($classes[$values['class_id']])) {
    $errors['class_id'] = 'There is no such class.';
  }
  if ($values['guardian_id'] != ''
    && !isset($guardians[$values['guardian_id']])) {
    $errors['guardian_id'] = 'There is no such guardian.';
  }
  return $errors;
}

$errors = array();
if (input('delete') != '' && $id > 0) {
  $db->query('DELETE FROM marks WHERE student_id = ?', $id);
  $db->query('DELETE FROM attendance WHERE student_id = ?', $id);
  $db->query('DELETE FROM students WHERE id = ?', $id);
  say($values['name'] . ' has left.');
  go_to('students');
}
if (input('save') != '') {
  foreach ($values as $name => $value) {
    $values[$name] = input($name);
  }
  $errors = student_errors($values, $classes, $guardians);
  if (count($errors) == 0) {
    $class = $values['class_id'] == '' ? null : $values['class_id'];
    $guardian = $values['guardian_id'] == '' ? null : $values['guardian_id'];
    if ($id > 0) {
      $db->query('UPDATE students SET name = ?, born = ?, class_id = ?,'
        . ' guardian_id = ?, note = ? WHERE id = ?', $values['name'],
        $values['born'], $class, $guardian, $values['note'], $id);
    } else {
      $db->query('INSERT INTO students (name, born, class_id, guardian_id,'
        . ' note) VALUES (?, ?, ?, ?, ?)', $values['name'], $values['born'], $class,
        $guardian, $values['note']);
      $id = $db->lastId();
    }
    say('Saved.');
    go_to('student', array('id' => $id));
  }
}
echo '<h2>', $id > 0 ? 'Change a pupil' : 'Add a pupil', "</h2>\n";
if (count($errors) > 0) {
  echo '<p class="error">', count($errors), count($errors) == 1 ? ' field is'
    : ' fields are', " not right.</p>\n";
}
$form = new Form('student_edit', $errors, $id > 0 ? array('id' => $id)
  : array());
$form->text('name', 'Name', $values['name']);
$form->text('born', 'Born', $values['born']);
$form->choice('class_id', 'Class', $classes, $values['class_id'], 'none');
$form->choice('guardian_id', 'Guardian', $guardians, $values['guardian_id'],
  'none');
$form->area('note', 'Note', $values['note']);
$form->end('Save', 'save');
if ($id > 0) {
  $form = new Form('student_edit', array(), array('id' => $id));
  $form->end('Delete', 'delete');
}
