<?php
// The little language answers are written in:
//
//   - item, # item      lists
//   two spaces          a program
//   > text              a quotation
//   *word*, `word`      strong, code
//   [[4]]               a link to question 4
//
// Everything else is paragraphs, separated by empty lines.

class Markup {
  private $html = '';
  private $open = ''; // the block we are in: p, ul, ol, pre, blockquote or none

  public static function toHtml($text) {
    $markup = new Markup();
    foreach (explode("\n", str_replace("\r", '', $text)) as $line) {
      $markup->line($line);
    }
    $markup->enter('');
    return $markup->html;
  }

  private function line($line) {
    if (trim($line) == '') {
      $this->enter('');
    } elseif (substr($line, 0, 2) == '- ') {
      $this->enter('ul');
      $this->item(substr($line, 2));
    } elseif (substr($line, 0, 2) == '# ') {
      $this->enter('ol');
      $this->item(substr($line, 2));
    } elseif (substr($line, 0, 2) == '> ') {
      $this->enter('blockquote');
      $this->html .= self::inline(substr($line, 2)) . "\n";
    } elseif (substr($line, 0, 2) == '  ') {
      $this->enter('pre');
      $this->html .= h(substr($line, 2)) . "\n";
    } else {
      $this->enter('p');
      $this->html .= self::inline($line) . "\n";
    }
  }

  private function item($text) {
    $this->html .= '<li>' . self::inline($text) . "</li>\n";
  }

  // Leaves the block we are in for another one.
  private function enter($block) {
    if ($block == $this->open) {
      return;
    }
    if ($this->open != '') {
      $this->html .= $this->closing();
    }
    if ($block == 'blockquote') {
      $this->html .= "<blockquote>\n<p>";
    } elseif ($block == 'pre') {
      $this->html .= '<pre>';
    } elseif ($block != '') {
      $this->html .= "<$block>\n";
    }
    $this->open = $block;
  }

  private function closing() {
    if ($this->open == 'blockquote') {
      return "</p>\n</blockquote>\n";
    }
    return "</{$this->open}>\n";
  }

  public static function inline($text) {
    $html = h($text);
    $html = preg_replace('/\*([^*]+)\*/', '<strong>$1</strong>', $html);
    $html = preg_replace('/`([^`]+)`/', '<code>$1</code>', $html);
    return preg_replace_callback('/\[\[(\d+)\]\]/', 'Markup::reference', $html);
  }

  public static function reference($match) {
    $entry = Entry::load((int) $match[1]);
    if ($entry === null) {
      return '<em>question ' . $match[1] . '</em>';
    }
    return link_to('question.php?id=' . $entry->id, $entry->question);
  }
}
