<?php
// Writes variables of its includer that it does not name itself.
$late = 5;
extract(['held' => 6]);
$name = 'x';
echo isset($$name); //< 5
