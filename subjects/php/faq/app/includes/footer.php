</div>
<?php
if ($sidebar ?? false) {
  print "</div>\n";
}
$notice = setting('notice');
?>
<div id="bottom">
<?php if ($notice != '') { ?>
<p class="notice"><?php print h($notice); ?></p>
<?php } ?>
<p><?php
$total = Entry::count("status = 'published'");
print plural($total, 'answer', 'answers') . ', '
  . format_date(setting('today'));
?></p>
</div>
</div>
</body>
</html>
