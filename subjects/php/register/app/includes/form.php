<?php
// Forms with labels and with the errors beside their fields.

class Form {
  private $errors;

  public function __construct($page, $errors = array(), $hidden = array(),
                              $method = 'post') {
    $this->errors = $errors;
    echo "<form action=\"index.php\" method=\"$method\">\n";
    echo "<div class=\"fields\">\n";
    foreach (array('page' => $page) + $hidden as $name => $value) {
      echo '<input type="hidden" name="', $name, '" value="', e($value),
        "\">\n";
    }
  }

  private function label($name, $label) {
    echo "<div class=\"row\">\n<label for=\"f_$name\">", e($label),
      "</label>\n";
  }

  private function endRow($name) {
    if (isset($this->errors[$name])) {
      echo '<span class="error">', e($this->errors[$name]), "</span>\n";
    }
    echo "</div>\n";
  }

  public function text($name, $label, $value, $type = 'text') {
    $this->label($name, $label);
    echo "<input type=\"$type\" name=\"$name\" id=\"f_$name\" value=\"",
      e($value), "\">\n";
    $this->endRow($name);
  }

  public function area($name, $label, $value) {
    $this->label($name, $label);
    echo "<textarea name=\"$name\" id=\"f_$name\" rows=\"5\" cols=\"50\">",
      e($value), "</textarea>\n";
    $this->endRow($name);
  }

  public function choice($name, $label, $options, $chosen, $none = '') {
    $this->label($name, $label);
    echo "<select name=\"$name\" id=\"f_$name\">\n";
    if ($none != '') {
      echo '<option value="">', e($none), "</option>\n";
    }
    foreach ($options as $value => $text) {
      echo '<option value="', e($value), '"',
        (string) $value === (string) $chosen ? ' selected' : '', '>', e($text),
        "</option>\n";
    }
    echo "</select>\n";
    $this->endRow($name);
  }

  public function end($button, $name = '', $value = '1') {
    echo '<button type="submit"';
    if ($name != '') {
      echo " name=\"$name\" value=\"", e($value), '"';
    }
    echo '>', e($button), "</button>\n</div>\n</form>\n";
  }
}
