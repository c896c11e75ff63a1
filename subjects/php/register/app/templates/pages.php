<?php
// Links to the parts of a long list: $part of $parts, of page $page with $more.
if ($parts > 1) {
  echo "<ol class=\"parts\">\n";
  for ($i = 1; $i <= $parts; $i++) {
    echo '<li>';
    if ($i == $part) {
      echo "<b>$i</b>";
    } else {
      echo anchor($page, $more + array('part' => $i), (string) $i);
    }
    echo "</li>\n";
  }
  echo "</ol>\n";
}
