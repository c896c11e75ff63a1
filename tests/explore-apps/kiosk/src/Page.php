<?php
namespace Kiosk;

abstract class Page
{
    public ?string $next = null;

    public function __construct(protected Store $store)
    {
    }

    abstract public function body(array $query, array $sent): string;
}
