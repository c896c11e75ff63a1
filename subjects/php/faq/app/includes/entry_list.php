<?php
// $entries as a list; $empty is said if there are none; $words are marked.
$words = $words ?? array();
if (count($entries) == 0) {
  print '<p class="empty">' . h($empty) . "</p>\n";
} else {
?>
<dl class="entries">
<?php foreach ($entries as $entry) { ?>
<dt id="q<?php print $entry->id; ?>">
<a href="question.php?id=<?php print $entry->id; ?>"><?php
print highlight($entry->question, $words);
?></a>
<?php if ($entry->status != 'published') { ?>
<em><?php print h($statuses[$entry->status]); ?></em>
<?php } ?>
</dt>
<dd>
<?php
  $first = strtok($entry->answer, "\n");
  if ($first === false) {
    print '<span class="empty">No answer yet.</span>';
  } else {
    print '<span>' . highlight($first, $words) . '</span>';
  }
  if (has_role('editor')) {
    print ' [' . link_to('edit.php?id=' . $entry->id, 'edit') . ']';
  }
?>

</dd>
<?php } ?>
</dl>
<?php
}
