<?php
// Everything PHP 8.2 can do to a recorder. Prints a lot, and must print the
// same with and without the extension: no addresses, times or memory figures.
namespace App;
?>
<!DOCTYPE html>
<title>torture</title>
<?php

error_reporting(E_ALL);
ini_set('display_errors', '1');
ini_set('html_errors', '0');

interface Shape { const SIDES = 0; public function area(): float; }
trait Named {
  private static int $made = 0;
  public string $name = 'none';
  public function named(string $n): static { $this->name = $n; self::$made++; return $this; }
  public static function made(): int { return self::$made; }
  abstract function kind(): string;
}
abstract class Base implements Shape {
  use Named { named as protected traitNamed; named as public; }
  public function __construct(protected readonly float $a = 1.0, private ?Base $next = null) {}
  public function __get($p) { return "magic $p"; }
  public function __call($m, $args) { return "$m(" . implode(',', $args) . ')'; }
  public static function __callStatic($m, $args) { return "static $m"; }
  public function __toString(): string { return static::class . '#' . $this->name; }
  public function __invoke($x) { return $x * 2; }
  public function next(): ?Base { return $this->next; }
}
final class Square extends Base {
  const SIDES = 4;
  public function area(): float { return $this->a ** 2; }
  function kind(): string { return 'square'; }
  public function __destruct() { echo "[~{$this->name}]\n"; }
}
class Circle extends Base {
  public function area(): float { return round(3.14159 * $this->a * $this->a, 2); }
  function kind(): string { return 'circle'; }
}
enum Suit: string {
  case Hearts = 'H'; case Spades = 'S';
  const Wild = self::Spades;
  public static function rnd(int $i): self { return self::cases()[$i % 2]; }
  public function label(): string { return ucfirst(strtolower($this->name)); }
  public function color(): string {
    return match ($this) { self::Hearts => 'red', self::Spades => 'black' };
  }
}

function section(string $t): void { echo "\n== $t ==\n"; }

section('classes');
$s = (new Square(3))->named('sq');
$c = (new Circle(2, $s))->named('ci');
echo $s, ' ', $c, ' ', $s->area() + $c->area(), ' ', $c->undefinedThing, ' ', $c->foo(1, 2), ' ', Circle::bar(), "\n";
echo $c(21), ' ', $c->next()?->name, ' ', $s->next()?->next()?->name ?? 'null chain', ' ', Square::made(), ' ', Circle::made(), "\n";
echo $s::SIDES, ' ', $s instanceof Shape ? 'shape' : 'no', ' ', get_class($c), "\n";
unset($s); $c = null; gc_collect_cycles();
echo Suit::from('H')->label(), Suit::tryFrom('X')?->label() ?? 'none', Suit::Wild->color(), Suit::rnd(3)->name, "\n";
$anon = new class(5) extends Base { function area(): float { return 0; } function kind(): string { return 'anon'; } };
echo $anon->area(), ' ', $anon->kind(), "\n";

section('conditions');
function cond($a, $b, $c) {
  if ($a && ($b || !$c)) echo 'A'; elseif (!$a || $b) echo 'B'; else echo 'C';
  echo $a ? ($b ? 1 : 2) : 3, $a ?: 'short', $b ?? 'coal', ($a and $b xor $c) ? 'x' : 'y';
  while ($a > 0 && $b) { $a--; if ($a == 2) continue; if ($a == 1) break; }
  do { $c++; } while ($c < 3);
  for ($i = 0, $j = 10; $i < $j; $i += 3, $j--) ;
  for (;;) { if (++$i > 20) break; }
  switch ($c) { case 3: echo 'three'; case 4: echo 'four'; break; default: echo 'def'; case 9: echo 'nine'; }
  switch (true) { case $a > 100: echo 'big'; break; case $b: echo 'bee'; break; }
  switch ((string)$b) { default: echo 'D'; break; case 'x': echo 'X'; break; case '1': echo 'ONE'; }
  echo match (true) { $a > 5, $a < -5 => 'far', $a === 0 => 'zero', default => 'near' };
  try { echo match ($b) { 1, 2 => 'low', 'q' => 'q' }; } catch (\UnhandledMatchError $e) { echo $e->getMessage(); }
  $x = null; $x ??= 5; $y['k'] ??= 'new'; $y['k'] ??= 'old';
  echo $x, $y['k'], isset($y['z']['w']) ? 1 : 0, empty($y['k']) ? 1 : 0, $y['z'] ?? 'nz', "\n";
  return $a <=> $b;
}
foreach ([[5, 1, 0], [0, 0, 9], [1, null, 3], [2, 'x', 2], [0.0, 1, 1], ['0', [], 4]] as [$a, $b, $c]) cond($a, is_array($b) ? 2 : $b, $c);
goto end_of_loop;
echo 'never';
end_of_loop:
$n = 0;
again: $n++;
if ($n < 3) goto again;
echo $n, "\n";

