<?php
// Pupils from a list: name; born; class.
$classes = $db->map('SELECT name, id FROM classes');
$text = input('list');
$lines = $text == '' ? array() : explode("\n", str_replace("\r", '', $text));

// A line of the list: (values, what is wrong).
function read_line($line, $classes) {
  $fields = array_map('trim', explode(';', $line));
  if (count($fields) != 3) {
    return array($fields, 'three fields are needed, not ' . count($fields));
  }
  list($name, $born, $class) = $fields;
  if ($name == '') {
    return array($fields, 'no name');
  }
  if (!is_date($born)) {
    return array($fields, 'no date: ' . $born);
  }
  if ($class != '' && !isset($classes[$class])) {
    return array($fields, 'no such class: ' . $class);
  }
  return array($fields, '');
}

$good = array();
$bad = array();
foreach ($lines as $number => $line) {
  if (trim($line) == '') {
    continue;
  }
  list($fields, $problem) = read_line($line, $classes);
  if ($problem == '') {
    $good[$number + 1] = $fields;
  } else {
    $bad[$number + 1] = $problem;
  }
}
if (input('import') != '' && count($good) > 0 && count($bad) == 0) {
  foreach ($good as $fields) {
    $db->query('INSERT INTO students (name, born, class_id) VALUES (?, ?, ?)',
      $fields[0], $fields[1], $fields[2] == '' ? null : $classes[$fields[2]]);
  }
  say(count($good) . ' pupils imported.');
  go_to('students', array('sort' => 'born'));
}
?>
<h2>Import</h2>
<?php if (count($lines) > 0) { ?>
<section id="preview">
<h3>Preview</h3>
<?php
  if (count($bad) > 0) {
    echo "<dl class=\"error\">\n";
    foreach ($bad as $number => $problem) {
      echo "<dt>Line $number</dt>\n<dd>", e($problem), "</dd>\n";
    }
    echo "</dl>\n";
  }
  $table = new Table(array('Line', 'Name', 'Age', 'Class'));
  foreach ($good as $number => $fields) {
    $table->row(array($number, e($fields[0]),
      age($fields[1], setting('today')), $fields[2] == '' ? '-'
      : e($fields[2])));
  }
  $table->end('No line can be read.');
  echo '<p>', count($good), ' good, ', count($bad), ' bad, ',
    round(100 * count($good) / max(1, count($good) + count($bad))),
    " % can be read.</p>\n";
?>
</section>
<?php
}
$form = new Form('import');
$form->area('list', 'List', $text);
$form->end('Preview', 'preview');
if (count($good) > 0 && count($bad) == 0) {
  $form = new Form('import', array(), array('list' => $text));
  $form->end('Import', 'import');
}
