<?php
// Does everything to its input and prints what comes out: with shadows the page
// must be the same, byte by byte, and every decision must be what its term
// says. Called with all kinds of values in the query. Of comparisons only the sign is
// compared: PHP promises no more, and the rest depends on processor and alignment.
error_reporting(E_ALL);
function show($v) { return json_encode($v, JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE) . ' ' . get_debug_type($v) . "\n"; }
function attempt(string $what, callable $f) {
  try {
    $r = @$f();
    echo $what, ': ', show($r);
    if ($r) echo "  true\n";
    if ($r == 1) echo "  one\n";
    if (!$r) echo "  not\n";
    if ($r === null || $r === false) echo "  nothing\n";
  } catch (Throwable $e) {
    echo $what, ' throws ', get_class($e), ': ', $e->getMessage(), "\n";
  }
}
function typed_int(int $n) { return $n + 1; }
function typed_string(string $s = 'd') { return $s . '|'; }
function typed_float(float $f) { return $f / 2; }
function typed_null(?int $n = null, string|bool $u = '') { return [$n, $u]; }

$binary = [
  '+' => fn($a, $b) => $a + $b, '-' => fn($a, $b) => $a - $b,
  '*' => fn($a, $b) => $a * $b, '/' => fn($a, $b) => $a / $b,
  '%' => fn($a, $b) => $a % $b, '.' => fn($a, $b) => $a . $b,
  '&' => fn($a, $b) => $a & $b, '|' => fn($a, $b) => $a | $b,
  '^' => fn($a, $b) => $a ^ $b, '<<' => fn($a, $b) => $a << $b,
  '>>' => fn($a, $b) => $a >> $b, '==' => fn($a, $b) => $a == $b,
  '!=' => fn($a, $b) => $a != $b, '===' => fn($a, $b) => $a === $b,
  '!==' => fn($a, $b) => $a !== $b, '<' => fn($a, $b) => $a < $b,
  '<=' => fn($a, $b) => $a <= $b, '>' => fn($a, $b) => $a > $b,
  '<=>' => fn($a, $b) => $a <=> $b, '&&' => fn($a, $b) => $a && $b,
  'xor' => fn($a, $b) => $a xor $b, '??' => fn($a, $b) => $a ?? $b,
  '?:' => fn($a, $b) => $a ?: $b, 'text' => fn($a, $b) => "<$a:$b>{$a}",
  'min' => fn($a, $b) => min($a, $b), 'max' => fn($a, $b) => max($a, $b),
  'strcmp' => fn($a, $b) => strcmp($a, $b) <=> 0, 'strpos' => fn($a, $b) => strpos($a, $b),
  'contains' => fn($a, $b) => str_contains($a, $b), 'starts' => fn($a, $b) => str_starts_with($a, $b),
  'ends' => fn($a, $b) => str_ends_with($a, $b), 'strstr' => fn($a, $b) => strstr($a, $b),
  'casecmp' => fn($a, $b) => strcasecmp($a, $b) <=> 0, 'ncmp' => fn($a, $b) => strncmp($a, $b, 2) <=> 0,
  'ncasecmp' => fn($a, $b) => strncasecmp($a, $b, 2) <=> 0, 'natcmp' => fn($a, $b) => strnatcmp($a, $b) <=> 0,
  'natcasecmp' => fn($a, $b) => strnatcasecmp($a, $b) <=> 0, 'substr cmp' => fn($a, $b) => substr_compare($a, $b, 0) <=> 0,
  'coll' => fn($a, $b) => strcoll($a, $b) <=> 0,
  'in' => fn($a, $b) => in_array($a, [$b, 'x', 1, null, 2.5]), 'in strict' => fn($a, $b) => in_array($a, [$b, 'x'], true),
  'key' => fn($a, $b) => array_key_exists($a, [$b => 1, 'k' => 2]), 'isset key' => fn($a, $b) => isset([$b => 1][$a]),
  'explode' => fn($a, $b) => explode($a, $b), 'replace' => fn($a, $b) => str_replace($a, '-', $b),
  'substr' => fn($a, $b) => substr($a, (int)$b, 2), 'count' => fn($a, $b) => substr_count($a, $b),
  'intdiv' => fn($a, $b) => intdiv((int)$a, (int)$b), 'implode' => fn($a, $b) => implode($a, [$b, 'z', $a]),
  'trim' => fn($a, $b) => trim($a, $b), 'repeat' => fn($a, $b) => str_repeat($a, min(3, abs((int)$b))),
  'assign' => function ($a, $b) { $a .= $b; $c = $a; $c .= '!'; $b = (int)$b; $b += 2; $b *= 3; $b -= 1; return [$a, $b, $c]; },
  'match' => fn($a, $b) => match (true) { $a == $b => 'same', $a > $b => 'more', default => 'less' },
];
$unary = [
  '!' => fn($a) => !$a, 'int' => fn($a) => (int)$a, 'float' => fn($a) => (float)$a,
  'string' => fn($a) => (string)$a, 'bool' => fn($a) => (bool)$a, '-' => fn($a) => -$a, '~' => fn($a) => ~(int)$a,
  'array' => fn($a) => (array)$a, 'inc' => function ($a) { $a++; return $a; }, 'dec' => function ($a) { --$a; return $a; },
  'int inc' => function ($a) { $a = (int)$a; $b = $a++; $c = ++$a; $d = $a--; return [$a, $b, $c, $d]; },
  'offset' => function ($a) { $b = $a; if (strlen($b) > 1) { $b[0] = 'Z'; } return [$a, $b, $b == $a]; },
  'char' => fn($a) => [$a[0] ?? 'none', $a[1] ?? 'none', $a[-1] ?? 'none'],
  'strlen' => fn($a) => strlen($a), 'lower' => fn($a) => strtolower($a), 'upper' => fn($a) => strtoupper($a),
  'ucfirst' => fn($a) => ucfirst($a), 'lcfirst' => fn($a) => lcfirst($a), 'rev' => fn($a) => strrev($a),
  'html' => fn($a) => htmlspecialchars($a), 'html no quotes' => fn($a) => htmlspecialchars($a, ENT_NOQUOTES),
  'slashes' => fn($a) => addslashes($a), 'nl2br' => fn($a) => nl2br($a), 'ord' => fn($a) => ord($a), 'chr' => fn($a) => bin2hex(chr((int)$a)),
  'numeric' => fn($a) => is_numeric($a), 'digit' => fn($a) => ctype_digit($a), 'alpha' => fn($a) => ctype_alpha($a),
  'alnum' => fn($a) => ctype_alnum($a), 'space' => fn($a) => ctype_space($a), 'abs' => fn($a) => abs($a), 'floor' => fn($a) => floor($a),
  'ceil' => fn($a) => ceil($a), 'round' => fn($a) => round($a), 'sqrt' => fn($a) => sqrt((float)$a), 'md5' => fn($a) => md5($a),
  'preg' => function ($a) { $n = preg_match('/(\d+)([a-z]*)/', $a, $m); if ($n && $m[1] > 3) return $m; return $n; },
  'empty' => fn($a) => empty($a), 'isset' => fn($a) => isset($a), 'null' => fn($a) => $a === null, 'false' => fn($a) => strpos($a, 'e') === false,
  'typed int' => fn($a) => typed_int($a), 'typed string' => fn($a) => typed_string($a), 'typed float' => fn($a) => typed_float($a),
  'typed null' => fn($a) => typed_null((int)$a, $a), 'serialize' => fn($a) => unserialize(serialize([$a, (int)$a, (bool)$a])),
  'json' => fn($a) => json_decode(json_encode(['k' => $a]), true), 'sort' => function ($a) { $l = [$a, 'm', (int)$a, 7, $a . 'x']; sort($l); return $l; },
  'key' => function ($a) { $m = [$a => 1]; foreach ($m as $k => $v) return [$k, $k == $a]; },
  'ref' => function ($a) { $r = &$a; $r .= 'r'; $l = [&$r]; $l[0] .= 's'; return [$a, $r]; },
  'dim op' => function ($a) { $m = ['k' => $a, 'n' => (int)$a]; $m['k'] .= 'x'; $m['n'] += 4; $m['n']++; return [$m, $m['k'] == $a, $m['n'] > 3]; },
  'property' => function ($a) { $o = new stdClass; $o->p = $a; $o->p .= '1'; $o->n = (int)$a; $o->n++; ++$o->n; $o->n -= 5; return [$o, $o->n > 2, empty($o->p)]; },
  'static' => function ($a) { static $s; $old = $s; $s = $a; return [$old, $s == $old]; },
  'list' => function ($a) { [$x, [$y]] = [$a, [(int)$a]]; [$x, $y] = [$y, $x]; return [$x, $y]; },
  'generator' => function ($a) { $g = (function () use ($a) { $got = yield $a; yield [$got, $a]; })(); $v = $g->current(); return [$v, $g->send($v . '+')]; },
  'switch' => function ($a) { switch ($a) { case 'a': return 'A'; case '1': return 'one'; case 2: return 'two'; default: return 'none'; } },
  'match' => fn($a) => match ($a) { 'a' => 'A', '1', '2' => 'number', default => 'none' },
  'interned' => fn($a) => [$a === 'a', substr($a, 0, 1), substr($a, 0, 0), $a . '', '' . $a],
  'compact' => function ($a) { extract(['e' => $a]); return compact('a', 'e'); },
  'func' => fn($a) => [call_user_func('strtoupper', $a), array_map('trim', [$a, " $a "]), array_filter([$a, (int)$a])],
  'usort' => function ($a) { $l = [3, (int)$a, 1]; usort($l, fn($x, $y) => $x <=> $y); return $l; },
  'heredoc' => fn($a) => <<<T
    [$a] {$a}
    T,
];
foreach ($_GET as $k => $v) {
  if (is_array($v)) { echo $k, ': ', show($v); foreach ($v as $w) attempt("$k nested", fn() => $w . '/'); continue; }
  foreach ($unary as $name => $f) attempt("$name $k", fn() => $f($v));
  foreach ($_GET as $l => $w) {
    if (is_array($w)) continue;
    foreach ($binary as $name => $f) attempt("$k $name $l", fn() => $f($v, $w));
  }
  foreach ([0, 5, -1, 1.5, 'a', '', null, true] as $c)
    foreach ($binary as $name => $f) attempt("$k $name " . json_encode($c), fn() => $f($v, $c));
}
foreach (['a', 'missing', 'n'] as $k) {
  echo $k, show(isset($_GET[$k])), show(empty($_GET[$k])), show($_GET[$k] ?? 'none'), show(array_key_exists($k, $_GET)), show(@$_GET[$k]);
  echo show(isset($_REQUEST[$k])), show(isset($_POST[$k]['x'])), show($_GET[$k]['y'] ?? 'deep'), show(isset($_GET['l'][1]));
}
$_GET['a'] = 'changed'; unset($_GET['n']); $copy = $_GET; $copy['new'] = 1;
echo show($_GET), show($copy), show($_REQUEST), show(isset($_GET['n'])), show($_SERVER['REQUEST_METHOD'] == 'GET');
