<?php
namespace Kiosk\Page;

class Account extends \Kiosk\Page
{
    public function body(array $query, array $sent): string
    {
        $rows = $this->store->rows('select * from placed');
        $out = '<h1>Your orders</h1>';
        if (count($rows) === 0) {
            return $out . '<p>None.</p>';
        }
        $out .= '<ol>';
        foreach ($rows as $row) {
            $out .= "<li>{$row['amount']} of {$row['sku']}</li>";
        }
        return $out . '</ol>';
    }
}
