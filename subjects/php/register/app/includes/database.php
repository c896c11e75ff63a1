<?php
// MariaDB. Queries have ? where values go; a query that fails is logged and
// answers nothing.

class Database {
  private static $instance = null;
  private $link;

  public static function get() {
    if (self::$instance === null) {
      self::$instance = new Database();
    }
    return self::$instance;
  }

  private function __construct() {
    global $config;
    mysqli_report(MYSQLI_REPORT_OFF);
    $this->link = mysqli_connect('localhost', $config['user'],
      $config['password'], $config['database'], 0, $config['socket']);
    if (!$this->link) {
      http_response_code(503);
      die("<!DOCTYPE html>\n<title>Closed</title>\n<p>Come back later.\n");
    }
    mysqli_set_charset($this->link, 'utf8mb4');
  }

  private function quote($value) {
    if ($value === null) {
      return 'NULL';
    }
    return "'" . mysqli_real_escape_string($this->link, (string) $value) . "'";
  }

  private function fill($sql, $values) {
    $pieces = explode('?', $sql);
    $text = $pieces[0];
    for ($i = 1; $i < count($pieces); $i++) {
      $text .= $this->quote($values[$i - 1]) . $pieces[$i];
    }
    return $text;
  }

  public function query($sql, ...$values) {
    $result = mysqli_query($this->link, $this->fill($sql, $values));
    if ($result === false) {
      error_log('Query failed: ' . mysqli_error($this->link));
    }
    return $result;
  }

  public function rows($sql, ...$values) {
    $result = $this->query($sql, ...$values);
    return $result ? mysqli_fetch_all($result, MYSQLI_ASSOC) : array();
  }

  // The first row, or null.
  public function row($sql, ...$values) {
    $rows = $this->rows($sql, ...$values);
    return $rows[0] ?? null;
  }

  public function value($sql, ...$values) {
    $row = $this->row($sql, ...$values);
    return $row === null ? null : reset($row);
  }

  // First column => second column.
  public function map($sql, ...$values) {
    $map = array();
    foreach ($this->rows($sql, ...$values) as $row) {
      $row = array_values($row);
      $map[$row[0]] = $row[1];
    }
    return $map;
  }

  public function lastId() {
    return mysqli_insert_id($this->link);
  }
}

function setting($name) {
  static $settings = null;
  if ($settings === null) {
    $settings = Database::get()->map('SELECT name, value FROM settings');
  }
  return $settings[$name] ?? '';
}
