<HTML>
<HEAD><TITLE>Login</TITLE></HEAD>
<BODY>
<FORM METHOD="post" NAME="login" ACTION="login.php">
User Name: <INPUT TYPE="text" NAME="user"/><BR>
Password: <INPUT TYPE="password" NAME="pw"/><BR>
<INPUT TYPE="submit" VALUE="submit" NAME="Submit"/>
</FORM>
</BODY>
</HTML>
