<HTML>
<HEAD><TITLE>Topic View</TITLE></HEAD>

<?php
session_start();
require(dirname(__FILE__).'/includes/constants.php');
print "<BODY>\n";
if ($_SESSION[$authTag] ?? false) {
$type = $_SESSION[$typeTag];
$topic = $_REQUEST[$topicTag] ?? '';
if ($type == 'admin') {
print "<H1>Administrative ";
} else {
print "<H1>Normal ";
}
print "View of topic " . htmlspecialchars($topic) . "</H1>\n";
if ($type == 'admin') {
print "<H2>Administrative Details</H2>\n";
/* code to print administrative details... */
} else {
print "<H2>Details</H2>\n";
/* code to print normal details... */
}
}
print "</BODY>\n";
?>

</HTML>
