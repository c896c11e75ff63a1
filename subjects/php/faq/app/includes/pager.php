<?php
// Long lists, a page at a time.

class Pager {
  public $page;
  public $pages;
  private $perPage;
  private $url;

  public function __construct($total, $perPage, $page, $url) {
    $this->perPage = max(1, (int) $perPage);
    $this->pages = max(1, (int) ceil($total / $this->perPage));
    $this->page = min(max(1, $page), $this->pages);
    $this->url = $url . (strpos($url, '?') === false ? '?' : '&');
  }

  public function from() {
    return ($this->page - 1) * $this->perPage;
  }

  public function limit() {
    return $this->perPage;
  }

  private function step($page, $text) {
    if ($page < 1 || $page > $this->pages) {
      return "<span class=\"off\">$text</span>\n";
    }
    return link_to($this->url . 'page=' . $page, $text) . "\n";
  }

  public function show() {
    if ($this->pages == 1) {
      return;
    }
    print "<div class=\"pager\">\n" . $this->step($this->page - 1, 'Back');
    for ($i = 1; $i <= $this->pages; $i++) {
      if ($i == $this->page) {
        print "<strong>$i</strong>\n";
      } else {
        print $this->step($i, (string) $i);
      }
    }
    print $this->step($this->page + 1, 'Next') . "</div>\n";
  }
}
