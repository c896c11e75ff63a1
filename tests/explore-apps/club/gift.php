<?php
require 'inc/top.php';
$all = members();
$from = $_POST['from'] ?? '';
$said = '';
if (isset($_POST['from'])) {
    if (!isset($all[$from]) || md5($_POST['code'] ?? '') !== $all[$from]['code']) {
        $said = 'That is not your code.';
    } elseif (($points = intval($_POST['points'] ?? '')) < 1
        || $points > $all[$from]['points']) {
        $said = 'You do not have that many.';
    } elseif ($points == $all[$from]['points']) {
        $said = farewell($from); // FAULT farewell
    } else {
        $all[$from]['points'] -= $points;
        save($all);
        $said = 'Given.';
    }
}
top('Give points');
if ($said != '') {
    print "<p>$said</p>\n";
}
?>
<form method="post"><p>
<select name="from"><?php
foreach ($all as $name => $m) {
    print '<option>' . htmlspecialchars($name) . '</option>';
}
?></select>
<input type="password" name="code"> <input name="points" type="number">
<button>give</button></p></form>
<?php
bottom();
