<form method="post" action="index.php"><p>
<input name="name"> <input type="password" name="password">
<input type="submit"></p></form>
