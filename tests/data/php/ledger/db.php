<?php
mysqli_report(MYSQLI_REPORT_OFF);
$db = mysqli_connect('localhost', 'root', '', 'ledger');
function q($sql) {
  global $db;
  $r = mysqli_query($db, $sql) or die('failed: ' . mysqli_error($db));
  return $r;
}
function update($table, $fields, $id) {
  $set = '';
  foreach ($fields as $k => $v)
    $set .= "$k='$v',";
  return q("UPDATE $table SET " . rtrim($set, ',') . " WHERE id=$id");
}
