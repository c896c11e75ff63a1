<?php
$n = intval($_GET['n'] ?? '');
if ($n * 2 > 10)
  echo 'large';
if (isset($_POST['user']) || strtolower(trim($_GET['s'])) === 'admin')
  echo 'user';
if (preg_match('/^(\d+)-x$/', $_GET['p'] ?? '', $m) && $m[1] > 5)
  echo md5($_GET['p']) == 'abc' ? 1 : 2;
if (in_array($_GET['s'], ['red', 'green']))
  echo 'colour';
$_SESSION['n'] = $n + 1;
