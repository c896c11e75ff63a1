<?php
declare(strict_types=1);

namespace Kiosk\Page;

// How many there are of an item, for programs.
class Stock implements \Kiosk\Endpoint
{
    public function __construct(private \Kiosk\Store $store)
    {
    }

    public function answer(array $query): array
    {
        $sku = (string) ($query['sku'] ?? '');
        $item = $this->store->row('select * from item where sku = ?', $sku);
        if (($query['detail'] ?? '') === 'full') {
            return ['sku' => $sku, 'name' => strtoupper($item['name'])]; // FAULT
        }
        return ['sku' => $sku, 'stock' => $item['stock'] ?? 0];
    }
}
