<?php
require 'inc/top.php';
$problems = [];
if (isset($_POST['name'])) {
    $name = trim($_POST['name']);
    if (!preg_match('/^[a-z]{2,8}$/', $name)) {
        $problems['name'] = 'two to eight small letters';
    }
    if (!preg_match('/^(\d{1,2})\.(\d{1,2})\.(\d{4})$/', $_POST['born'] ?? '', $d)
        || !checkdate((int) $d[2], (int) $d[1], (int) $d[3])) {
        $problems['born'] = 'a day such as 24.12.1990';
    } elseif ((int) $d[3] < 1900 || (int) $d[3] > 2015) {
        $problems['born'] = 'nobody is that old, or that young';
    }
    if (strlen($_POST['code'] ?? '') < 6) {
        $problems['code'] = 'six letters at least';
    }
    if (!$problems) {
        $all = members();
        $all[$name] = ['year' => (int) $d[3], 'points' => 0,
            'code' => md5($_POST['code'])];
        save($all);
        header('Location: member.php?name=' . urlencode($name));
        exit;
    }
}
top('Join');
if ($problems) {
    print '<ul>';
    foreach ($problems as $field => $problem) {
        print "<li>$field: $problem</li>";
    }
    print count($problems) == 3 ? "</ol>\n" : "</ul>\n"; // FAULT list
}
?>
<form method="post"><p>
<input name="name"> <input name="born"> <input type="password" name="code">
<input type="submit" value="Join"></p></form>
<?php
bottom();
