<?php
class P { public $v; function __construct($v) { $this->v = $v; } function get() { return $this->v; } } $p = new P($_GET['v'] ?? ''); if ($p->get() == 'obj') echo 'REACHED';
