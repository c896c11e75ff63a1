<?php
// A desk of tickets: sixty actions behind a login, all queries through one
// function. Nothing links to the actions.
require 'inc/query.php';
session_start();

if (isset($_POST['name'])) {
    $clerk = first('SELECT * FROM clerk WHERE name = ?', $_POST['name']);
    if ($clerk && password_verify($_POST['password'] ?? '', $clerk['hash'])) {
        $_SESSION['clerk'] = $clerk['name'];
    }
}
require 'inc/head.php';
if (!isset($_SESSION['clerk'])) {
    require 'inc/login.php';
    require 'inc/foot.php';
    exit;
}

$n = 0;
switch ($_GET['do'] ?? '') {
    case 'list':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 1: $n</p>\n";
        break;
    case 'show':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 2: $n</p>\n";
        break;
    case 'add':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 3: $n</p>\n";
        break;
    case 'edit':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 4: $n</p>\n";
        break;
    case 'copy':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 5: $n</p>\n";
        break;
    case 'move':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 6: $n</p>\n";
        break;
    case 'sort':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 7: $n</p>\n";
        break;
    case 'find':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 8: $n</p>\n";
        break;
    case 'open':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 9: $n</p>\n";
        break;
    case 'close':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 10: $n</p>\n";
        break;
    case 'lock':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 11: $n</p>\n";
        break;
    case 'unlock':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 12: $n</p>\n";
        break;
    case 'print':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 13: $n</p>\n";
        break;
    case 'export':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 14: $n</p>\n";
        break;
    case 'import':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 15: $n</p>\n";
        break;
    case 'archive':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 16: $n</p>\n";
        break;
    case 'restore':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 17: $n</p>\n";
        break;
    case 'assign':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 18: $n</p>\n";
        break;
    case 'release':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 19: $n</p>\n";
        break;
    case 'accept':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 20: $n</p>\n";
        break;
    case 'reject':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 21: $n</p>\n";
        break;
    case 'forward':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 22: $n</p>\n";
        break;
    case 'answer':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 23: $n</p>\n";
        break;
    case 'note':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 24: $n</p>\n";
        break;
    case 'remind':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 25: $n</p>\n";
        break;
    case 'delay':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 26: $n</p>\n";
        break;
    case 'hurry':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 27: $n</p>\n";
        break;
    case 'merge':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 28: $n</p>\n";
        break;
    case 'split':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 29: $n</p>\n";
        break;
    case 'tag':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 30: $n</p>\n";
        break;
    case 'untag':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 31: $n</p>\n";
        break;
    case 'rate':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 32: $n</p>\n";
        break;
    case 'count':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 33: $n</p>\n";
        break;
    case 'sum':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 34: $n</p>\n";
        break;
    case 'average':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 35: $n</p>\n";
        break;
    case 'oldest':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 36: $n</p>\n";
        break;
    case 'newest':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 37: $n</p>\n";
        break;
    case 'longest':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 38: $n</p>\n";
        break;
    case 'shortest':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 39: $n</p>\n";
        break;
    case 'today':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 40: $n</p>\n";
        break;
    case 'week':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 41: $n</p>\n";
        break;
    case 'month':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 42: $n</p>\n";
        break;
    case 'year':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 43: $n</p>\n";
        break;
    case 'mine':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 44: $n</p>\n";
        break;
    case 'others':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 45: $n</p>\n";
        break;
    case 'free':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 46: $n</p>\n";
        break;
    case 'busy':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 47: $n</p>\n";
        break;
    case 'urgent':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 48: $n</p>\n";
        break;
    case 'quiet':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 49: $n</p>\n";
        break;
    case 'new':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 50: $n</p>\n";
        break;
    case 'late':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 51: $n</p>\n";
        break;
    case 'early':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 52: $n</p>\n";
        break;
    case 'paid':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 53: $n</p>\n";
        break;
    case 'unpaid':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 54: $n</p>\n";
        break;
    case 'billed':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 55: $n</p>\n";
        break;
    case 'gift':
        $n = first("SELECT COUNT(*) AS n FROM ticket")['n'];
        echo "<p>case 56: $n</p>\n";
        break;
    case 'return':
        $n = first("SELECT COUNT(*) AS n FROM ticket WHERE state = 'open'")['n'];
        echo "<p>case 57: $n</p>\n";
        break;
    case 'lost':
        $n = first("SELECT MAX(id) AS n FROM ticket")['n'];
        echo "<p>case 58: $n</p>\n";
        break;
    case 'found':
        $n = first("SELECT SUM(minutes) AS n FROM ticket")['n'];
        echo "<p>case 59: $n</p>\n";
        break;
    case 'audit':
        $n = first("SELECT COUNT(DISTINCT owner) AS n FROM ticket")['n'];
        echo "<p>case 60: $n</p>\n";
        break;
    default:
        require 'inc/tickets.php';
}
require 'inc/foot.php';
