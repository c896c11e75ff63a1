<?php
namespace Kiosk\Page;

class Missing extends \Kiosk\Page
{
    public function body(array $query, array $sent): string
    {
        http_response_code(404);
        return '<p>Nothing here.</p>';
    }
}
