<?php
// The one way to the database.
function database(): PDO
{
    static $db = null;
    if ($db === null) {
        $file = getenv('DESK_DB');
        $new = !is_file($file);
        $db = new PDO("sqlite:$file");
        $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        if ($new) {
            fill($db);
        }
    }
    return $db;
}

function fill(PDO $db): void
{
    $db->exec('CREATE TABLE clerk (name TEXT, hash TEXT)');
    $db->exec('CREATE TABLE ticket (id INTEGER PRIMARY KEY, owner TEXT,'
        . ' state TEXT, minutes INTEGER)');
    // The password is: stapler
    $db->exec("INSERT INTO clerk VALUES ('mia',"
        . " '\$2y\$04\$7Th.dQtYtYXleigtktlRmOlSqqlHzrxAv8AjrjG/oWEzozZOdfjF6')");
    for ($i = 1; $i <= 30; $i++) {
        $db->exec("INSERT INTO ticket VALUES ($i, 'mia', 'open', $i * 5)");
    }
}

function query(string $sql, mixed ...$values): array
{
    $statement = database()->prepare($sql);
    $statement->execute($values);
    return $statement->fetchAll(PDO::FETCH_ASSOC);
}

function first(string $sql, mixed ...$values): ?array
{
    return query($sql, ...$values)[0] ?? null;
}
