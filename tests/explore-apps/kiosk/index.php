<?php
// The only way in. Which class makes which page is configured in routes.php.
declare(strict_types=1);

spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/src/' . str_replace('\\', '/', substr($class, 6)) . '.php';
    if (strncmp($class, 'Kiosk\\', 6) === 0 && is_file($file)) {
        require $file;
    }
});
session_start();
$routes = require __DIR__ . '/routes.php';
$name = (string) ($_GET['page'] ?? 'home');
[$class, $title] = $routes[$name] ?? $routes['missing'];
$page = new $class(Kiosk\Store::open());
if ($page instanceof Kiosk\Endpoint) {
    header('Content-Type: application/json');
    echo json_encode($page->answer($_GET));
    exit;
}
$body = $page->body($_GET, $_POST);
if ($page->next !== null) {
    header('Location: index.php?page=' . $page->next);
    exit;
}
?>
<!DOCTYPE html>
<html lang="en"><head><title><?= Kiosk\Html::text($title) ?></title></head>
<body>
<ul><?php foreach (['home', 'item', 'order', 'account'] as $link): ?>
<li><a href="index.php?page=<?= $link ?>"><?= $link ?></a></li>
<?php endforeach ?></ul>
<?= $body ?>
</body></html>
