<?php
// Members are kept in a file: a line each, name|year|points|code.
$file = getenv('CLUB_FILE');
if (!is_file($file)) {
    file_put_contents($file, "ada|1975|12|" . md5('lovelace') . "\n" .
        "bob|2001|0|" . md5('builder') . "\n");
}
function members() {
    global $file;
    $all = [];
    foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
        list($name, $year, $points, $code) = explode('|', $line);
        $all[$name] = ['year' => (int) $year, 'points' => (int) $points,
            'code' => $code];
    }
    return $all;
}
function save($all) {
    global $file;
    $out = '';
    foreach ($all as $name => $m) {
        $out .= "$name|$m[year]|$m[points]|$m[code]\n";
    }
    file_put_contents($file, $out);
}
function top($title) {
    print "<!DOCTYPE html>\n<html lang=\"en\"><head><title>$title</title></head>"
        . "<body>\n<h1>$title</h1>\n<p><a href=\"index.php\">list</a> "
        . "<a href=\"join.php\">join</a> <a href=\"gift.php\">gift</a></p>\n";
}
function bottom() {
    print "</body></html>\n";
}
