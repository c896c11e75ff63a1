<?php
// Tables, row by row. Cells are HTML.

class Table {
  private $columns;
  private $rows = 0;
  private $open = false;

  public function __construct($columns, $caption = '') {
    $this->columns = $columns;
    echo "<table>\n";
    if ($caption != '') {
      echo '<caption>', e($caption), "</caption>\n";
    }
    echo "<thead>\n<tr>";
    foreach ($columns as $column) {
      echo '<th>', e($column), '</th>';
    }
    echo "</tr>\n</thead>\n<tbody>\n";
  }

  public function row($cells, $class = '') {
    $this->startRow($class);
    foreach ($cells as $cell) {
      $this->cell($cell);
    }
    $this->endRow();
  }

  public function startRow($class = '') {
    $class = trim($class . ($this->rows % 2 ? ' odd' : ' even'));
    echo "<tr class=\"$class\">";
    $this->rows++;
    $this->open = true;
  }

  public function cell($html, $span = 1) {
    echo $span > 1 ? "<td colspan=\"$span\">" : '<td>', $html, '</td>';
  }

  public function endRow() {
    if ($this->open) {
      echo "</tr>\n";
      $this->open = false;
    }
  }

  // Ends the table; says so if it has no rows.
  public function end($empty = 'Nothing.') {
    if ($this->rows == 0) {
      $this->startRow();
      $this->cell('<em>' . e($empty) . '</em>', count($this->columns));
      $this->endRow();
    }
    echo "</tbody>\n</table>\n";
  }
}
