<?php
// The report of a pupil, for the family and for school.
$student = null;
foreach ($user->ownStudents() as $own) {
  if ($own->id == input_id('id') || input('id') == '') {
    $student = $own;
    break;
  }
}
if ($user->role == 'admin' || $user->role == 'teacher') {
  $student = Student::load(input_id('id'));
}
if ($student === null) {
  http_response_code(404);
  $reason = 'There is no report for you here.';
  include 'templates/refused.php';
  return;
}

function remark($percents) {
  if (count($percents) == 0) {
    return 'Nothing was marked yet.';
  }
  $mean = array_sum($percents) / count($percents);
  $worst = min($percents);
  if ($worst < setting('pass_mark')) {
    return $mean < setting('pass_mark') ? 'Cannot pass like this.'
      : 'Must work harder in one course or other.';
  }
  return letter($mean) == 'A' ? 'Excellent.' : 'Good.';
}
?>
<article class="report">
<h2>Report: <?php echo e($student->name); ?></h2>
<p><?php echo $student->className === null ? 'no class'
  : 'Class ' . e($student->className); ?></p>
<?php
$percents = array();
foreach ($student->courses() as $course) {
  $book = new Gradebook($course);
  $average = $book->average($student->id);
?>
<section>
<h3><?php echo e($course['title']); ?></h3>
<?php
  if ($average === null) {
    echo "<p>Not marked.</p>\n";
  } else {
    $percents[] = $average;
    echo '<p>', show_average($average), "</p>\n<ul>\n";
    foreach ($book->assignments as $assignment) {
      $mark = $book->mark($student->id, $assignment['id']);
      if ($mark === null) {
        continue;
      }
      echo '<li>', e($assignment['title']), ': ';
      if ($mark['points'] === null) {
        echo '<i>missing</i>';
      } else {
        echo $mark['points'], ' of ', $assignment['points'];
      }
      if ($mark['note'] != '') {
        echo ' <q>', e($mark['note']), '</q>';
      }
      echo "</li>\n";
    }
    echo "</ul>\n";
  }
?>
</section>
<?php
}
$presence = $student->presence();
?>
<table>
<tr><th>Remark</th><td><?php echo e(remark($percents)); ?></td></tr>
<?php if ($presence !== null) { ?>
<tr><th>Present</th><td><?php echo bar($presence); ?></td></tr>
<?php } ?>
<tr><th>Date</th><td><?php echo show_date(setting('today')); ?></td></tr>
</table>
</article>
