--TEST--
culprit: loaded, off, and without functions of its own
--FILE--
<?php
var_dump(extension_loaded('culprit'), get_extension_funcs('culprit'));
var_dump(ini_get('culprit.dir'));
?>
--EXPECT--
bool(true)
bool(false)
string(0) ""
