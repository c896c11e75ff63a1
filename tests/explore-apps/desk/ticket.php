<?php
// One ticket, with a form that changes it.
require 'inc/query.php';
session_start();
if (!isset($_SESSION['clerk'])) {
    header('Location: index.php');
    exit;
}
$id = (int) ($_GET['id'] ?? 0);
if (isset($_POST['minutes'])) {
    query('UPDATE ticket SET minutes = ? WHERE id = ?', (int) $_POST['minutes'],
        $id);
}
$ticket = first('SELECT * FROM ticket WHERE id = ?', $id);
if (($_GET['as'] ?? '') === 'text') {
    header('Content-Type: text/plain');
    echo $ticket ? "ticket $id: $ticket[minutes]\n" : "no ticket $id\n";
    exit;
}
require 'inc/head.php';
if ($ticket) {
?>
<form method="post" action="ticket.php?id=<?= $id ?>"><p>
<input name="minutes" value="<?= $ticket['minutes'] ?>">
<input type="submit"></p></form>
<?php
} else {
    echo "<p>no such ticket</p>\n";
}
require 'inc/foot.php';
