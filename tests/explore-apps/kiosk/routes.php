<?php
use Kiosk\Page\{Account, Home, Item, Missing, Order, Stock};

return [
    'home' => [Home::class, 'Kiosk'],
    'item' => [Item::class, 'Item'],
    'order' => [Order::class, 'Order'],
    'account' => [Account::class, 'Account'],
    'stock' => [Stock::class, 'Stock'],
    'missing' => [Missing::class, 'Nothing here'],
];
