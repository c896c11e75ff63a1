<?php
namespace Kiosk\Page;

use Kiosk\Html;

class Home extends \Kiosk\Page
{
    public function body(array $query, array $sent): string
    {
        $out = '<h1>Kiosk</h1><ul>';
        foreach ($this->store->rows('select * from item order by sku') as $item) {
            $out .= '<li><a href="index.php?page=item&amp;sku='
                . urlencode($item['sku']) . '">' . Html::text($item['name'])
                . '</a></li>';
        }
        return $out . '</ul><p><a href="index.php?page=stock&amp;sku=AA-1001">'
            . 'stock as JSON</a></p>';
    }
}
