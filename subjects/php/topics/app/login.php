<HTML>
<HEAD><TITLE>Topic Selection Page</TITLE></HEAD>
<BODY>
<?php
session_start();
require(dirname(__FILE__).'/includes/constants.php');
$user = $_REQUEST[$userTag] ?? '';
$pw = $_REQUEST[$pwTag] ?? '';
$_SESSION[$authTag] = false;
if (check_password($user, $pw)) {
?>
<FORM action="view.php">
Topic: <INPUT TYPE="text" NAME="topic"/><BR>
<INPUT TYPE="submit" VALUE="submit" NAME="Submit"/>
</FORM>
</BODY>
<?php
$_SESSION[$userTag] = $user;
$_SESSION[$pwTag] = $pw;
$_SESSION[$authTag] = true;
if ($user == 'admin') {
$_SESSION[$typeTag] = 'admin';
} else {
$_SESSION[$typeTag] = 'regularUser';
}
} else { print "</BODY>\n"; }
?>
</HTML>
