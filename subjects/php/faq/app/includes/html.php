<?php
// Pieces of pages. What starts with print_ prints; the others return text.

function h($text) {
  return htmlspecialchars((string) $text, ENT_QUOTES, 'UTF-8');
}

function param($name, $default = '') {
  $value = $_REQUEST[$name] ?? $default;
  return is_string($value) ? trim($value) : $default;
}

function int_param($name, $default = 0) {
  $value = param($name, (string) $default);
  return ctype_digit($value) ? (int) $value : $default;
}

function link_to($page, $text, $class = '') {
  $attributes = ' href="' . h($page) . '"';
  if ($class != '') {
    $attributes .= ' class="' . h($class) . '"';
  }
  return "<a$attributes>" . h($text) . '</a>';
}

function format_date($date) {
  global $months;
  $parts = explode('-', $date);
  if (count($parts) != 3) {
    return h($date);
  }
  return (int) $parts[2] . ' ' . $months[$parts[1] - 1] . ' ' . $parts[0];
}

function plural($n, $one, $many) {
  return $n == 1 ? "1 $one" : "$n $many";
}

function open_box($heading, $id = '') {
  $attribute = $id == '' ? '' : ' id="' . h($id) . '"';
  print "<div class=\"box\"$attribute>\n<h2>" . h($heading) . "</h2>\n";
}

function close_box() {
  print "</div>\n";
}

function print_errors($errors) {
  if (count($errors) == 0) {
    return;
  }
  print "<div class=\"error\">\n<p>Please correct this:</p>\n<ul>\n";
  foreach ($errors as $field => $message) {
    print "<li><label for=\"$field\">" . h($message) . "</label></li>\n";
  }
  print "</ul>\n</div>\n";
}

function text_field($name, $label, $value, $type = 'text') {
  return '<div class="field"><label for="' . $name . '">' . h($label)
    . '</label> <input type="' . $type . '" name="' . $name . '" id="' . $name
    . '" value="' . h($value) . "\"></div>\n";
}

function area_field($name, $label, $value, $rows = 6) {
  return '<div class="field"><label for="' . $name . '">' . h($label)
    . '</label> <textarea name="' . $name . '" id="' . $name
    . "\" rows=\"$rows\" cols=\"60\">" . h($value) . "</textarea></div>\n";
}

function select_field($name, $label, $options, $chosen) {
  $html = '<div class="field"><label for="' . $name . '">' . h($label)
    . '</label> <select name="' . $name . '" id="' . $name . "\">\n";
  foreach ($options as $value => $text) {
    $mark = (string) $value === (string) $chosen ? ' selected' : '';
    $html .= '<option value="' . h($value) . "\"$mark>" . h($text)
      . "</option>\n";
  }
  return $html . "</select></div>\n";
}

function topic_options($all = '') {
  $options = $all == '' ? array() : array('' => $all);
  foreach (db_all('SELECT id, title FROM topics ORDER BY position') as $t) {
    $options[$t['id']] = $t['title'];
  }
  return $options;
}

// Stars for the share of readers an answer helped.
function stars($helpful, $unhelpful) {
  $votes = $helpful + $unhelpful;
  if ($votes == 0) {
    return '<span class="stars">no votes yet</span>';
  }
  $full = (int) round(5 * $helpful / $votes);
  $html = '<span class="stars" title="' . plural($votes, 'vote', 'votes')
    . '">';
  for ($i = 1; $i <= 5; $i++) {
    $html .= $i <= $full ? '<b>*</b>' : '<i>*</i>';
  }
  return $html . '</span>';
}

// The words of a search made visible.
function highlight($text, $words) {
  $html = h($text);
  foreach ($words as $word) {
    $html = preg_replace('/(' . preg_quote(h($word), '/') . ')(?![^<]*>)/i',
      '<mark>$1</mark>', $html);
  }
  return $html;
}
