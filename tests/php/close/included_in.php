<?php
echo $title; //< main.php:4
$title = 'two';
return $title; //< 3
