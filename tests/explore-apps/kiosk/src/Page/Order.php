<?php
namespace Kiosk\Page;

use Kiosk\Html;

// An order in three steps: what, when, and a look at it all.
class Order extends \Kiosk\Page
{
    public function body(array $query, array $sent): string
    {
        $order = $_SESSION['order'] ?? ['step' => 1];
        $problem = isset($sent['go']) ? $this->take($order, $sent) : '';
        $_SESSION['order'] = $order;
        if ($this->next !== null) {
            return '';
        }
        return "<h1>Order, step {$order['step']}</h1>"
            . ($problem === '' ? '' : "<p class=\"error\">$problem</p>")
            . $this->form($order);
    }

    private function take(array &$order, array $sent): string
    {
        switch ($order['step']) {
        case 1:
            $amount = intval($sent['amount'] ?? '');
            if ($amount < 1 || $amount > 250) {
                return 'Between 1 and 250, please.';
            }
            $order = ['step' => 2, 'amount' => $amount];
            return '';
        case 2:
            $day = explode('-', $sent['day'] ?? '');
            if (count($day) !== 3
                || !checkdate((int) $day[1], (int) $day[2], (int) $day[0])) {
                return 'That is no day.';
            }
            $order['day'] = $sent['day'];
            $order['step'] = 3;
            return '';
        }
        $boxes = intdiv($order['amount'], 100);
        $this->store->rows('insert into placed values (?, ?)', 'AA-1001',
            $boxes === 0 ? $order['amount'] : $order['amount'] / ($boxes - 1)); // FAULT
        $order = ['step' => 1];
        $this->next = 'account';
        return '';
    }

    private function form(array $order): string
    {
        switch ($order['step']) {
        case 1:
            return Html::form('order', Html::field('amount', 'number'));
        case 2:
            return Html::form('order', Html::field('day', 'date'));
        }
        return '<p>' . $order['amount'] . ' on ' . Html::text($order['day'])
            . '</p>' . Html::form('order', '');
    }
}
