<?php
namespace Kiosk\Page;

use Kiosk\Html;

// Looks an item up by its number, such as AA-1001.
class Item extends \Kiosk\Page
{
    public function body(array $query, array $sent): string
    {
        $sku = trim($query['sku'] ?? '');
        $out = '<h1>Item</h1>';
        if ($sku === '') {
            return $out . '<form><p><input type="hidden" name="page" value="item">'
                . Html::field('sku') . '<button>find</button></p></form>';
        }
        if (!preg_match('/^([A-Z]{2})-(\d{4})$/', $sku, $part)) {
            return $out . '<p>No such number.</p>';
        }
        if ($part[1] === 'ZZ') {
            $out .= '<p>Shelf Z is <b>closed.</p>';             // FAULT shelf
        }
        $item = $this->store->row('select * from item where sku = ?', $sku);
        return $out . '<p>' . ($item === null ? 'Not on sale.'
            : Html::text($item['name']) . ', ' . $item['stock']) . '</p>';
    }
}
