<?php
require 'inc/top.php';
$all = members();
$name = $_GET['name'] ?? '';
top('Member');
if (!isset($all[$name])) {
    print "<p>Nobody is called that.</p>\n";
} else {
    $m = $all[$name];
    $share = 100 / array_sum(array_column($all, 'points')) * $m['points'];
    print '<p>' . htmlspecialchars($name) . ", born $m[year], " . round($share)
        . " % of all points</p>\n";
    if ($m['year'] < 1950) {
        print "<p>An <strong>honorary</p> member.\n"; // FAULT honorary
    }
}
bottom();