section('foreach');
$arr = ['x' => 1, 'y' => 2, 3];
foreach ($arr as $k => &$v) { $v .= '!'; if ($k === 'y') unset($arr['x']); }
unset($v);
foreach ($arr as $k => $v) echo "$k=$v,";
foreach ([] as $never) echo 'no';
foreach (new \ArrayIterator([1, 2, 3]) as $i) { if ($i == 3) break; echo $i; }
foreach (new \ArrayIterator([]) as $i) { echo 'none'; }
foreach ((object)['p' => 1, 'q' => 2] as $k => $v) echo $k, $v;
foreach (new \stdClass as $v) echo 'none';
foreach (new \ArrayIterator([7, 8]) as $i);
echo $i;
foreach ([[1, [2, 3]], [4, [5, 6]]] as [$a, [$b, $c]]) echo $a + $b + $c, ' ';
foreach ([['id' => 1, 'n' => 'x']] as ['id' => $id, 'n' => $nn]) echo $id, $nn;
foreach (null ?? 'str' as $v) echo 'never';
echo "\n";

section('generators');
function count_to($n) { try { for ($i = 1; $i <= $n; $i++) { $got = yield $i => $i * $i; if ($got) echo "<$got>"; } return "done $n"; } finally { echo '{fin}'; } }
function outer() { $r = yield from count_to(2); echo $r; yield from [10, 20]; return 'outer'; }
foreach (outer() as $k => $v) echo "$k:$v ";
$g = count_to(3); $g->current(); echo $g->send('sent'), "\n"; unset($g);
function tree($d) { if ($d) { yield from tree($d - 1); yield $d; foreach (tree($d - 1) as $x) yield $x; } }
echo implode(',', iterator_to_array(tree(4), false)), "\n";
$g = (function () { try { yield 1; yield 2; } catch (\Exception $e) { echo 'caught ', $e->getMessage(); yield 99; } })();
$g->current(); echo $g->throw(new \Exception('into')), "\n";
$lazy = (fn() => yield from (function () { yield 'a'; yield 'b'; })())();
foreach ($lazy as $v) echo $v;

section('fibers');
$f = new \Fiber(function (string $x): string {
  $y = \Fiber::suspend($x . '1');
  try { $z = \Fiber::suspend($y . '2'); } catch (\Throwable $t) { $z = $t->getMessage(); }
  foreach (count_to(2) as $q) \Fiber::suspend($q);
  return $z;
});
echo $f->start('a'), $f->resume('b'), $f->throw(new \Exception('in fiber')), $f->resume(), $f->resume(), $f->getReturn(), "\n";
$f2 = new \Fiber(function () { try { \Fiber::suspend(1); } finally { echo "fiber cleanup\n"; } });
$f2->start(); unset($f2); gc_collect_cycles();

