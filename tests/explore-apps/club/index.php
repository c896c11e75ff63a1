<?php
require 'inc/top.php';
top('Members');
$sort = $_GET['sort'] ?? 'name';
$all = members();
uasort($all, fn($a, $b) => $sort == 'points' ? $b['points'] - $a['points'] : 0);
print "<table>\n<tr><th>name</th><th>points</th></tr>\n";
foreach ($all as $name => $m) {
    print '<tr><td><a href="member.php?name=' . urlencode($name) . '">'
        . htmlspecialchars($name) . "</a></td><td>$m[points]</td></tr>\n";
}
print "</table>\n<p><a href=\"?sort=points\">by points</a></p>\n";
bottom();
