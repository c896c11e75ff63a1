<?php
namespace App\Lazy;
abstract class Thing {
  const LEVEL = 3;
  public static function make(): static {
    return new class extends Thing {
      public function hello(): string { return 'hello from ' . (static::LEVEL > 2 ? 'above' : 'below') . "\n"; }
    };
  }
  abstract public function hello(): string;
}