section('exceptions');
function thrower($n) { if ($n == 0) throw new \RuntimeException('deep'); try { thrower($n - 1); } finally { echo "f$n "; } }
try { thrower(3); } catch (\LogicException $e) { echo 'wrong'; } catch (\RuntimeException | \TypeError $e) { echo get_class($e), $e->getMessage(), $e->getLine(), "\n"; }
function ret() { try { return 'try'; } finally { return 'finally'; } }
function ret2() { foreach ([1, 2] as $x) { try { continue; } finally { echo "c$x"; } } try { throw new \Exception('lost'); } finally { return 'swallowed'; } }
function nested() { try { try { throw new \Exception('a'); } finally { throw new \Exception('b'); } } catch (\Exception $e) { return $e->getMessage() . $e->getPrevious()->getMessage(); } }
echo ret(), ret2(), nested(), "\n";
try { (function (int $x) { return $x; })('abc'); } catch (\TypeError $e) { echo preg_replace('/, called.*/', '', $e->getMessage()), "\n"; }
try { intdiv(1, 0); } catch (\DivisionByZeroError $e) { echo $e->getMessage(), $e->getTraceAsString(), "\n"; }
try { strlen([]); } catch (\TypeError $e) { echo $e->getMessage(), $e->getTraceAsString(), "\n"; }
try { count(null); } catch (\TypeError $e) { echo $e->getMessage(), $e->getTraceAsString(), "\n"; }
try { call_user_func(function () { throw new \Exception('cuf'); }); } catch (\Exception $e) { echo $e->getTraceAsString(), "\n"; }
set_error_handler(function ($no, $msg, $file, $line) { echo "handler($no: $msg @", basename($file), ":$line)\n"; return true; });
echo $undefined1; $arr5 = [1]; echo $arr5[7]; echo "x" . [1] . "\n"; trigger_error('mine', E_USER_NOTICE);
restore_error_handler();
echo @$undefined2, @file_get_contents('/nonexistent/file'), "after silence\n";
echo $undefined3; echo "abc"[1], "\n"; $str = 'abc'; echo (int)"12abc" + 1, "\n";
include 'does_not_exist.php';

section('functions');
function &byref(array &$a) { return $a[0]; }
function variadic(int $first = 1, ...$rest) { static $calls = 0; $calls++; return $first + array_sum($rest) + $calls; }
function named(int $a, int $b = 2, int ...$c) { return "$a-$b-" . json_encode($c); }
$ra = [1, 2]; $rr = &byref($ra); $rr = 9; echo json_encode($ra), variadic(), variadic(1, 2, 3), variadic(...[4, 5]), named(b: 5, a: 1), named(1, 2, 3, x: 4), "\n";
$mul = fn($x) => fn($y) => $x * $y; echo $mul(3)(4), ' ', implode(',', array_map(fn($v) => $v ** 2, [1, 2, 3])), "\n";
$cl = strlen(...); echo $cl('four'), ' ', (new class { function m($x) { return $x . '!'; } })->m(...)('m'), "\n";
function fact($n) { return $n <= 1 ? 1 : $n * fact($n - 1); }
function deep($n) { return $n ? deep($n - 1) + 1 : 0; }
echo fact(10), ' ', deep(50000), ' ', array_sum(array_filter(range(1, 10), fn($x) => $x & 1)), "\n";
$words = ['b', 'a', 'c']; usort($words, function ($p, $q) { echo '.'; return strcmp($p, $q); }); echo implode($words), "\n";
echo (function () { return implode(',', func_get_args()) . func_num_args(); })(1, 2, 3), "\n";
extract(['ex1' => 'v1']); echo $ex1, json_encode(compact('ex1', 'words')), "\n";
if (rand(1, 1)) { function conditional() { return 'conditional'; } }
echo conditional(), is_callable('App\conditional') ? 'yes' : 'no', "\n";

section('eval and include');
eval('echo "eval ", __LINE__, "\n"; function from_eval($x) { if ($x) return "yes"; return "no"; } class FromEval { function m() { return __METHOD__; } }');
echo \from_eval(1), \from_eval(0), (new \FromEval)->m(), eval('return 6 * 7;'), "\n";
try { eval('this is not php'); } catch (\ParseError $e) { echo $e->getMessage(), "\n"; }
for ($i = 0; $i < 3; $i++) { $name = 'part' . ($i % 2); echo include __DIR__ . "/$name.php"; }
spl_autoload_register(function ($class) { echo "[autoload $class]"; require_once __DIR__ . '/lib/' . strtolower(basename(strtr($class, '\\', '/'))) . '.php'; });
echo Lazy\Thing::make()->hello(), Lazy\Thing::LEVEL, "\n";

