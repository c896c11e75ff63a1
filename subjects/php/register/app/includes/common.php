<?php
// Small things every page uses.

function e($text) {
  return htmlspecialchars((string) $text, ENT_QUOTES, 'UTF-8');
}

function input($name, $default = '') {
  $value = $_POST[$name] ?? $_GET[$name] ?? $default;
  return is_string($value) ? trim($value) : $default;
}

function input_id($name) {
  $value = input($name);
  return ctype_digit($value) ? (int) $value : 0;
}

function url($page, $more = array()) {
  return 'index.php?' . http_build_query(array('page' => $page) + $more);
}

function anchor($page, $more, $text) {
  return '<a href="' . e(url($page, $more)) . '">' . e($text) . '</a>';
}

function go_to($page, $more = array()) {
  header('Location: ' . url($page, $more), true, 302);
  exit;
}

function say($text) {
  $_SESSION['messages'][] = $text;
}

// 2010-11-08 -> 8/11/2010
function show_date($date) {
  if (!preg_match('/^(\d+)-(\d+)-(\d+)$/', $date, $part)) {
    return '?';
  }
  return (int) $part[3] . '/' . (int) $part[2] . '/' . $part[1];
}

function is_date($text) {
  return preg_match('/^(\d{4})-(\d\d)-(\d\d)$/', $text, $part)
    && checkdate((int) $part[2], (int) $part[3], (int) $part[1]);
}

// Full years between two dates.
function age($born, $today) {
  $years = (int) substr($today, 0, 4) - (int) substr($born, 0, 4);
  return substr($today, 5) < substr($born, 5) ? $years - 1 : $years;
}

// Text with empty lines between paragraphs and "* " before list items.
function format_text($text) {
  $html = '';
  foreach (preg_split('/\n\s*\n/', trim($text)) as $block) {
    $in_list = false;
    $in_paragraph = false;
    foreach (explode("\n", $block) as $line) {
      if (substr($line, 0, 2) == '* ') {
        if ($in_paragraph) {
          $html .= "</p>\n";
          $in_paragraph = false;
        }
        if (!$in_list) {
          $html .= "<ul>\n";
          $in_list = true;
        }
        $html .= '<li>' . e(substr($line, 2)) . "</li>\n";
      } else {
        if ($in_list) {
          $html .= "</ul>\n";
          $in_list = false;
        }
        if (!$in_paragraph) {
          $html .= '<p>';
          $in_paragraph = true;
        }
        $html .= e($line) . "\n";
      }
    }
    if ($in_list) {
      $html .= "</ul>\n";
    }
    if ($in_paragraph) {
      $html .= "</p>\n";
    }
  }
  return $html;
}

// A bar for a percentage.
function bar($percent) {
  $class = $percent < setting('pass_mark') ? 'low' : 'high';
  return "<span class=\"bar $class\">" . round($percent) . ' %</span>';
}
