<?php
namespace Kiosk;

interface Endpoint
{
    public function answer(array $query): array;
}
