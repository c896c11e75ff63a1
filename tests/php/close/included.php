<?php
$title = 'one';
$done = false;
$title .= '!'; //< 2
$note = 'set';
return $title; //< 4
