<?php
namespace Kiosk;

abstract class Html
{
    public static function text(string $text): string
    {
        return htmlspecialchars($text);
    }

    public static function form(string $page, string $inside): string
    {
        return "<form method=\"post\" action=\"index.php?page=$page\"><p>$inside"
            . '<button name="go" value="1">go</button></p></form>';
    }

    public static function field(string $name, string $type = 'text'): string
    {
        return "<label>$name <input type=\"$type\" name=\"$name\"></label>";
    }
}
