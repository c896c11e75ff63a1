<?php
if ($i > 0) return "part0 again\n";
echo 'first ';
return "part0\n";