section('output buffering');
ob_start(); echo 'captured text that is long enough'; $cap = ob_get_clean(); echo strrev($cap), $cap, "<$cap>\n";
ob_start(fn($b) => strtoupper($b)); echo "shout\n"; ob_end_flush();
ob_start('ltrim'); echo "999 trimmed\n"; ob_end_flush(); echo "\n";
ob_start(); echo 'outer '; ob_start(); echo 'inner '; ob_start(); echo 'dropped'; ob_end_clean(); ob_end_flush(); echo "tail\n"; echo ob_get_length(), ob_get_level(), ' '; ob_end_flush();
ob_start(null, 10); echo 'chunk one '; echo 'chunk two is longer than ten '; echo 'x'; ob_flush(); echo "rest\n"; ob_end_flush();
ob_start(function ($b, $mode) { return "[$mode:" . str_replace('cat', 'dog', $b) . "]"; }); echo 'a cat sat '; ob_flush(); echo 'on the cat'; ob_clean(); echo "the end cat\n"; ob_end_flush();
echo ob_get_flush() === false ? 'no buffer' : 'buffer', "\n";
print_r([1, ['a' => null]]); var_dump(1.5, "x", [true]); printf("%05d|%s\n", 42, 'fmt'); print("print\n");
echo print_r('ret', true), var_export([1, 'k' => false], true), "\n";
ob_start(); ?>
<p class="a">
  Inline <?= $words[0] ?> html
  <?php foreach ([1, 2] as $row): ?>
    <li><?= $row ?></li>
  <?php endforeach ?>
</p>
<?php $html = ob_get_contents(); ob_end_clean(); echo '<div>', $html, '</div>', "\n";
echo ob_get_status() ? 'status' : 'none', json_encode(ob_list_handlers()), "\n";

section('misc');
$list = [3, 1, 2]; sort($list); [$p, , $q] = $list; ['k' => ['m' => $m]] = ['k' => ['m' => 'deep']]; echo $p, $q, $m, "\n";
echo <<<TXT
  heredoc {$list[0]} ${m} {$anon->name}
    indented
  TXT . "\n";
echo <<<'RAW'
raw $x
RAW, "\n";
declare(ticks=1) { $t = 1; }
static fn() => 1;
const CONST_A = 5; echo CONST_A, \PHP_INT_SIZE, __LINE__, basename(__FILE__), __NAMESPACE__, "\n";
list('a' => $la) = ['a' => 'list']; echo $la, PHP_EOL;
$o = new \stdClass; $o->{'dyn prop'} = 1; $o->list[] = 2; $prop = 'list'; echo count($o->$prop), json_encode($o), "\n";
$copy = clone $o; $copy->list[] = 3; echo count($o->list), count($copy->list), "\n";
echo str_repeat('=', 10), sprintf('%s', true), 10 % 3, 7 <=> 3, 2 ** 10, 7 . '', -3 % 2, "\n";
$gen = (function () { yield 1; })(); foreach ($gen as $v) foreach ([1, 2] as $w) { if ($w == 2) continue 2; echo $v, $w; }
$weak = \WeakReference::create($o); echo $weak->get() === $o ? 'alive' : 'dead', "\n"; unset($o);
echo $weak->get() === null ? 'dead' : 'alive', "\n";
echo json_encode(array_map(null, [1, 2], ['a', 'b'])), date('Y', 0), "\n";
register_shutdown_function(function () { echo "shutdown 1\n"; register_shutdown_function(fn() => print("shutdown 2\n")); });
$keep = (new Square(1))->named('last');
function leaves() { echo "leaving\n"; exit("exit text\n"); }
try { leaves(); } finally { echo 'never printed'; }
echo 'never';
