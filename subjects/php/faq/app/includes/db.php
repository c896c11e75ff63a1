<?php
// The database: one connection, and the four questions one can ask it.

function db() {
  static $pdo = null;
  if ($pdo === null) {
    $fresh = !file_exists(FAQ_DB);
    if ($fresh && !is_dir(dirname(FAQ_DB))) {
      mkdir(dirname(FAQ_DB), 0777, true);
    }
    $pdo = new PDO('sqlite:' . FAQ_DB);
    $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
    $pdo->setAttribute(PDO::ATTR_DEFAULT_FETCH_MODE, PDO::FETCH_ASSOC);
    if ($fresh) {
      $pdo->exec(file_get_contents(FAQ_SCHEMA));
    }
  }
  return $pdo;
}

function db_run($sql, $args = array()) {
  $statement = db()->prepare($sql);
  $statement->execute($args);
  return $statement;
}

function db_all($sql, $args = array()) {
  return db_run($sql, $args)->fetchAll();
}

// The first row, or null.
function db_row($sql, $args = array()) {
  $row = db_run($sql, $args)->fetch();
  return $row === false ? null : $row;
}

function db_value($sql, $args = array()) {
  $row = db_run($sql, $args)->fetch(PDO::FETCH_NUM);
  return $row === false ? null : $row[0];
}

function setting($name, $default = '') {
  $value = db_value('SELECT value FROM settings WHERE name = ?', array($name));
  return $value === null ? $default : $value;
}
