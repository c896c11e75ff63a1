<?php
namespace Kiosk;

class Store
{
    private static ?Store $one = null;

    private function __construct(public readonly \PDO $db)
    {
    }

    public static function open(): Store
    {
        if (self::$one === null) {
            $file = getenv('KIOSK_DB');
            $fresh = !is_file($file);
            $db = new \PDO("sqlite:$file", null, null,
                [\PDO::ATTR_DEFAULT_FETCH_MODE => \PDO::FETCH_ASSOC]);
            if ($fresh) {
                $db->exec('create table item (sku text, name text, stock int)');
                $db->exec("insert into item values ('AA-1001', 'pencil', 7)," .
                    "('AA-1002', 'paper & ink', 0), ('BX-2001', 'globe', 1)");
                $db->exec('create table placed (sku text, amount int)');
            }
            self::$one = new Store($db);
        }
        return self::$one;
    }

    public function row(string $sql, mixed ...$args): ?array
    {
        $done = $this->db->prepare($sql);
        $done->execute($args);
        return $done->fetch() ?: null;
    }

    public function rows(string $sql, mixed ...$args): array
    {
        $done = $this->db->prepare($sql);
        $done->execute($args);
        return $done->fetchAll();
    }
}
